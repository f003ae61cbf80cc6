package warp

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/geom"
)

// speaker returns a track of someone who opens and closes the mouth again and
// again, a little differently each time.
func speaker(frames int) *track {
	p := &person{speaks: true, most: .3}
	t := &track{person: p}
	for i := range frames {
		open := .15 - .15*float32(math.Cos(float64(i)*.5))
		m := someMouth()
		t.frames = append(t.frames, observation{to: geom.Similarity{A: 60}, mouth: m})
		t.opening = append(t.opening, open)
		shape := appearance{100 * open, float32(i%7) / 4}
		p.bank.examples = append(p.bank.examples, example{track: t, frame: i, shape: shape, sharp: 5, pixels: &image.YCbCr{}})
		p.closed = append(p.closed, open/.3)
	}
	return t
}

// ask has a track say openings, in frames from the first on.
func ask(t *testing.T, by *track, wanted []float32) []target {
	t.Helper()
	targets := make([]target, len(wanted))
	if err := by.plan(t.Context(), wanted, func(i int) int { return i }, targets); err != nil {
		t.Fatal(err)
	}
	return targets
}

// TestChooseWhatWasSaid asks for what the person said: the best is that very
// run, without a jump.
func TestChooseWhatWasSaid(t *testing.T) {
	by := speaker(80)
	var wanted []float32
	for _, open := range by.opening[20:60] {
		wanted = append(wanted, open/by.person.most)
	}
	jumps := 0
	targets := ask(t, by, wanted)
	for i, r := range targets {
		if off := r.open - r.want; off > .1 || off < -.1 {
			t.Errorf("frame %d: open by %.2f, want %.2f", i, r.open, r.want)
		}
		if i > 0 && abs(float32(r.example-targets[i-1].example)) > 1 {
			jumps++
		}
	}
	if jumps > 0 {
		t.Errorf("%d jumps", jumps)
	}
}

// TestChooseSteady asks for a mouth that stays closed, then open.
func TestChooseSteady(t *testing.T) {
	by := speaker(80)
	wanted := make([]float32, 80)
	for i := 40; i < 80; i++ {
		wanted[i] = 1
	}
	jumps := 0
	targets := ask(t, by, wanted)
	for i, r := range targets {
		if i > 0 && abs(float32(r.example-targets[i-1].example)) > 1 {
			jumps++
		}
		if i < 30 && r.open > .06 || i > 50 && r.open < .2 {
			t.Errorf("frame %d: open by %.2f, want %.2f", i, r.open, r.want)
		}
	}
	if jumps > 1 {
		t.Errorf("%d jumps, want one at most", jumps)
	}
}

// TestChooseLeavesOut checks examples that must not be shown, and people who get
// none.
func TestChooseLeavesOut(t *testing.T) {
	by := speaker(80)
	for i := range by.person.bank.examples {
		if i%3 == 0 {
			by.person.bank.examples[i].sharp = 1
		}
		if i >= 40 { // the head is turned
			by.frames[i].pose[0] = .9
		}
	}
	for i, r := range ask(t, by, make([]float32, 40)) {
		if r.example%3 == 0 {
			t.Errorf("frame %d: example %d is blurred", i, r.example)
		}
		if r.example >= 40 {
			t.Errorf("frame %d: example %d is of a turned head", i, r.example)
		}
	}
	by.person.speaks = false
	for i, r := range ask(t, by, make([]float32, 100)) {
		if shown := r.track != nil; shown != (i < 80) || shown && (r.example != -1 || r.frame != i) {
			t.Errorf("frame %d: %+v", i, r)
		}
	}
}

// TestOpenings checks the scale and the course of a source's openings.
func TestOpenings(t *testing.T) {
	const n = 200
	lips, valley, dips := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		open := .1 - .1*float32(math.Cos(float64(i)*.3)) // 0 to .2
		lips[i], valley[i], dips[i] = .2+open, 10*open, 20
	}
	// An area of 2 by a depth of 20: a gap of .1, twice.
	got := openings(lips, valley, dips)
	for i, v := range got {
		if want := .1 - .1*float32(math.Cos(float64(i)*.3)); abs(v-want) > .02 {
			t.Errorf("frame %d: got %.3f, want %.3f", i, v, want)
		}
	}
	for name, x := range map[string]float32{"nothing": 0, "a constant": 3} {
		for i := range n {
			lips[i], valley[i], dips[i] = x, x, x
		}
		for i, v := range openings(lips, valley, dips) {
			if v != 0 {
				t.Fatalf("%s: frame %d opens by %g", name, i, v)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	for _, c := range []struct{ x, want []float32 }{
		{nil, nil},
		{[]float32{5}, []float32{0}},
		{[]float32{3, 1, 2}, []float32{1, 0, .5}},
		{[]float32{1, 1, 0}, []float32{.5, 1, 0}}, // the first of two that are the same is lower
	} {
		got := ranks(c.x)
		for i, want := range c.want {
			if got[i] != want {
				t.Errorf("of %v: got %v, want %v", c.x, got, c.want)
				break
			}
		}
	}
}
