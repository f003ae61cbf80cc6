package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

type syncCommand struct {
	renderFlags
	Video                         string `arg:"" help:"The video, with a face in it."`
	Audio                         string `arg:"" help:"The speech track; a video's sound is fine too."`
	Output                        string `short:"o" required:"" placeholder:"OUT.mp4" help:"The MP4 file to make. It appears once it is complete."`
	DisableActiveSpeakerDetection bool   `help:"Sync the largest face of each frame, whoever speaks."`
}

func (c *syncCommand) Run(ctx context.Context, s streams) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	renderer, err := c.open(ctx, runtime.GOMAXPROCS(0), render.DefaultLimits(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	if _, err := renderer.Names(c.Engine); err != nil {
		return err
	}
	// Beside the output, so that the finished file can be moved to its place.
	scratch, err := os.MkdirTemp(filepath.Dir(c.Output), ".lipsync-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	finished := filepath.Join(scratch, "output.mp4")

	bar := newProgress(s.err)
	err = renderer.Render(ctx, render.Job{
		Video: c.Video, Audio: c.Audio, Output: finished, Scratch: scratch, Engine: c.Engine,
		LargestFace: c.DisableActiveSpeakerDetection,
		Progress:    func(p render.Progress) { bar.show(string(p.Stage), p.Done, p.Total) },
	})
	bar.end()
	if lipsync.CodeOf(err) == lipsync.Invalid {
		return sentence(err)
	}
	if err != nil {
		return err
	}
	return os.Rename(finished, c.Output)
}

// check refuses what can't work, before any work is done.
func (c *syncCommand) check() error {
	out, outErr := os.Stat(c.Output)
	for _, path := range []string{c.Video, c.Audio} {
		in, err := os.Stat(path)
		switch {
		case err != nil:
			return err
		case !in.Mode().IsRegular():
			return fmt.Errorf("%s is not a file", path)
		case outErr == nil && os.SameFile(in, out):
			return fmt.Errorf("%s is an input: it would be overwritten", c.Output)
		}
	}
	if outErr == nil && !out.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", c.Output)
	}
	return nil
}
