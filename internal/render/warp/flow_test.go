package warp

import (
	"image"
	"slices"
	"testing"

	"lipsync/internal/render/engine"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// TestFlow checks the frames around a jump from one example to another. The mouth of the second one is
// at another place and has other lips. The painted mouth must stay at the place of the frame's own, and
// the frames before and after the jump must show both examples, in one outline.
func TestFlow(t *testing.T) {
	talker := talkingTrack(t, 80)
	for i := 40; i < 80; i++ {
		talker.change(t, i, func(o *observation) {
			m := &o.lips
			*m = tiltedLips(max(m.gap(), .1), .05, -.02)
			m.left.X, m.right.X = m.left.X+.04, m.right.X+.04
			for k := range m.top {
				m.top[k], m.bottom[k] = m.top[k]-.03, m.bottom[k]+.06
			}
		})
	}
	p := talker.person
	p.chooser = p.newChooser()
	want := talker.observations(t)[0].lips
	var targets []target
	err := p.flow(fps, 40, func(i int) (wanted, error) {
		w := wanted{own: observation{lips: want}}
		w.target = target{track: talker, example: i, shape: shape{width: .8, upper: 1, lower: 1}}
		if i >= 20 {
			w.example = i + 30
		}
		switch i {
		case 19:
			w.shape.gap = .1
		case 20:
			w.shape.gap = .2
		}
		return w, nil
	}, func(next *target) error {
		targets = append(targets, *next)
		return nil
	})
	check.Must(t, err)
	for i, r := range targets {
		m := p.bank.examples[r.example].shown
		if x := m.middle() + r.shape.shift.X; abs(x-want.middle()) > 1e-3 {
			t.Errorf("frame %d: the mouth lies at %.3f, the frame's own at %.3f", i, x, want.middle())
		}
		if edges := edgesAfter(r, r.example, r.shape); r.shape.gap == 0 && abs(edges[2]-want.level()) > 1e-3 {
			t.Errorf("frame %d: lips meet at %.3f, the frame's own at %.3f", i, edges[2], want.level())
		}
		if s := r.shape; (i < 10 || i >= 30) && max(abs(s.upper-1), abs(s.lower-1), abs(s.left), abs(s.right)) > 1e-3 {
			t.Errorf("frame %d, far from the jump: %+v", i, s)
		}
		if r.share > 0 {
			if got, want := edgesAfter(r, r.other, r.otherShape), edgesAfter(r, r.example, r.shape); !close(got, want, .004) {
				t.Errorf("frame %d: the edges of the lips lie at\n%.3f in one example,\n%.3f in the other", i, want, got)
			}
		}
		if got, want := r.share > 0, i == 19 || i == 20; got != want {
			t.Errorf("frame %d: shows two examples: %t, want %t", i, got, want)
		}
	}
	if targets[19].other != targets[20].example || targets[20].other != targets[19].example {
		t.Errorf("around the jump from %d to %d: also %d and %d", targets[19].example, targets[20].example, targets[19].other, targets[20].other)
	}
}

// edgesAfter returns the y of the edges of an example's lips in a shape: from top to bottom in the middle
// of the mouth, and then beside its left and right corner.
func edgesAfter(t target, example int, s shape) (y []float32) {
	m := &t.track.person.bank.examples[example].shown.lips
	y = append(y, newColumn(m, s, m.middle()+s.shift.X).to[1:5]...)
	for _, side := range []float32{-1.001, 1.001} {
		y = append(y, newColumn(m, s, m.middle()+s.shift.X+side*s.width/2).to[1])
	}
	return y
}

func close(a, b []float32, most float32) bool {
	return slices.EqualFunc(a, b, func(a, b float32) bool { return abs(a-b) <= most })
}

// TestBlend mixes two mouths that cover different places.
func TestBlend(t *testing.T) {
	area := image.Rect(0, 0, 4, 2)
	frame := image.NewYCbCr(area, image.YCbCrSubsampleRatio420)
	fill := func(luma uint8, alpha ...uint8) engine.Mouth {
		m := engine.Mouth{Image: image.NewYCbCr(area, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(area)}
		for i := range m.Image.Y {
			m.Image.Y[i], frame.Y[i] = luma, 40
		}
		copy(m.Mask.Pix, alpha)
		return m
	}
	m, other := fill(100, 255, 255, 0, 0), fill(200, 255, 0, 255, 0)
	blend(&m, other, frame, .25)
	if got, want := m.Image.Y[:3], []uint8{125, 85, 80}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d: both, the first, the second", got, want)
	}
	if got, want := m.Mask.Pix[:4], []uint8{255, 255, 255, 0}; !slices.Equal(got, want) {
		t.Errorf("mask %d, want %d", got, want)
	}
}

// TestShapes checks the shapes of a mouth for articulations.
func TestShapes(t *testing.T) {
	m := someLips(0)
	p := &person{most: .2}
	of := func(a speech.Articulation) shape { return p.shape(a, m.width()) }
	rest, vowel := of(speech.Rest), of(speech.Articulation{Opening: 1})
	closed := of(speech.Articulation{Opening: .8, Closure: 1})
	teeth := of(speech.Articulation{Opening: .8, Labiodental: 1})
	doubtful := of(speech.Articulation{Opening: .8, Labiodental: .5})
	round, spread := of(speech.Articulation{Opening: .5, Rounding: 1}), of(speech.Articulation{Opening: .5, Spread: 1})
	for name, ok := range map[string]bool{
		"a vowel opens all the way":                   vowel.gap == p.most,
		"silence closes a mouth":                      rest.gap == 0,
		"closed lips touch":                           closed.gap == 0,
		"closed lips are pressed together":            closed.roll > 0,
		"the lower lip is at the teeth":               teeth.gap < .15*p.most && teeth.gap > 0 && teeth.tuck == 1,
		"a lip that may be at the teeth hardly rises": doubtful.gap > .75*.8*p.most && doubtful.tuck < .3,
		"a rounded mouth is narrower than at rest":    round.width < rest.width && round.upper > 1 && round.lower > 1,
		"a spread mouth is wider":                     spread.width > rest.width,
	} {
		if !ok {
			t.Error(name, "doesn't hold")
		}
	}
	noise := speech.Articulation{Silence: 1, Spread: .2, Closure: .9, Rounding: .1}
	if got, want := of(noise), of(speech.Rest); got != want {
		t.Errorf("noise without speech gives the shape %+v, want %+v", got, want)
	}
	if got := of(speech.Articulation{Silence: .7, Closure: 1}); got.gap != 0 {
		t.Errorf("a closure after a pause leaves a gap of %.3f", got.gap)
	}
}

// TestSmileRounds checks that a smiling mouth that rounds becomes as narrow as another mouth, and that its
// corners come down. In other sounds the smile is kept.
func TestSmileRounds(t *testing.T) {
	p := &person{most: .2}
	round, open := speech.Articulation{Opening: .5, Rounding: 1}, speech.Articulation{Opening: .5}
	neutral, smile := p.shape(round, unsmiling), p.shape(round, 1.05)
	if smile.width != neutral.width {
		t.Errorf("a rounded smile is %.2f wide, another mouth %.2f", smile.width, neutral.width)
	}
	if got := p.shape(open, 1.05).width; got != 1.05 {
		t.Errorf("a smile that doesn't round is %.2f wide, want 1.05", got)
	}
	m := tiltedLips(.1, .1, .1)
	for _, c := range []struct {
		shape shape
		want  float32
	}{{p.shape(open, m.width()), m.left.Y}, {p.shape(round, m.width()), m.level()}} {
		o := outlineOf(&m, &m, c.shape.gap)
		s := o.give(&m, c.shape)
		for _, side := range []float32{-1.001, 1.001} {
			if got := newColumn(&m, s, m.middle()+side*s.width/2).to[1]; abs(got-c.want) > .002 {
				t.Errorf("rounded by %g: a corner lies at %.3f, want %.3f", s.flat, got, c.want)
			}
		}
	}
}

// TestClosures lets a head talk with closures of a single frame each. Its lips touch in these.
func TestClosures(t *testing.T) {
	for name, head := range map[string]func(int) facetest.Head{"at rest": atRest, "talking": talking} {
		s := &scene{}
		s.draw(0, 60, head)
		said := make([]speech.Articulation, 60)
		for i := range said {
			said[i] = speech.Articulation{Opening: .8}
			if i%10 == 5 {
				said[i] = speech.Articulation{Closure: 1}
			}
		}
		_, p := s.plan(t, said)
		for i := 5; i < 55; i++ {
			got := gap(s.show(t, p, i), head(i))
			if closed := i%10 == 5; closed && got > .055 || i%10 == 0 && got < .09 {
				t.Errorf("%s, frame %d: a gap of %.3f", name, i, got)
			}
		}
	}
}

// TestFlowInParts plans more frames than flow at once, at a usual rate and at one at which a frame is longer than the filter of outlines. Each outline
// is what it is if all are filtered in one piece.
func TestFlowInParts(t *testing.T) {
	const n = 2*windowFrames + 9
	talker := talkingTrack(t, 80)
	p := talker.person
	p.chooser = p.newChooser()
	at := func(i int) (wanted, error) {
		w := wanted{own: observation{lips: tiltedLips(.1*float32(i%3), .01*float32(i%7), .02*float32(i%5))}}
		w.target = target{track: talker, example: (i + i/17*31) % 80, shape: shape{gap: .01 * float32(i%9), width: .8, upper: 1, lower: 1}}
		return w, nil
	}
	for _, rate := range []float64{fps, 1} {
		all := make([]flowing, n)
		for i := range all {
			w, _ := at(i)
			all[i] = flowing{target: w.target, asked: w.shape, outline: outlineOf(&w.own.lips, &p.bank.examples[w.example].shown.lips, w.shape.gap)}
			if i == 0 {
				all[i].split(nil, false)
			} else {
				all[i].split(&all[i-1], p.chooser.jumps(all[i-1].example, w.example))
			}
		}
		whole := filterSteps(all, flowSeconds*rate, 0, n)
		i, jumps := 0, 0
		check.Must(t, p.flow(rate, n, at, func(got *target) error {
			all[i].outline = whole[i]
			if want := p.place(&all[i], got.example); got.shape != want {
				t.Fatalf("%g frames/s, frame %d: got %+v, want %+v", rate, i, got.shape, want)
			}
			if got.share > 0 {
				jumps++
			}
			i++
			return nil
		}))
		if i != n || jumps < n/17 {
			t.Errorf("%g frames/s: %d targets of %d frames, %d at jumps", rate, i, n, jumps)
		}
	}
}
