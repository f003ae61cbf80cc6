package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/cmd/lipsync/internal/jobs"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/intake"
	"lipsync/internal/work/worker"
)

// outputFlags are the arguments and options of commands that make outputs.
type outputFlags struct {
	Video  string `arg:"" help:"The video, with a face in it. It may be a picture: PNG, JPEG, WebP or AVIF."`
	Audio  string `arg:"" help:"The speech track. It may be a video with sound. If it is a folder, an output is made for each audio in it."`
	Output string `short:"o" placeholder:"OUT.mp4" help:"The file to make, or - for standard output (default: the video's name with -lipsync, here, unless there is such a file). It replaces a file. OUT.mov and OUT.webm have other formats. If AUDIO is a folder, it is the folder of the outputs, which get the names of the speech tracks. An output appears when it is complete."`
	Quiet  bool   `short:"q" help:"Print nothing except errors."`
	JSON   bool   `name:"json" help:"Print a line of JSON about each output."`
}

// check returns an error if the options contradict each other. If arguments are missing, it leaves the
// message to kong, since a newcomer has to give those first.
func (f *outputFlags) check(choices *flags.Choices) error {
	switch {
	case f.Audio == "":
		return nil
	case f.JSON && f.Output == jobs.StandardOutput:
		return errors.New("--json and the output go to standard output: give a file to -o")
	}
	return choices.Check(f.Output, jobs.IsFolder(f.Audio))
}

// said returns where all goes that is no error and no result.
func (f *outputFlags) said(s streams) io.Writer {
	if f.Quiet {
		return io.Discard
	}
	return s.Err
}

// order returns what the command is to make.
func (f *outputFlags) order(command string, choices *flags.Choices, others ...flags.Input) jobs.Order {
	return jobs.Order{
		Command: command, Video: f.Video, Audio: f.Audio, Output: f.Output,
		Extension: choices.Options(f.Output).Output.Extension(), Others: append(choices.Files(), others...),
	}
}

type syncCommand struct {
	renderFlags
	flags.Choices
	outputFlags
	Boxes string `placeholder:"FILE" help:"Sync in each frame only the person in a box. The file is a JSON list of [left, top, right, bottom] or null for each frame."`
}

// Validate checks the options; kong calls it.
func (c *syncCommand) Validate() error {
	face := c.Options(c.Output).Face.By
	switch {
	case c.Audio == "":
		return nil
	case face == order.FaceInBoxes:
		return errors.New("sync takes local files: give the file of boxes to --boxes")
	case c.Boxes != "" && face != order.AutoFace, c.DisableActiveSpeakerDetection && (c.Boxes != "" || face != order.AutoFace):
		return errors.New("--face, --boxes and --disable-active-speaker-detection exclude each other")
	}
	return c.outputFlags.check(&c.Choices)
}

func (c *syncCommand) Run(ctx context.Context, s streams) (err error) {
	said := c.said(s)
	all, err := c.order("sync", &c.Choices, flags.Input{Kind: "boxes file", Path: c.Boxes}).Jobs(s.Out, said)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(s.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	renderer, err := c.open(ctx, runtime.GOMAXPROCS(0), intake.DefaultLimits(), log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, renderer.Close()) }()
	if _, err := renderer.Names(c.Engine); err != nil {
		return err
	}
	failed := 0
	for _, j := range all {
		result, err := c.make(ctx, renderer, j, s.Out, said)
		err = result.Tell(c.JSON, s.Out, said, err)
		switch {
		case len(all) == 1 || ctx.Err() != nil:
			return err
		case err != nil:
			failed++
			fmt.Fprintf(s.Err, "lipsync: %v\n", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d speech tracks failed", failed, len(all))
	}
	return nil
}

// make makes the output of a job.
func (c *syncCommand) make(ctx context.Context, renderer *engines.Set, j jobs.Job, out, said io.Writer) (r jobs.Result, err error) {
	r = jobs.Result{Video: c.Video, Audio: j.Audio, Output: j.Output}
	scratch, err := j.Scratch()
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	options := c.Options(c.Output)
	if c.Boxes != "" {
		options.Face.By = order.FaceInBoxes
	}
	segments, err := c.ReadSegments(options)
	if err != nil {
		return r, err
	}
	job := render.Job{
		Video: c.Video, Audio: j.Audio, Output: filepath.Join(scratch, "output"+options.Output.Extension()), Scratch: scratch, Engine: c.Engine,
		LargestFace: c.DisableActiveSpeakerDetection, Options: options, Boxes: c.Boxes, Segments: segments, Audios: c.Audios(j.Audio),
	}
	bar := screen.NewProgress(said)
	made, err := renderer.Render(ctx, job, render.ProgressFunc(func(p render.Progress) { bar.Show(string(p.Stage), p.Done, p.Total) }))
	bar.End()
	if failure.CodeOf(err) == failure.Invalid {
		return r, c.explain(err, job)
	}
	if err != nil {
		return r, err
	}
	r.Frames, r.Synced, r.Unsynced, r.LeftOut = made.Frames.Total, made.Frames.Synced, made.Unsynced.Gaps, made.Unsynced.LeftOut
	if r.Warnings = made.Warnings.Texts(); !made.Sync.IsZero() {
		r.Sync = made.Sync.Says()
	}
	if worst, known := made.Sync.Score(); known && !made.Sync.IsZero() {
		r.Score = &worst
	}
	return r, j.Deliver(job.Output, out, said)
}

// explain returns the error of an input in words of the command line, with the name of the file.
func (c *syncCommand) explain(err error, job render.Job) error {
	f := failure.Of(worker.Described(err, job))
	said := jobs.Reasoned(flags.Words(sentence(err).Error()), f.Cause)
	path := map[failure.MediaKind]string{failure.Video: c.Video, failure.Audio: job.Audio}[f.Kind]
	if path != "" && (f.Kind == failure.Video || len(c.Ref) == 0) { // otherwise it may be another one
		said = fmt.Errorf("%s: %w", path, said)
	}
	return fmt.Errorf("%w\n%s", said, order.Advice(f.Code))
}
