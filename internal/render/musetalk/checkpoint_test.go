package musetalk_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestCheckpoints runs the tests of the reader of checkpoints.
func TestCheckpoints(t *testing.T) {
	python, err := exec.LookPath(filepath.Join(sharedtest.Root(t), ".cache/venv/bin/python"))
	if err != nil {
		t.Skip("the packages of Python are not installed: make test does that")
	}
	tests := exec.CommandContext(t.Context(), python, "-B", "checkpoint_test.py")
	tests.Dir = "export"
	if out, err := tests.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
