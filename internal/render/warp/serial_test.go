package warp

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/serial"
	"lipsync/internal/test/check"
)

// analysed returns an analyser that has seen a head that talks, and then, after a cut, a larger one.
func analysed(t testing.TB, frames int) *analyser {
	t.Helper()
	s := &scene{}
	s.draw(0, frames, talking)
	s.draw(1, frames, talking)
	a, aligner := newAnalyser(fps, check.Scratch(t)), alignment.NewAligner(fps)
	add := func(all []alignment.Frame) {
		for _, f := range all {
			if err := a.Add(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range s.frames {
		add(aligner.Add(s.seen(i), s.cut(i)))
	}
	add(aligner.End())
	return a
}

// TestCode plans with an analyser, and with one that was read from its findings: the plans are equal.
func TestCode(t *testing.T) {
	a, read := analysed(t, 60), newAnalyser(fps, check.Scratch(t))
	var b bytes.Buffer
	if err := serial.Write(&b, a.Code); err != nil {
		t.Fatal(err)
	}
	if err := serial.Read(&b, read.Code); err != nil {
		t.Fatal(err)
	}
	out := engine.Output{
		Frames: 120, Source: func(i int) int { return i }, Spoken: openIn(120, true, false, true, false, true), Speaker: func(i int) int { return i / 60 },
	}
	var plans [2][]target
	for i, a := range []*analyser{a, read} {
		p, err := a.Plan(t.Context(), out)
		if err != nil {
			t.Fatal(err)
		}
		plans[i] = p.(painter).all(t)
	}
	copied := 0
	for i := range plans[0] {
		x, y := plans[0][i], plans[1][i]
		if x.track == nil || !slices.Equal(x.track.observations(t), y.track.observations(t)) {
			t.Fatalf("frame %d: the tracks differ", i)
		}
		for _, e := range []int{x.example, x.other} {
			if e >= 0 && x.example >= 0 {
				copied++
				if got, want := y.track.person.bank.examples[e].Pixels, x.track.person.bank.examples[e].Pixels; !reflect.DeepEqual(got, want) {
					t.Errorf("frame %d: the pixels of example %d differ", i, e)
				}
			}
		}
		x.track, y.track = nil, nil
		if x != y {
			t.Errorf("frame %d: got %+v, want %+v", i, y, x)
		}
	}
	if copied == 0 {
		t.Error("no example is shown")
	}
}

// FuzzCode reads findings from any bytes.
func FuzzCode(f *testing.F) {
	var b bytes.Buffer
	if err := serial.Write(&b, analysed(f, 2).Code); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte{1, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		a := newAnalyser(fps, check.Scratch(t))
		if serial.Read(bytes.NewReader(b), a.Code) != nil {
			return
		}
		var again bytes.Buffer
		if err := serial.Write(&again, a.Code); err != nil || again.Len() != len(b) {
			t.Errorf("%d bytes become %d (%v)", len(b), again.Len(), err)
		}
	})
}
