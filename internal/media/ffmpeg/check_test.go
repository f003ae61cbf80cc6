package ffmpeg_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
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
	for step, tools := range map[string]*ffmpeg.Tools{"decode sound: ": &noEncoder, "probe: ": &noProbe} {
		if err := tools.Check(t.Context(), dir); err == nil || !strings.HasPrefix(err.Error(), step) {
			t.Errorf("got %v, want an error of %q", err, step)
		}
	}
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestCheckOutput finds the encoders of all outputs, and then lets those of some be missing.
func TestCheckOutput(t *testing.T) {
	works, err := ffmpeg.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho ' V....D libx264 H.264'\necho ' V..... libvpx-vp9 VP9'\necho ' A..... aac AAC'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	few := &ffmpeg.Tools{FFmpeg: script, Threads: 1}
	for lacks, o := range map[string]order.Output{
		"":          {Codec: order.VP9},
		"libx265":   {Format: order.MOV, Codec: order.HEVC},
		"prores_ks": {Format: order.MOV, Codec: order.ProRes},
		"libopus":   {Format: order.WebM},
	} {
		if err := works.CheckOutput(t.Context(), o); err != nil {
			t.Errorf("%+v: got %v, want no error", o, err)
		}
		err := few.CheckOutput(t.Context(), o)
		if errors.Is(err, ffmpeg.ErrNoEncoder) != (lacks != "") || lacks != "" && !strings.HasSuffix(err.Error(), lacks) {
			t.Errorf("%+v: got %v, want that %q is missing", o, err, lacks)
		}
	}
}
