package render

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/tracking"
)

// soloTracker sees one of the three.
type soloTracker struct{ Tracker }

func (s soloTracker) Add(ctx context.Context, frame *image.YCbCr) ([]tracking.Face, bool, error) {
	faces, cut, err := s.Tracker.Add(ctx, frame)
	return faces[:1], cut, err
}

// TestProcesses counts the programs that a job starts: one for each file that it
// looks at, reads or writes, and one more for the sound of a video of several people.
func TestProcesses(t *testing.T) {
	video := filmCompany(t)
	for _, c := range []struct {
		name                   string
		alone, largest         bool
		wantFFmpeg, wantProbes int
	}{
		{"of one face", true, false, 3, 2},
		{"of three", false, false, 4, 2},
		{"of three, whoever speaks", false, true, 3, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, dir := newRenderer(t, &numberer{}), t.TempDir()
			r.NewTracker = func(fps float64) Tracker {
				if c.alone {
					return soloTracker{newCompanyTracker(fps)}
				}
				return newCompanyTracker(fps)
			}
			tools := *r.Tools
			tools.FFmpeg, tools.FFprobe = counted(t, dir, tools.FFmpeg), counted(t, dir, tools.FFprobe)
			r.Tools = &tools
			job := Job{Video: video, Audio: sound(t, "a.wav", "2"), Output: filepath.Join(dir, "o.mp4"), Scratch: dir, LargestFace: c.largest}
			if err := r.Render(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			for program, want := range map[string]int{tools.FFmpeg: c.wantFFmpeg, tools.FFprobe: c.wantProbes} {
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
