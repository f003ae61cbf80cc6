package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"lipsync/internal/media/demo"
)

// shared returns the file of one of the shared clips, in a folder of that of the media.
func (l *layout) shared(folder, name string) string {
	return filepath.Join(l.Shared, "media", folder, name+".mp4")
}

// video returns the file of a video.
func (l *layout) video(v video) string {
	if v.make == nil {
		return l.shared(v.folder, v.name)
	}
	return l.file("media", v.name, ".mp4")
}

// makeVideo writes a video that is not one of the shared clips.
func (l *layout) makeVideo(ctx context.Context, v video) error {
	if v.make == nil {
		return nil
	}
	return v.make(ctx, l, l.video(v))
}

// draw writes the video of package demo: a drawn head at rest.
func draw(ctx context.Context, l *layout, path string) error {
	return demo.Video(ctx, path, demo.Frames, 1, func(int) {})
}

// repeatFrame repeats the first frame of the woman for 4 s.
func repeatFrame(ctx context.Context, l *layout, path string) error {
	_, err := l.output(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y", "-i", l.shared("", "woman"),
		"-vf", "trim=end_frame=1,loop=99:1,setpts=N/25/TB", "-r", "25", "-an", "-c:v", "libx264", "-crf", "12", path)
	return err
}

// speak returns a function that makes a speech with a voice of espeak-ng.
func speak(voice string) func(context.Context, *layout, speech) error {
	return func(ctx context.Context, l *layout, s speech) error {
		raw := l.file("media", s.name(), ".espeak.json")
		if _, err := l.output(ctx, l.Python, l.tool("speak"), s.text.words, s.track(l), raw, "--voice", voice); err != nil {
			return err
		}
		printed, err := os.ReadFile(raw)
		if err != nil {
			return err
		}
		return s.write(l, printed)
	}
}

// flite returns a function that makes a speech with a voice of flite.
func flite(voice string) func(context.Context, *layout, speech) error {
	return func(ctx context.Context, l *layout, s speech) error {
		printed, err := l.output(ctx, "flite", "-voice", voice, "-psdur", "-t", s.text.words, "-o", s.track(l))
		if err != nil {
			return err
		}
		events, err := fliteEvents(string(printed))
		if err != nil {
			return err
		}
		return writeJSON(s.events(l), events)
	}
}

// recorded returns a function that copies the recording of a text, and aligns the words
// with it as a voice of espeak-ng says them.
func recorded(voice string) func(context.Context, *layout, speech) error {
	return func(ctx context.Context, l *layout, s speech) error {
		sound, err := os.ReadFile(filepath.Join(l.Recordings, s.text.name+".wav"))
		if err != nil {
			return err
		}
		if err := os.WriteFile(s.track(l), sound, 0o600); err != nil {
			return err
		}
		printed, err := l.script(ctx, alignScript, s.track(l), s.text.words, voice)
		if err != nil {
			return err
		}
		return s.write(l, printed)
	}
}

// write writes events to the file of the speech's events. printed is their JSON, with the names of espeak-ng.
func (s speech) write(l *layout, printed []byte) error {
	var events []event
	if err := json.Unmarshal(printed, &events); err != nil {
		return err
	}
	for i := range events {
		events[i].Phoneme = espeakPhoneme(events[i].Phoneme)
	}
	return writeJSON(s.events(l), events)
}

// quiet writes 5 s without sound.
func quiet(ctx context.Context, l *layout, s speech) error {
	_, err := l.output(ctx, "ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "5", s.track(l))
	if err != nil {
		return err
	}
	return writeJSON(s.events(l), []event{{0, "_"}, {5000, "_"}})
}

// writeJSON writes a value to a new file.
func writeJSON(path string, value any) error {
	encoded, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(encoded, '\n'), 0o644)
}
