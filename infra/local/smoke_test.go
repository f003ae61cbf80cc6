package main

import (
	"path/filepath"
	"syscall"
	"testing"

	"lipsync/infra/smoke"
)

// TestSmoke tries the steps of make aws-smoke here, so that on AWS only AWS is new. The
// suite of the API is TestContract.
func TestSmoke(t *testing.T) {
	h := faulty(t)
	h.clean(t)
	long := filepath.Join(t.TempDir(), "long.mp3")
	if err := ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=40", "-b:a", "32k", long); err != nil {
		t.Fatal(err)
	}
	s := &smoke.Stack{
		Config: h.config, Outputs: h.Outputs, Patience: patience,
		GenerateRate: generateRate, ReadRate: readRate, MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20,
		Video: read(t, fixtures.video), Audio: read(t, fixtures.speech), Long: read(t, long),
		Reclaim: func(t *testing.T, request string) {
			for _, id := range h.Batch.Running() {
				if err := h.Batch.Signal(id, syscall.SIGTERM); err != nil {
					t.Fatalf("reclaim the host of %s: %v", request, err)
				}
			}
			await(t, "the runner to leave", h.Batch.Idle)
			h.invoke(t, "Sweep")
		},
	}
	for _, step := range smoke.Steps() {
		if step.Name != "contract" {
			t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		}
	}
}
