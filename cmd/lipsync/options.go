package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lipsync/internal/domain/lipsync"
)

// optionFlags are the options of an output, for commands that render it or let a service do so.
type optionFlags struct {
	DisableActiveSpeakerDetection bool                   `help:"Sync the largest face of each frame, no matter who speaks."`
	SyncMode                      lipsync.SyncMode       `placeholder:"MODE" help:"Set the length of the output. bounce, the default: as the audio; a longer video is cut, a shorter one plays forward and backward. loop: as bounce, but a shorter video starts again. remap: as the audio; the video plays faster or slower, by a factor of 2 at most. cut_off: as the shorter of the two. silence: as the longer of the two; silence follows a shorter audio, and a shorter video holds its last frame."`
	Silence                       lipsync.Silence        `placeholder:"MOUTH" help:"While nobody speaks, the mouth rests (rest, the default) or stays as in the video (keep)."`
	NoFace                        lipsync.FacelessFrames `placeholder:"ACTION" help:"A frame without a face stays as it is (keep, the default), or there is no output (fail). A video without any face always fails."`
	VoiceGain                     lipsync.VoiceGain      `placeholder:"FACTOR" help:"Set a factor for the speech track, from 0 (silence) to 2 (default: 1)."`
	OriginalGain                  lipsync.OriginalGain   `placeholder:"FACTOR" help:"Mix the video's own sound with the speech track, by a factor from 0 (silence, the default) to 2."`
	Duck                          bool                   `help:"Lower the video's own sound, if it has a factor, while the speech track is heard."`
	Face                          lipsync.Face           `placeholder:"FRAME,X,Y" help:"Sync only the person at a point of a frame, such as 120,640,360: frames count from 0, x and y are pixels from the top left corner."`
	Segments                      string                 `placeholder:"FILE" help:"Give parts of the video speech of their own, and leave the rest as in the video. The file is a JSON list of {\"start\", \"end\", \"audio\": {\"ref\", \"start\", \"end\"}, \"options\": {\"silence\", \"voice_gain\", \"original_gain\", \"face\"}}, with times in seconds. audio and options may be absent."`
	Ref                           map[string]string      `placeholder:"NAME=FILE" mapsep:"none" help:"Give segments another speech track, which they name by ref. Without ref they have AUDIO."`
	Mask                          lipsync.Mask           `placeholder:"FEATHER,EXPAND" help:"Set factors of the width of the soft edge of the region that is painted around the mouth, from 0.25 to 2, and of the size of that region, from 0.85 to 1.25 (default: 1,1)."`
	Format                        *lipsync.Format        `placeholder:"FORMAT" help:"Set the format of the output: mp4, mov or webm (default: by its name, or mp4)."`
	Codec                         lipsync.Codec          `placeholder:"CODEC" help:"Set the codec of the pictures: h264 (the default of mp4 and mov), hevc (mp4, mov), vp9 (mp4, and the default of webm) or prores (mov). All except h264 keep 10 bits and HDR; prores, and vp9 in webm, keep transparency."`
	Quality                       lipsync.Quality        `placeholder:"QUALITY" help:"Set the quality of the pictures: high (the default), medium or low. A lower one makes a smaller file."`
	FPS                           lipsync.FrameRate      `name:"fps" placeholder:"RATE" help:"Set the frames a second, from 1 to 120 (default: source, as in the video)."`
	Width                         lipsync.Width          `placeholder:"PIXELS" help:"Set the width of the pictures (default, and the most: as in the video)."`
	Preview                       lipsync.Preview        `placeholder:"START,SECONDS" help:"Render only a part: video and speech track from START on, for at most SECONDS, such as 90,5."`
}

// check returns an error if the flags contradict each other, or the name of the output. The output may be a folder.
func (f *optionFlags) check(output string, folder bool) error {
	extension := filepath.Ext(output)
	named, known := lipsync.FormatOf(output)
	switch {
	case f.DisableActiveSpeakerDetection && f.Segments != "":
		return errors.New("--segments and --disable-active-speaker-detection exclude each other")
	case len(f.Ref) > 0 && f.Segments == "":
		return errors.New("--ref gives speech to segments: there is no --segments")
	case f.Ref[""] != "":
		return errors.New("--ref needs a name: NAME=FILE")
	case output == "":
		return errors.New("missing flags: --output=OUT.mp4")
	case folder: // its name says nothing about formats
	case extension != "" && !known:
		return fmt.Errorf("the output is an MP4, MOV or WebM file: name it %s.mp4", strings.TrimSuffix(output, extension))
	case known && f.Format != nil && *f.Format != named:
		return fmt.Errorf("the output is of the format %s: name it %s%s", f.Format, strings.TrimSuffix(output, extension), f.Format.Extension())
	}
	o := f.output(output)
	return o.Check()
}

// output returns the output that the flags describe. Its format is the one of its name, if that has one.
func (f *optionFlags) output(name string) lipsync.Output {
	o := lipsync.Output{Codec: f.Codec, Quality: f.Quality, FPS: f.FPS, Width: f.Width}
	if o.Format, _ = lipsync.FormatOf(name); f.Format != nil {
		o.Format = *f.Format
	}
	return o
}

// options returns the options that the flags set, without the output and the segments.
func (f *optionFlags) options() lipsync.Options {
	return lipsync.Options{
		SyncMode: f.SyncMode, Silence: f.Silence, NoFace: f.NoFace, VoiceGain: f.VoiceGain, OriginalGain: f.OriginalGain,
		Duck: lipsync.Duck(f.Duck), Preview: f.Preview, Face: f.Face, Mask: f.Mask,
	}
}

// files returns the files that the flags name.
func (f *optionFlags) files() []inputFile {
	all := []inputFile{{"segments file", f.Segments}}
	for _, name := range slices.Sorted(maps.Keys(f.Ref)) {
		all = append(all, inputFile{"audio", f.Ref[name]})
	}
	return all
}

// audios returns the speech tracks by the names that segments have for them.
func (f *optionFlags) audios(audio string) map[string]string {
	all := map[string]string{"": audio}
	maps.Copy(all, f.Ref)
	return all
}

// segments reads the file of segments. It returns nil if there is none.
func (f *optionFlags) segments(o lipsync.Options) (segments lipsync.Segments, err error) {
	if f.Segments == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.Segments)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &segments); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Segments, err)
	}
	ref, unknown := segments.Unknown(slices.Collect(maps.Keys(f.audios(""))))
	switch {
	case unknown && len(f.Ref) == 0:
		return nil, fmt.Errorf("segment has the audio %q; there is only AUDIO", ref)
	case unknown:
		return nil, fmt.Errorf("segment has the audio %q; there is: %s", ref, strings.Join(slices.Sorted(maps.Keys(f.Ref)), ", "))
	}
	return segments, segments.Check(o)
}
