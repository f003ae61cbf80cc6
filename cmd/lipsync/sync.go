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
	"strings"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

type syncCommand struct {
	renderFlags
	Video                         string                 `arg:"" help:"The video, with a face in it. It may be a picture: PNG, JPEG or WebP."`
	Audio                         string                 `arg:"" help:"The speech track. It may be a video with sound."`
	Output                        string                 `short:"o" placeholder:"OUT.mp4" help:"The MP4 file to make, or - for standard output. It appears when it is complete. Required."`
	Quiet                         bool                   `short:"q" help:"Print nothing except errors."`
	DisableActiveSpeakerDetection bool                   `help:"Sync the largest face of each frame, no matter who speaks."`
	SyncMode                      lipsync.SyncMode       `placeholder:"MODE" help:"Set the length of the output. bounce, the default: as the audio; a longer video is cut, a shorter one plays forward and backward. loop: as bounce, but a shorter video starts again. remap: as the audio; the video plays faster or slower, by a factor of 2 at most. cut_off: as the shorter of the two. silence: as the longer of the two; silence follows a shorter audio, and a shorter video holds its last frame."`
	Silence                       lipsync.Silence        `placeholder:"MOUTH" help:"While nobody speaks, the mouth rests (rest, the default) or stays as in the video (keep)."`
	NoFace                        lipsync.FacelessFrames `placeholder:"ACTION" help:"A frame without a face stays as it is (keep, the default), or there is no output (fail). A video without any face always fails."`
	VoiceGain                     lipsync.VoiceGain      `placeholder:"FACTOR" help:"Set a factor for the speech track, from 0 (silence) to 2 (default: 1)."`
	OriginalGain                  lipsync.OriginalGain   `placeholder:"FACTOR" help:"Mix the video's own sound with the speech track, by a factor from 0 (silence, the default) to 2."`
	Duck                          bool                   `help:"Lower the video's own sound, if it has a factor, while the speech track is heard."`
	Preview                       lipsync.Preview        `placeholder:"START,SECONDS" help:"Render only a part: video and speech track from START on, for at most SECONDS, such as 90,5."`
}

// standardOutput is the name of the output that means standard output.
const standardOutput = "-"

// Validate implements kong's check of a command's options. If arguments are missing, it leaves the
// message to kong, since a newcomer has to give those first.
func (c *syncCommand) Validate() error {
	extension := filepath.Ext(c.Output)
	switch {
	case c.Audio == "":
		return nil
	case c.Output == "":
		return errors.New("missing flags: --output=OUT.mp4")
	case extension != "" && !strings.EqualFold(extension, ".mp4"):
		return fmt.Errorf("the output is an MP4 file: name it %s.mp4", strings.TrimSuffix(c.Output, extension))
	}
	return nil
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
	scratch, err := c.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	finished := filepath.Join(scratch, "output.mp4")

	said := s.err
	if c.Quiet {
		said = io.Discard
	}
	bar := newProgress(said)
	var made render.Result
	err = renderer.Render(ctx, render.Job{
		Video: c.Video, Audio: c.Audio, Output: finished, Scratch: scratch, Engine: c.Engine,
		LargestFace: c.DisableActiveSpeakerDetection,
		Options: lipsync.Options{SyncMode: c.SyncMode, Silence: c.Silence, NoFace: c.NoFace,
			VoiceGain: c.VoiceGain, OriginalGain: c.OriginalGain, Duck: lipsync.Duck(c.Duck), Preview: c.Preview},
		Rendered: func(r render.Result) { made = r },
		Progress: func(p render.Progress) { bar.show(string(p.Stage), p.Done, p.Total) },
	})
	bar.end()
	if lipsync.CodeOf(err) == lipsync.Invalid {
		return sentence(err)
	}
	if err != nil {
		return err
	}
	if c.Output == standardOutput {
		err = copyFile(s.out, finished)
	} else if err = os.Rename(finished, c.Output); err == nil {
		_, err = fmt.Fprintf(said, "The output is %s\n", c.Output)
	}
	if err != nil {
		return err
	}
	return printResult(said, made)
}

// printResult prints the facts about an output that its user should know.
func printResult(w io.Writer, r render.Result) error {
	lines := r.Warnings.Texts()
	if f := r.Frames; f.Kept() > 0 {
		lines = append([]string{fmt.Sprintf("Synced %d of %d frames", f.Synced, f.Total)}, lines...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// scratch makes a folder for the unfinished output. It is beside the output file, if that is one,
// so that the output can be moved to its place.
func (c *syncCommand) scratch() (string, error) {
	if c.Output == standardOutput {
		return os.MkdirTemp("", "lipsync-")
	}
	folder := filepath.Dir(c.Output)
	scratch, err := os.MkdirTemp(folder, ".lipsync-")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the output folder %s does not exist", folder)
	}
	return scratch, err
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
	if c.Output == standardOutput && isTerminal(out) {
		return errors.New("the output is a video, and standard output is a terminal: send it to a file or a program")
	}
	var written fs.FileInfo // nil if there is no file at the output's path
	if c.Output != standardOutput {
		written, _ = os.Stat(c.Output)
	}
	for _, input := range []struct{ kind, path string }{{"video", c.Video}, {"audio", c.Audio}} {
		in, err := os.Stat(input.path)
		switch {
		case err != nil && strings.Contains(input.path, "://"):
			return fmt.Errorf("sync takes local files; download %s first", input.path)
		case errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("%s %s not found", input.kind, input.path)
		case err != nil:
			return err
		case !in.Mode().IsRegular():
			return fmt.Errorf("%s is not a file", input.path)
		case written != nil && os.SameFile(in, written):
			return fmt.Errorf("%s is an input: it would be overwritten", c.Output)
		}
	}
	if written != nil && !written.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", c.Output)
	}
	return nil
}
