package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed align.py
var alignScript string

//go:embed refined.py
var refinedScript string

//go:embed sheet.py
var sheetScript string

// layout names the files and programs by which trials are rendered and measured.
type layout struct {
	Shared     string // folder of the clips and the measuring tools
	Python     string // an interpreter that has the libraries of requirements.txt
	Recordings string // folder of recordings
	Out        string // folder of all files that are written
}

var notNumbers = regexp.MustCompile(`: (NaN|-?Infinity)`)

var errNoShared = errors.New("the clips and the measuring tools are not here: set LIPSYNC_SHARED to the folder that holds media and tools, see docs/testing.md")

// check returns an error if a file is missing.
func (l *layout) check() error {
	for _, path := range []string{l.shared("", "woman"), l.shared("people", "child"), l.tool("syncscore"), l.tool("visemes"), l.tool("speak")} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w (%v)", errNoShared, err)
		}
	}
	for _, path := range []string{l.Python, l.Recordings} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%w: make quality makes it", err)
		}
	}
	return nil
}

// tool returns the file of a measuring tool.
func (l *layout) tool(name string) string { return filepath.Join(l.Shared, "tools", name) }

// file returns the file with a name and an extension (".mp4") in a folder of Out.
func (l *layout) file(folder, name, kind string) string {
	return filepath.Join(l.Out, folder, name+kind)
}

// output runs a command and returns its standard output. An error contains its standard error.
func (l *layout) output(ctx context.Context, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(name), err, strings.TrimSpace(said.String()))
	}
	return out, nil
}

// script runs a script in Python.
func (l *layout) script(ctx context.Context, source string, args ...string) ([]byte, error) {
	return l.output(ctx, l.Python, append([]string{"-c", source}, args...)...)
}

// score runs syncscore, which reads lips by the attention mesh here.
func (l *layout) score(ctx context.Context, args ...string) (score, error) {
	return measure[score](l.script(ctx, refinedScript, append([]string{l.tool("visemes"), "--json"}, args...)...))
}

// visemes runs visemes, which reads lips by the same mesh.
func (l *layout) visemes(ctx context.Context, output, events string) (visemes, error) {
	return measure[visemes](l.output(ctx, l.Python, l.tool("visemes"), "--json", output, events, "--refined"))
}

// measure reads the JSON that a measuring tool printed, if it didn't fail. The tools print NaN and
// Infinity where too few sounds were measured.
func measure[T any](printed []byte, failed error) (result T, err error) {
	if failed != nil {
		return result, failed
	}
	err = json.Unmarshal(notNumbers.ReplaceAll(printed, []byte(": null")), &result)
	return result, err
}
