package ffmpeg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/ffmpeg"
)

// TestCheck checks programs that work, and then lets each program fail.
func TestCheck(t *testing.T) {
	works, err := ffmpeg.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	dir, broken := t.TempDir(), filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := works.Check(t.Context(), dir); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	noEncoder, noProbe := *works, *works
	noEncoder.FFmpeg, noProbe.FFprobe = broken, broken
	for step, tools := range map[string]*ffmpeg.Tools{"transcode sound: ": &noEncoder, "probe: ": &noProbe} {
		if err := tools.Check(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), step) {
			t.Errorf("got %v, want an error of %q", err, step)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
