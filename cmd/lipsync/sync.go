package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
	"lipsync/internal/work/worker"
)

type syncCommand struct {
	renderFlags
	optionFlags
	Video  string `arg:"" help:"The video, with a face in it. It may be a picture: PNG, JPEG, WebP or AVIF."`
	Audio  string `arg:"" help:"The speech track. It may be a video with sound."`
	Output string `short:"o" placeholder:"OUT.mp4" help:"The file to make, or - for standard output. OUT.mov and OUT.webm have other formats. It appears when it is complete. Required."`
	Quiet  bool   `short:"q" help:"Print nothing except errors."`
	Boxes  string `placeholder:"FILE" help:"Sync in each frame only the person in a box. The file is a JSON list of [left, top, right, bottom] or null for each frame."`
}

// standardOutput is the name of the output that means standard output.
const standardOutput = "-"

// Validate implements kong's check of a command's options. If arguments are missing, it leaves the
// message to kong, since a newcomer has to give those first.
func (c *syncCommand) Validate() error {
	face := c.options(c.Output).Face.By
	switch {
	case c.Audio == "":
		return nil
	case face == order.FaceInBoxes:
		return errors.New("sync takes local files: give the file of boxes to --boxes")
	case c.Boxes != "" && face != order.AutoFace, c.DisableActiveSpeakerDetection && (c.Boxes != "" || face != order.AutoFace):
		return errors.New("--face, --boxes and --disable-active-speaker-detection exclude each other")
	}
	return c.optionFlags.check(c.Output, false)
}

func (c *syncCommand) Run(ctx context.Context, s streams) (err error) {
	if err := c.check(s.out); err != nil {
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
	scratch, err := scratchFor(c.Output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	options := c.options(c.Output)
	finished := filepath.Join(scratch, "output"+options.Output.Format.Extension())

	said := s.err
	if c.Quiet {
		said = io.Discard
	}
	bar := newProgress(said)
	if c.Boxes != "" {
		options.Face.By = order.FaceInBoxes
	}
	segments, err := c.segments(options)
	if err != nil {
		return err
	}
	job := render.Job{
		Video: c.Video, Audio: c.Audio, Output: finished, Scratch: scratch, Engine: c.Engine,
		LargestFace: c.DisableActiveSpeakerDetection, Options: options, Boxes: c.Boxes, Segments: segments, Audios: c.audios(c.Audio),
	}
	made, err := renderer.Render(ctx, job, render.ProgressFunc(func(p render.Progress) { bar.show(string(p.Stage), p.Done, p.Total) }))
	bar.end()
	if failure.CodeOf(err) == failure.Invalid {
		return reasoned(sentence(err).Error(), failure.Of(worker.Described(err, job)).Cause)
	}
	if err != nil {
		return err
	}
	if err := deliver(finished, c.Output, s.out, said); err != nil {
		return err
	}
	return printResult(said, made.Frames.Synced, made.Frames.Total, made.Unsynced, made.Warnings.Texts(), syncText(made.Sync))
}

// reasoned returns the error of a failure with a sentence, and what is known besides.
func reasoned(sentence, reason string) error {
	if reason == "" {
		return errors.New(sentence)
	}
	return fmt.Errorf("%s (%s)", sentence, reason)
}

// syncText returns a line about the score of an output, "" if nothing is known.
func syncText(s order.SyncScore) string {
	if s.IsZero() {
		return ""
	}
	worst, known := s.Score()
	if !known {
		return s.Says()
	}
	return scoreLine(&worst, s.Says())
}

// scoreLine returns a score and what it says in a line. worst is nil if it isn't known.
func scoreLine(worst *float64, says string) string {
	if worst == nil {
		return says
	}
	return fmt.Sprintf("Sync score %.3f: %s", *worst, says)
}

// printResult prints the facts about an output that its user should know.
func printResult(w io.Writer, synced, frames int, unsynced order.Unsynced, warnings []string, sync string) error {
	var lines []string
	if synced < frames {
		lines = []string{fmt.Sprintf("Synced %d of %d frames", synced, frames), unsynced.Says()}
	}
	for _, line := range slices.Concat(lines, warnings, []string{sync}) {
		if line == "" {
			continue
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// scratchFor makes a folder for the unfinished output. It is beside the output file, if that is one,
// so that the output can be moved to its place.
func scratchFor(output string) (string, error) {
	if output == standardOutput {
		return os.MkdirTemp("", "lipsync-")
	}
	folder := filepath.Dir(output)
	scratch, err := os.MkdirTemp(folder, ".lipsync-")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the output folder %s does not exist", folder)
	}
	return scratch, err
}

// deliver moves a finished output to its place, or copies it to out.
func deliver(finished, output string, out, said io.Writer) error {
	if output == standardOutput {
		return copyFile(out, finished)
	}
	if err := os.Rename(finished, output); err != nil {
		return err
	}
	_, err := fmt.Fprintf(said, "The output is %s\n", output)
	return err
}

func copyFile(w io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

// check refuses arguments that can't work, before any work is done.
func (c *syncCommand) check(out io.Writer) error {
	return checkFiles("sync", c.Output, out, append(c.files(), inputFile{"video", c.Video}, inputFile{"audio", c.Audio}, inputFile{"boxes file", c.Boxes}))
}

// inputFile is a file that a command reads. Its path is "" if there is none.
type inputFile struct{ kind, path string }

// checkFiles refuses inputs that are no local files, and an output that can't be written.
func checkFiles(command, output string, out io.Writer, inputs []inputFile) error {
	if output == standardOutput && isTerminal(out) {
		return errors.New("the output is a video, and standard output is a terminal: send it to a file or a program")
	}
	var written fs.FileInfo // nil if there is no file at the output's path
	if output != standardOutput {
		written, _ = os.Stat(output)
	}
	for _, input := range inputs {
		if input.path == "" {
			continue
		}
		in, err := statInput(command, input.kind, input.path)
		if err != nil {
			return err
		}
		if written != nil && os.SameFile(in, written) {
			return fmt.Errorf("%s is an input: it would be overwritten", output)
		}
	}
	if written != nil && !written.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", output)
	}
	return nil
}

// statInput returns the facts about an input of a command. It returns an error unless the input is a local file.
func statInput(command, kind, path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && strings.Contains(path, "://"):
		return nil, fmt.Errorf("%s takes local files; download %s first", command, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s %s not found", kind, path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return info, err
}
