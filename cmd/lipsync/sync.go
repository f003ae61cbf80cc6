package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lipsync/internal/lipsync"
	"lipsync/internal/render"
)

type syncCommand struct {
	renderFlags
	Video                         string                 `arg:"" help:"The video, with a face in it. It may be a picture: PNG, JPEG or WebP."`
	Audio                         string                 `arg:"" help:"The speech track. It may be a video with sound."`
	Output                        string                 `short:"o" placeholder:"OUT.mp4" help:"The file to make, or - for standard output. OUT.mov and OUT.webm have other formats. It appears when it is complete. Required."`
	Quiet                         bool                   `short:"q" help:"Print nothing except errors."`
	DisableActiveSpeakerDetection bool                   `help:"Sync the largest face of each frame, no matter who speaks."`
	SyncMode                      lipsync.SyncMode       `placeholder:"MODE" help:"Set the length of the output. bounce, the default: as the audio; a longer video is cut, a shorter one plays forward and backward. loop: as bounce, but a shorter video starts again. remap: as the audio; the video plays faster or slower, by a factor of 2 at most. cut_off: as the shorter of the two. silence: as the longer of the two; silence follows a shorter audio, and a shorter video holds its last frame."`
	Silence                       lipsync.Silence        `placeholder:"MOUTH" help:"While nobody speaks, the mouth rests (rest, the default) or stays as in the video (keep)."`
	NoFace                        lipsync.FacelessFrames `placeholder:"ACTION" help:"A frame without a face stays as it is (keep, the default), or there is no output (fail). A video without any face always fails."`
	VoiceGain                     lipsync.VoiceGain      `placeholder:"FACTOR" help:"Set a factor for the speech track, from 0 (silence) to 2 (default: 1)."`
	OriginalGain                  lipsync.OriginalGain   `placeholder:"FACTOR" help:"Mix the video's own sound with the speech track, by a factor from 0 (silence, the default) to 2."`
	Duck                          bool                   `help:"Lower the video's own sound, if it has a factor, while the speech track is heard."`
	Face                          lipsync.Face           `placeholder:"FRAME,X,Y" help:"Sync only the person at a point of a frame, such as 120,640,360: frames count from 0, x and y are pixels from the top left corner."`
	Boxes                         string                 `placeholder:"FILE" help:"Sync in each frame only the person in a box. The file is a JSON list of [left, top, right, bottom] or null for each frame."`
	Segments                      string                 `placeholder:"FILE" help:"Give parts of the video speech of their own, and leave the rest as in the video. The file is a JSON list of {\"start\", \"end\", \"audio\": {\"ref\", \"start\", \"end\"}, \"options\": {\"silence\", \"voice_gain\", \"original_gain\", \"face\"}}, with times in seconds. audio and options may be absent."`
	Ref                           map[string]string      `placeholder:"NAME=FILE" mapsep:"none" help:"Give segments another speech track, which they name by ref. Without ref they have AUDIO."`
	Mask                          lipsync.Mask           `placeholder:"FEATHER,EXPAND" help:"Set factors of the width of the soft edge of the region that is painted around the mouth, from 0.25 to 2, and of the size of that region, from 0.85 to 1.25 (default: 1,1)."`
	Format                        *lipsync.Format        `placeholder:"FORMAT" help:"Set the format of the output: mp4, mov or webm (default: by its name, or mp4)."`
	Codec                         lipsync.Codec          `placeholder:"CODEC" help:"Set the codec of the pictures: h264 (the default of mp4 and mov), hevc (mp4, mov), vp9 (mp4, and the default of webm) or prores (mov)."`
	Quality                       lipsync.Quality        `placeholder:"QUALITY" help:"Set the quality of the pictures: high (the default), medium or low. A lower one makes a smaller file."`
	FPS                           lipsync.FrameRate      `name:"fps" placeholder:"RATE" help:"Set the frames a second, from 1 to 120 (default: source, as in the video)."`
	Width                         lipsync.Width          `placeholder:"PIXELS" help:"Set the width of the pictures (default, and the most: as in the video)."`
	Preview                       lipsync.Preview        `placeholder:"START,SECONDS" help:"Render only a part: video and speech track from START on, for at most SECONDS, such as 90,5."`
}

// standardOutput is the name of the output that means standard output.
const standardOutput = "-"

