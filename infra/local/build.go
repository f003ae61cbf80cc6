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

	"lipsync/internal/domain/settings"
)

// built has the paths of the programs and the template that were built from source.
type built struct {
	Assembly  string // folder of the cloud assembly
	Functions string // folder of the functions
	Runner    string // program of a job
}

// decisions are settings of the stack that a user of this command can choose.
type decisions map[string]any

// compile builds the functions and the runner for this machine in an empty folder. root is the repository's. Both are absolute paths.
func compile(ctx context.Context, root, dir string) (*built, error) {
	functions, runner := filepath.Join(dir, "functions"), filepath.Join(dir, "runner")
	if err := run(exec.CommandContext(ctx, filepath.Join(root, ".ci", "functions"), functions), root); err != nil {
		return nil, err
	}
	if err := run(exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "netgo,osusergo", "-o", runner, "./cmd/runner"), root); err != nil {
		return nil, err
	}
	return &built{Functions: functions, Runner: runner}, nil
}

// architecture returns this machine's architecture, as Lambda names it.
func architecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// synth runs the CDK app, which writes the cloud assembly of what was built to dir. It passes the settings of
// cdk.json, which otherwise the cdk command reads, and those that were decided. CDK's own validation only warns, and takes longer
// than all the rest.
func (b *built) synth(ctx context.Context, root, dir string, decided decisions) error {
	var cdk struct{ Context map[string]any }
	if err := readJSON(filepath.Join(root, "infra", "cdk.json"), &cdk); err != nil {
		return err
	}
	maps.Copy(cdk.Context, map[string]any{
		settings.KeepData.Context(): false, settings.RequestRate.Context(): 10_000,
		settings.Repository.Context(): root, settings.FunctionsFolder.Context(): b.Functions, settings.Architecture.Context(): architecture(),
	})
	maps.Copy(cdk.Context, decided)
	b.Assembly = dir
	context, err := json.Marshal(cdk.Context)
	if err != nil {
		return err
	}
	return run(exec.CommandContext(ctx, "go", "run", "."), filepath.Join(root, "infra"),
		"CDK_OUTDIR="+dir, "CDK_CONTEXT_JSON="+string(context), "CDK_VALIDATION=false")
}

func run(c *exec.Cmd, dir string, environment ...string) error {
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, out)
	}
	return nil
}
