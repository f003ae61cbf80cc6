package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// program is a build of lipsync.
type program struct {
	name string // "before" or "after"
	path string
}

// name returns the name of the trial in files and titles.
func (t trial) name() string { return fileName(t.video.name, t.speech.name()) }

// output returns the file that a program renders for the trial.
func (t trial) output(l *layout, p program) string { return l.file(p.name, t.name(), ".mp4") }

// silent tells whether the trial has no speech.
func (t trial) silent() bool { return t.speech.text.words == "" }

// render renders the trial with a program. It returns the share of frames that are synced.
func (l *layout) render(ctx context.Context, t trial, p program) (synced float64, err error) {
	if err := os.MkdirAll(l.file(p.name, "", ""), 0o755); err != nil {
		return 0, err
	}
	said, err := exec.CommandContext(ctx, p.path, "sync", l.video(t.video), t.speech.track(l), "--output", t.output(l, p)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s sync: %w: %s", p.path, err, bytes.TrimSpace(said))
	}
	return syncedShare(string(said)), nil
}

// syncedShare reads the share of synced frames from what lipsync sync prints, which names it unless all frames are synced.
func syncedShare(said string) float64 {
	_, after, _ := strings.Cut(said, "Synced ")
	var synced, frames float64
	if _, err := fmt.Sscanf(after, "%g of %g frames", &synced, &frames); err != nil {
		return 1
	}
	return synced / frames
}

// row measures the output of a program for the trial.
func (l *layout) row(ctx context.Context, t trial, p program) (row, error) {
	r := row{Set: t.video.set, Video: t.video.name, Voice: t.speech.voice, Text: t.speech.text.name}
	measure := l.speaking
	if t.silent() {
		measure = l.silent
	}
	var err error
	r.Figures, err = measure(ctx, t, t.output(l, p))
	for key, value := range r.Figures {
		r.Figures[key] = round(value, 3)
	}
	return r, err
}

// silent measures the output of a trial without sound.
func (l *layout) silent(ctx context.Context, t trial, output string) (figures, error) {
	made, err := l.score(ctx, output, t.speech.track(l))
	if err != nil {
		return nil, err
	}
	source, err := l.score(ctx, l.video(t.video), t.speech.track(l))
	if err != nil {
		return nil, err
	}
	return figures{"silence": made.Opening.SD / source.Opening.SD}, nil
}

// speaking measures the output of a trial with speech.
func (l *layout) speaking(ctx context.Context, t trial, output string) (figures, error) {
	arguments := []string{output, t.speech.track(l), "--events", t.speech.events(l)}
	if t.first {
		arguments = append(arguments, "--source", l.video(t.video))
	}
	s, err := l.score(ctx, arguments...)
	if err != nil {
		return nil, err
	}
	v, err := l.visemes(ctx, output, t.speech.events(l))
	if err != nil {
		return nil, err
	}
	f := measured(s, v)
	if !t.first {
		return f, nil
	}
	wrong, err := l.score(ctx, output, otherSpeech.track(l), "--events", otherSpeech.events(l))
	f["wrong"] = max(wrong.Articulation.At0, wrong.Envelope.At0)
	return f, err
}