// Validate implements kong's check of a command's options. If arguments are missing, it leaves the
// message to kong, since a newcomer has to give those first.
func (c *syncCommand) Validate() error {
	extension := filepath.Ext(c.Output)
	named, known := lipsync.FormatOf(c.Output)
	switch {
	case c.Audio == "":
		return nil
	case c.Face.By == lipsync.FaceInBoxes:
		return errors.New("sync takes local files: give the file of boxes to --boxes")
	case c.DisableActiveSpeakerDetection && c.Segments != "":
		return errors.New("--segments and --disable-active-speaker-detection exclude each other")
	case c.Boxes != "" && c.Face.By != lipsync.AutoFace, c.DisableActiveSpeakerDetection && (c.Boxes != "" || c.Face.By != lipsync.AutoFace):
		return errors.New("--face, --boxes and --disable-active-speaker-detection exclude each other")
	case len(c.Ref) > 0 && c.Segments == "":
		return errors.New("--ref gives speech to segments: there is no --segments")
	case c.Ref[""] != "":
		return errors.New("--ref needs a name: NAME=FILE")
	case c.Output == "":
		return errors.New("missing flags: --output=OUT.mp4")
	case extension != "" && !known:
		return fmt.Errorf("the output is an MP4, MOV or WebM file: name it %s.mp4", strings.TrimSuffix(c.Output, extension))
	case known && c.Format != nil && *c.Format != named:
		return fmt.Errorf("the output is of the format %s: name it %s%s", c.Format, strings.TrimSuffix(c.Output, extension), c.Format.Extension())
	}
	o := c.output()
	return o.Check()
}

// output returns the output that the flags describe. Its format is the one of its name, if that has one.
func (c *syncCommand) output() lipsync.Output {
	o := lipsync.Output{Codec: c.Codec, Quality: c.Quality, FPS: c.FPS, Width: c.Width}
	if o.Format, _ = lipsync.FormatOf(c.Output); c.Format != nil {
		o.Format = *c.Format
	}
	return o
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
	output := c.output()
	finished := filepath.Join(scratch, "output"+output.Format.Extension())

	said := s.err
	if c.Quiet {
		said = io.Discard
	}
	bar := newProgress(said)
	options := lipsync.Options{SyncMode: c.SyncMode, Silence: c.Silence, NoFace: c.NoFace,
		VoiceGain: c.VoiceGain, OriginalGain: c.OriginalGain, Duck: lipsync.Duck(c.Duck), Preview: c.Preview, Face: c.Face, Mask: c.Mask, Output: output}
	if c.Boxes != "" {
		options.Face.By = lipsync.FaceInBoxes
	}
	segments, err := c.readSegments(options)
	if err != nil {
		return err
	}
	var made render.Result
	err = renderer.Render(ctx, render.Job{
		Video: c.Video, Audio: c.Audio, Output: finished, Scratch: scratch, Engine: c.Engine,
		LargestFace: c.DisableActiveSpeakerDetection, Options: options, Boxes: c.Boxes, Segments: segments, Audios: c.audios(),
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

// audios returns the speech tracks by the names that segments have for them.
func (c *syncCommand) audios() map[string]string {
	all := map[string]string{"": c.Audio}
	maps.Copy(all, c.Ref)
	return all
}

// readSegments reads the file of segments. It returns nil if there is none.
func (c *syncCommand) readSegments(o lipsync.Options) (segments lipsync.Segments, err error) {
	if c.Segments == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Segments)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &segments); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Segments, err)
	}
	ref, unknown := segments.Unknown(slices.Collect(maps.Keys(c.audios())))
	switch {
	case unknown && len(c.Ref) == 0:
		return nil, fmt.Errorf("segment has the audio %q; there is only AUDIO", ref)
	case unknown:
		return nil, fmt.Errorf("segment has the audio %q; there is: %s", ref, strings.Join(slices.Sorted(maps.Keys(c.Ref)), ", "))
	}
	return segments, segments.Check(o)
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
	type file struct{ kind, path string }
	inputs := []file{{"video", c.Video}, {"audio", c.Audio}, {"boxes file", c.Boxes}, {"segments file", c.Segments}}
	for _, name := range slices.Sorted(maps.Keys(c.Ref)) {
		inputs = append(inputs, file{"audio", c.Ref[name]})
	}
	for _, input := range inputs {
		if input.path == "" { // there need not be such a file
			continue
		}
		in, err := statInput("sync", input.kind, input.path)
		if err != nil {
			return err
		}
		if written != nil && os.SameFile(in, written) {
			return fmt.Errorf("%s is an input: it would be overwritten", c.Output)
		}
	}
	if written != nil && !written.Mode().IsRegular() {
		return fmt.Errorf("%s is not a file", c.Output)
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
