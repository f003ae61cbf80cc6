package worker_test

import (
	"testing"

	"lipsync/internal/work/worker"
)

// TestNew refuses a worker that lacks what it needs, by name, and one without a signer of outputs that must be signed.
func TestNew(t *testing.T) {
	whole := *setup(t, concatenate).Config()
	if _, err := worker.New(whole); err != nil {
		t.Errorf("a whole one: %v", err)
	}
	if _, err := worker.New(worker.Config{}); err == nil || err.Error() != "a worker lacks: Fetcher, Log, Renderer, Scratch, Sender, Work" {
		t.Errorf("an empty one: got %v", err)
	}
	whole.Work.RequireProvenance = true
	if _, err := worker.New(whole); err == nil || err.Error() != "a worker lacks: Signer" {
		t.Errorf("outputs must be signed: got %v", err)
	}
}
