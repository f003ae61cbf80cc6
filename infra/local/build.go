package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// built says where programs and the template lie that were made of the source.
type built struct {
	Assembly string // folder of the cloud assembly
	Runner   string // what a job runs
}

// settings are those of the stack that a user of this command decides.
type settings map[string]any

// build makes the functions and the runner for this machine, and the template,
// in an empty folder. root is the repository's. Both are absolute paths.
func build(ctx context.Context, root, dir string, s settings) (*built, error) {
	functions := filepath.Join(dir, "functions")
	if err := compile(ctx, root, functions, "./functions/..."); err != nil {
		return nil, err
	}
	programs, err := os.ReadDir(functions)
	if err != nil {
		return nil, err
	}
	for _, p := range programs {
		if err := intoFolder(filepath.Join(functions, p.Name())); err != nil {
			return nil, err
		}
	}
	if err := compile(ctx, root, dir, "./cmd/runner"); err != nil {
		return nil, err
	}
	b := &built{Assembly: filepath.Join(dir, "cdk.out"), Runner: filepath.Join(dir, "runner")}
	all := map[string]any{
		"lipsync:keepData": false, "lipsync:requestRate": 10_000,
		"lipsync:repository": root, "lipsync:functions": functions, "lipsync:architecture": architecture(),
	}
	maps.Copy(all, s)
	return b, synth(ctx, root, b.Assembly, all)
}

// architecture is this machine's processor, as Lambda calls it.
func architecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// compile builds programs, each under its own name, as for AWS, but for this
// machine's processor.
func compile(ctx context.Context, root, dir, packages string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-tags", "lambda.norpc",
		"-o", dir+string(filepath.Separator), packages)
	return run(c, root, "CGO_ENABLED=0")
}

// intoFolder puts a program into a folder of its name, as bootstrap: the form of
// a function's code.
func intoFolder(program string) error {
	moved := program + ".bootstrap"
	if err := os.Rename(program, moved); err != nil {
		return err
	}
	if err := os.Mkdir(program, 0o755); err != nil {
		return err
	}
	return os.Rename(moved, filepath.Join(program, "bootstrap"))
}

// synth has the CDK app write its cloud assembly. Without the cdk command nobody
// reads cdk.json for the app.
func synth(ctx context.Context, root, dir string, settings map[string]any) error {
	var cdk struct{ Context map[string]any }
	if err := readJSON(filepath.Join(root, "infra", "cdk.json"), &cdk); err != nil {
		return err
	}
	maps.Copy(cdk.Context, settings)
	context, err := json.Marshal(cdk.Context)
	if err != nil {
		return err
	}
	return run(exec.CommandContext(ctx, "go", "run", "."), filepath.Join(root, "infra"),
		"CDK_OUTDIR="+dir, "CDK_CONTEXT_JSON="+string(context))
}

func run(c *exec.Cmd, dir string, environment ...string) error {
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
