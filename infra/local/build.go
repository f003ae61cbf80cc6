package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// built says where programs and the template lie that were made of the source.
type built struct {
	Assembly string // folder of the cloud assembly
	Runner   string // what a job runs
}

// build makes the functions and the runner for this machine, and the template,
// in an empty folder. root is the repository's; settings go to the CDK app.
func build(ctx context.Context, root, dir string, settings map[string]any) (*built, error) {
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
	return b, synth(ctx, root, b.Assembly, settings)
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

// synth has the CDK app write its cloud assembly.
func synth(ctx context.Context, root, dir string, settings map[string]any) error {
	context, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return run(exec.CommandContext(ctx, "go", "run", "./infra"), root,
		"CDK_OUTDIR="+dir, "CDK_CONTEXT_JSON="+string(context), "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION=1",
		"JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1")
}

func run(c *exec.Cmd, dir string, environment ...string) error {
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
