package ffmpeg_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// TestKilled runs programs that the system kills, as when memory runs out, before and after they
// wrote something; and programs that don't exist or lack a library. None of that is the file's
// fault. If this program kills a child because it takes too long, that is the file's fault.
func TestKilled(t *testing.T) {
	for what, c := range map[string]struct {
		script string
		want   error
	}{
		"killed at once":       {"kill -9 $$", ffmpeg.ErrKilled},
		"killed in the middle": {"printf 0123456; kill -9 $$", ffmpeg.ErrKilled},
		"without a library":    {"exit 127", ffmpeg.ErrNotRun},
		"not there":            {"", ffmpeg.ErrNotRun},
	} {
		tools, in := fake(t, c.script), &medium.Info{
			Path: "/dev/null", Format: "wav", Audio: &medium.Audio{}, Video: &medium.Video{Width: 4, Height: 4, Rate: medium.Rate{Num: 25, Den: 1}},
		}
		if c.script == "" {
			if err := os.Remove(tools.FFmpeg); err != nil {
				t.Fatal(err)
			}
		}
		for step, run := range map[string]func() error{
			"probe": func() error {
				_, err := tools.Probe(t.Context(), in.Path)
				return err
			},
			"mix": func() error {
				return tools.Mix(t.Context(), ffmpeg.Mix{Voice: in, Length: time.Second}, "", filepath.Join(t.TempDir(), "mix.wav"))
			},
			"frames": func() error {
				frames, err := tools.OpenFrames(t.Context(), in, 10)
				if err != nil {
					return err
				}
				defer frames.Close()
				return frames.Read(in.Video.NewFrame())
			},
			"sound": func() error {
				sound, err := tools.OpenSound(t.Context(), in, time.Second)
				if err != nil {
					return err
				}
				_, err = io.Copy(io.Discard, sound)
				return errors.Join(err, sound.Close())
			},
		} {
			if err := run(); !errors.Is(err, c.want) || errors.Is(err, medium.ErrUnsupported) {
				t.Errorf("%s, %s: got %v, want %v", step, what, err, c.want)
			}
		}
	}
	for _, script := range []string{"kill -11 $$", "exit 1", "head -c 2000000 /dev/zero; sleep 100"} {
		if _, err := fake(t, script).Probe(t.Context(), "/dev/null"); errors.Is(err, ffmpeg.ErrKilled) || !errors.Is(err, medium.ErrUnsupported) {
			t.Errorf("%s: got %v, want ErrUnsupported", script, err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	sound, err := fake(t, "exec sleep 100").OpenSound(ctx, &medium.Info{Path: "/dev/null", Audio: &medium.Audio{}, Video: &medium.Video{}}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(io.Discard, sound)
	if err := errors.Join(err, sound.Close()); err == nil || errors.Is(err, ffmpeg.ErrKilled) {
		t.Errorf("canceled: got %v, want an error other than ErrKilled", err)
	}
}

// fake returns tools that run a shell script without a sandbox.
func fake(t *testing.T, script string) *ffmpeg.Tools {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return &ffmpeg.Tools{FFmpeg: path, FFprobe: path, Threads: 1}
}
