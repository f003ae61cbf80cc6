package warp

import (
	"io"
	"testing"

	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/serial"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
)

// observations returns the observation of each frame of a track.
func (t *track) observations(tb testing.TB) []mouth.Observation {
	tb.Helper()
	all := make([]mouth.Observation, len(t.frames))
	check.Must(tb, t.each(func(i int, o *mouth.Observation) { all[i] = *o }))
	return all
}

// newTrack returns a track of a person with observations.
func newTrack(tb testing.TB, p *person, all ...mouth.Observation) *track {
	tb.Helper()
	t := &track{person: p, rows: serial.NewRecords(check.Scratch(tb), 0, func(c *serial.Coder, o *mouth.Observation) { o.Code(c) })}
	for _, o := range all {
		check.Must(tb, t.append(o))
	}
	return t
}

// all returns the targets of a plan.
func (p painter) all(tb testing.TB) []target {
	tb.Helper()
	all := make([]target, p.targets.Len())
	for i := range all {
		check.Must(tb, p.targets.Get(i, &all[i]))
	}
	return all
}

// TestSmoothInParts smooths a track that is longer than what is smoothed at once. Each observation is what it is in one piece.
func TestSmoothInParts(t *testing.T) {
	for _, frames := range []int{1, smoothFrames, smoothFrames + 1, 2*smoothFrames + 7} {
		all := make([]mouth.Observation, frames)
		for i := range all {
			all[i] = mouth.Observation{Lips: tiltedLips(.1*float32(i%5), .01*float32(i%7), .02*float32(i%3))}
		}
		tr := newTrack(t, &person{}, all...)
		tr.missed = 2
		check.Must(t, tr.smooth())
		all = append(all, all[frames-1], all[frames-1])
		mouth.Smooth(all, placeSmooth)
		for i, got := range tr.observations(t) {
			if got != all[i] {
				t.Fatalf("%d frames: frame %d differs", frames, i)
			}
		}
	}
}

// TestScratch plans a talk. The file has as many bytes as Engine.Scratch says.
func TestScratch(t *testing.T) {
	const frames = 10
	s := &scene{}
	s.draw(0, frames, talking)
	a, p := s.plan(t, make([]speech.Articulation, frames))
	end, err := a.scratch.Seek(0, io.SeekEnd)
	if want := (Engine{}).Scratch(frames, p.targets.Len()); err != nil || end != want || p.targets.Len() != frames {
		t.Errorf("%d targets; the file has %d bytes (%v), want %d", p.targets.Len(), end, err, want)
	}
}
