package main

import "os"

// program is a build of lipsync.
type program struct {
	name string // "before" or "after"
	path string
}

// name returns the name of the take in files and titles.
func (t take) name() string { return fileName(t.video.name, t.speech.name()) }

// output returns the file that a program makes of the take.
func (t take) output(l *lab, p program) string { return l.file(p.name, t.name(), ".mp4") }

// silent tells whether nothing is said.
func (t take) silent() bool { return t.speech.text.words == "" }

// render has a program sync the take.
func (l *lab) render(t take, p program) error {
	out := t.output(l, p)
	if err := os.MkdirAll(l.file(p.name, "", ""), 0o755); err != nil {
		return err
	}
	_, err := l.output(p.path, "sync", l.video(t.video), t.speech.track(l), "--output", out)
	return err
}

// figures measures what a program made of the take.
func (l *lab) figures(t take, p program) (row, error) {
	r := row{Video: t.video.name, Voice: t.speech.voice, Text: t.speech.text.name}
	out, track := t.output(l, p), t.speech.track(l)
	if t.silent() {
		var output, source score
		if err := l.measure(&output, "syncscore", out, track); err != nil {
			return row{}, err
		}
		if err := l.measure(&source, "syncscore", l.video(t.video), track); err != nil {
			return row{}, err
		}
		r.Figures = silent(output, source)
		return r, nil
	}
	arguments := []string{out, track, "--events", t.speech.events(l)}
	if t.whole {
		arguments = append(arguments, "--source", l.video(t.video))
	}
	var s score
	if err := l.measure(&s, "syncscore", arguments...); err != nil {
		return row{}, err
	}
	var v visemes
	if err := l.measure(&v, "visemes", out, t.speech.events(l)); err != nil {
		return row{}, err
	}
	r.Figures = measured(s, v)
	return r, nil
}
