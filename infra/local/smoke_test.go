package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/infra/smoke"
	"lipsync/internal/test/onnxtest"
)

// TestSmoke_long runs the steps of make aws-smoke on the emulator. If they pass here but fail on AWS, AWS
// differs from the emulator. TestContract runs the suite of the API.
func TestSmoke_long(t *testing.T) {
	d := faulty(t)
	d.clean(t)
	long := filepath.Join(t.TempDir(), "long.mp3")
	if err := ffmpeg("-f", "lavfi", "-i", "sine=frequency=200:duration=40", "-b:a", "32k", long); err != nil {
		t.Fatal(err)
	}
	s := &smoke.Stack{
		Config: d.config, Outputs: d.Outputs, Patience: patience,
		GenerateRate: generateRate, ReadRate: readRate, MaxVideo: maxVideoMiB << 20, MaxAudio: maxAudioMiB << 20,
		Video: read(t, fixtures.video), Audio: read(t, fixtures.speech), Long: read(t, long),
		Reclaim: func(t *testing.T, request string) {
			told := d.Batch.Running()
			for _, id := range told {
				if err := d.Batch.Signal(id, syscall.SIGTERM); err != nil {
					t.Fatalf("reclaim the host of %s: %v", request, err)
				}
			}
			await(t, "the runner to leave", func() bool { // another may have started instead
				return !slices.ContainsFunc(d.Batch.Running(), func(id string) bool { return slices.Contains(told, id) })
			})
			d.invoke(t, "Sweep")
		},
	}
	for _, step := range smoke.Steps() {
		if step.Name != "contract" {
			t.Run(step.Name, func(t *testing.T) { step.Try(t, s) })
		}
	}
}

// TestNetwork_long runs the step of make aws-smoke that needs a GPU on AWS, on the processor.
func TestNetwork_long(t *testing.T) {
	d := faulty(t)
	s := &smoke.Stack{Config: d.config, Outputs: d.Outputs, Patience: patience, Video: read(t, fixtures.video), Audio: read(t, fixtures.speech)}
	smoke.Network{File: onnxtest.AsItIs().File(t), Provider: "CPU", Log: func(time.Time) []string { return strings.Split(string(read(t, d.log)), "\n") }}.Step().Try(t, s)
}
