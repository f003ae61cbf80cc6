package ffmpeg

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/sandbox"
)

// TestStarved tells a program that waited in vain for a processor from one that had one, and
// used it for nothing good.
func TestStarved(t *testing.T) {
	late := errors.New("late")
	for script, want := range map[string]bool{
		"exec sleep 100": true,
		"i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done": false,
	} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		tools := &Tools{FFmpeg: path, Threads: 1}
		p, err := tools.startReader(t.Context(), path, nil, sandbox.Files{}, memorySize)
		if err != nil {
			t.Fatal(err)
		}
		if want {
			time.Sleep(200 * time.Millisecond)
		} else {
			_ = p.wait()
			p.began = time.Now() // however long its work took on this machine
		}
		if err := p.late(late); errors.Is(err, ErrStarved) != want || !errors.Is(err, late) {
			t.Errorf("%s: got %v, want ErrStarved: %t", script, err, want)
		}
	}
}
