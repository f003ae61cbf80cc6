package ffmpeg

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/media/sandbox"
)

// TestStarved runs a program that gets no processor time, and one that gets it but makes no progress.
func TestStarved(t *testing.T) {
	late := errors.New("late")
	const busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
	for _, c := range []struct {
		script string
		idle   time.Duration // before anything waits for it
		waited time.Duration
		want   bool
	}{
		{"exec sleep 100", 0, 200 * time.Millisecond, true},
		{busy + "; exec sleep 100", 0, time.Hour, true},
		{busy, 0, time.Millisecond, false},
		{busy, 3 * time.Second, time.Millisecond, false}, // its sleep before doesn't count
	} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		tools := &Tools{FFmpeg: path, Threads: 1}
		p, err := tools.startReader(t.Context(), path, nil, sandbox.Files{}, memorySize)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(c.idle)
		if !c.want {
			_ = p.wait()
		}
		if err := p.late(late, c.waited); errors.Is(err, ErrStarved) != c.want || !errors.Is(err, late) {
			t.Errorf("%s: got %v, want ErrStarved: %t", c.script, err, c.want)
		}
	}
}
