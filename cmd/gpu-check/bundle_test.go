package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/onnxtest"
)

// TestBundle_long makes the bundle for machines without a network, compressed in little time, and runs it on the CPU where there is no
// network. Its ONNX Runtime is the one for GPUs.
func TestBundle_long(t *testing.T) {
	onnxtest.Models(t) // the network of active speakers is there
	root := filepath.Join("..", "..")
	build := exec.CommandContext(t.Context(), "make", "gpu-bundle", "BUNDLE=wav2lip", "LEVEL=-1")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	bundle, err := filepath.Abs(filepath.Join(root, "dist", "gpu-bundle"))
	if err != nil {
		t.Fatal(err)
	}
	scratch := t.TempDir()
	args := []string{filepath.Join(bundle, "run"), "--providers", "cpu", "--checks", "networks"}
	offline := []string{"unshare", "--user", "--map-root-user", "--net"}
	if err := exec.CommandContext(t.Context(), offline[0], append(offline[1:], "true")...).Run(); err == nil {
		args = append(offline, args...)
	} else {
		t.Logf("the bundle runs with a network, since this machine allows no namespaces: %v", err)
	}
	run := exec.CommandContext(t.Context(), args[0], args[1:]...)
	run.Dir = scratch
	run.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + scratch, "FILES=" + filepath.Join(scratch, "files")}
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	report, err := os.ReadFile(filepath.Join(scratch, "gpu-check.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"| wav2lip | CPU | 0 |", "| active-speaker | CPU | 0 |"} {
		if !strings.Contains(string(report), network) {
			t.Errorf("the report doesn't say %q:\n%s", network, report)
		}
	}
}
