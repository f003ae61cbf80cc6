package render

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/sandbox"
	"lipsync/internal/test/ffmpegtest"
)

// TestProcesses counts the programs that a job starts: one for each file that it inspects, reads or writes, one more for the sound of the video, and one
// more to encode a sample of it. An output that is longer than the speech takes no more.
func TestProcesses(t *testing.T) {
	video := filmCompany(t)
	for name, job := range map[string]Job{
		"any face": {}, "largest face": {LargestFace: true}, "silence after the speech": {Options: order.Options{SyncMode: order.Pad}},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRenderer(t, &numberer{}), t.TempDir()
			r.NewTracker = newCompanyTracker
			tools := *ffmpegtest.Tools(t)
			tools.Sandbox = sandbox.Sandbox{} // the scripts run other programs
			tools.FFmpeg, tools.FFprobe = counted(t, dir, tools.FFmpeg), counted(t, dir, tools.FFprobe)
			r.Media = &tools
			job.Video, job.Audio, job.Output, job.Scratch = video, sound(t, "a.wav", "1.6"), filepath.Join(dir, "o.mp4"), dir
			job.Pieces = &shelf{pieces: map[int][]byte{}} // an output may be made in pieces; this one has none
			if _, err := r.Render(t.Context(), job, nil); err != nil {
				t.Fatal(err)
			}
			for program, want := range map[string]int{tools.FFmpeg: 5, tools.FFprobe: 3} {
				if starts, err := os.ReadFile(program + ".starts"); len(starts) != want {
					t.Errorf("%s is started %d times (%v), want %d", filepath.Base(program), len(starts), err, want)
				}
			}
		})
	}
}

// counted returns a program that starts another and writes a byte each time to a
// file beside itself.
func counted(t *testing.T, dir, program string) string {
	t.Helper()
	path := filepath.Join(dir, filepath.Base(program))
	script := fmt.Sprintf("#!/bin/sh\nprintf . >>'%s.starts'\nexec '%s' \"$@\"\n", path, program)
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
