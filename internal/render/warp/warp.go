// Package warp is the engine that needs no network and no pictures of other people. It changes the
// shape of the mouth in each frame. If a person already speaks in the video, the engine first
// replaces that mouth by one from another frame of the same person, after Bregler, Covell and
// Slaney, "Video Rewrite" (SIGGRAPH 1997). The page docs/engine.md explains it with pictures.
//
// This package knows the mouths of a whole video: it follows each over time (track), keeps examples of each person (bank, person), and chooses which
// mouth each frame shows (choose, heard, flow). Package mouth reads and paints a single one.
package warp

import (
	"context"
	"image"
	"os"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/serial"
)

// Engine is an engine.Engine.
type Engine struct {
	Cores int // cores that one job uses, at least 1
}

var _ engine.Engine = (*Engine)(nil)

func (e Engine) Workers() int { return e.Cores }

func (Engine) Articulates() bool { return true }

func (Engine) Analyse(v engine.Video) (engine.Analyser, error) {
	return newAnalyser(v.FPS, v.Scratch), nil
}

// analyser gathers the mouths of one video.
type analyser struct {
	fps     float64
	scratch *os.File
	rows    *serial.Records[mouth.Observation]
	tracks  map[int]*track // by number
	persons map[int]*person
	order   []*person // in the order in which they appear
}

func newAnalyser(fps float64, scratch *os.File) *analyser {
	rows := serial.NewRecords(scratch, 0, func(c *serial.Coder, o *mouth.Observation) { o.Code(c) })
	return &analyser{fps: fps, scratch: scratch, rows: rows, tracks: map[int]*track{}, persons: map[int]*person{}}
}

var _ engine.Analyser = (*analyser)(nil)

func (a *analyser) Add(f alignment.Frame) error {
	for i := range f.Faces {
		face := &f.Faces[i]
		if err := a.track(f.Index, face).add(face); err != nil {
			return err
		}
	}
	a.share()
	return nil
}

// track returns the track of a face, which may be a new one.
func (a *analyser) track(frame int, f *alignment.Face) *track {
	t := a.tracks[f.Track]
	if t == nil {
		p := a.persons[f.Person]
		if p == nil {
			p = &person{bank: bank{capacity: bankSize}}
			a.persons[f.Person] = p
			a.order = append(a.order, p)
		}
		t = &track{number: f.Track, person: p, first: frame, rows: a.rows}
		p.tracks = append(p.tracks, t)
		a.tracks[f.Track] = t
	}
	return t
}

// bankBytes bounds the pixels of all examples of a video, in bytes.
const bankBytes = 96 << 20

// share halves the largest bank if all banks together take more than bankBytes.
func (a *analyser) share() {
	total := 0
	var largest *bank
	for _, p := range a.order {
		total += p.bank.bytes
		if largest == nil || p.bank.bytes > largest.bytes {
			largest = &p.bank
		}
	}
	if total > bankBytes {
		largest.capacity = max(len(largest.examples)/2, 1)
		largest.thin()
	}
}

func (a *analyser) Plan(ctx context.Context, out engine.Output) (engine.Painter, error) {
	for _, t := range a.tracks {
		if err := t.smooth(); err != nil {
			return nil, err
		}
	}
	for _, p := range a.order {
		p.Prepare(out.Mask, p.bank.mouths())
		if out.Hidden != nil {
			p.hide(out.Hidden)
		}
		if err := p.summarise(a.fps); err != nil {
			return nil, err
		}
		err := p.label(out.Heard, a.fps, func(frame int) bool {
			t := a.tracks[out.Speaker(frame)]
			return t != nil && t.person == p
		})
		if err != nil {
			return nil, err
		}
	}
	targets := serial.NewRecords(a.scratch, a.rows.End(), a.codeTarget)
	next := func(t *target) error {
		_, err := targets.Add(t)
		return err
	}
	for from := 0; from < out.Frames; {
		number := out.Speaker(out.Source(from))
		to := from + 1
		for to < out.Frames && out.Speaker(out.Source(to)) == number {
			to++
		}
		if t := a.tracks[number]; t != nil {
			source := func(i int) int { return out.Source(from + i) }
			if err := t.plan(ctx, a.fps, out.Spoken[from:to], source, next); err != nil {
				return nil, err
			}
		}
		for targets.Len() < to {
			if err := next(&target{}); err != nil {
				return nil, err
			}
		}
		from = to
	}
	return painter{targets}, nil
}

// painter holds a target for each output frame.
type painter struct{ targets *serial.Records[target] }

// target says which mouth one output frame shows, and in which shape.
type target struct {
	track   *track      // nil: the frame stays as it is
	frame   int         // index in track.frames of the source frame, with its own mouth
	example int         // index in the person's bank of the mouth that is shown; -1: the frame's own
	shape   mouth.Shape // of the shown mouth
	under   mouth.Shape // that the frame's own mouth gets under an example, so that the skin around the example fits

	// The frames before and after a jump to another example show both examples.
	share      float32     // of the other example, 0 to 1
	other      int         // index of the other example
	otherShape mouth.Shape // of the other example
}

var _ engine.Painter = painter{}

func (p painter) Paint(_ context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	var t target
	if err := p.targets.Get(output, &t); err != nil || t.track == nil {
		return nil, err
	}
	own, err := t.track.frame(t.frame)
	if err != nil {
		return nil, err
	}
	who := t.track.person
	w := mouth.Wanted{Person: &who.Person, Own: own, Shape: t.shape, Under: t.under, Share: t.share, OtherShape: t.otherShape}
	if t.example >= 0 {
		w.Example, w.Other = &who.bank.examples[t.example].Example, &who.bank.examples[t.other].Example
	}
	m, ok := mouth.Paint(frame, &w)
	if !ok {
		return nil, nil
	}
	return []engine.Mouth{m}, nil
}
