package warp

import (
	"testing"

	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// TestFlow checks the frames around a jump from one example to another. The mouth of the second one is
// at another place and has other lips. The painted mouth must stay at the place of the frame's own, and
// the frames before and after the jump must show both examples.
func TestFlow(t *testing.T) {
	talker := talkingTrack(t, 80)
	for i := 40; i < 80; i++ {
		talker.change(t, i, func(o *mouth.Observation) {
			m := &o.Lips
			*m = tiltedLips(max(m.Gap(), .1), .05, -.02)
			m.Left.X, m.Right.X = m.Left.X+.04, m.Right.X+.04
			for k := range m.Top {
				m.Top[k], m.Bottom[k] = m.Top[k]-.03, m.Bottom[k]+.06
			}
		})
	}
	p := talker.person
	p.chooser = p.newChooser()
	want := talker.observations(t)[0].Lips
	var targets []target
	err := p.flow(fps, 40, func(i int) (wanted, error) {
		w := wanted{own: mouth.Observation{Lips: want}}
		w.target = target{track: talker, example: i, shape: mouth.Shape{Width: .8, Upper: 1, Lower: 1}}
		if i >= 20 {
			w.example = i + 30
		}
		switch i {
		case 19:
			w.shape.Gap = .1
		case 20:
			w.shape.Gap = .2
		}
		return w, nil
	}, func(next *target) error {
		targets = append(targets, *next)
		return nil
	})
	check.Must(t, err)
	for i, r := range targets {
		m := p.bank.examples[r.example].Shown
		if x := m.Middle() + r.shape.Shift.X; abs(x-want.Middle()) > 1e-3 {
			t.Errorf("frame %d: the mouth lies at %.3f, the frame's own at %.3f", i, x, want.Middle())
		}
		if s := r.shape; (i < 10 || i >= 30) && max(abs(s.Upper-1), abs(s.Lower-1), abs(s.Left), abs(s.Right)) > 1e-3 {
			t.Errorf("frame %d, far from the jump: %+v", i, s)
		}
		if got, want := r.share > 0, i == 19 || i == 20; got != want {
			t.Errorf("frame %d: shows two examples: %t, want %t", i, got, want)
		}
	}
	if targets[19].other != targets[20].example || targets[20].other != targets[19].example {
		t.Errorf("around the jump from %d to %d: also %d and %d", targets[19].example, targets[20].example, targets[19].other, targets[20].other)
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
// is what it is if all are filtered in one piece, and both examples that a frame shows get it.
func TestFlowInParts(t *testing.T) {
	const n = 2*windowFrames + 9
	talker := talkingTrack(t, 80)
	p := talker.person
	p.chooser = p.newChooser()
	at := func(i int) (wanted, error) {
		w := wanted{own: mouth.Observation{Lips: tiltedLips(.1*float32(i%3), .01*float32(i%7), .02*float32(i%5))}}
		w.target = target{track: talker, example: (i + i/17*31) % 80, shape: mouth.Shape{Gap: .01 * float32(i%9), Width: .8, Upper: 1, Lower: 1}}
		return w, nil
	}
	for _, rate := range []float64{fps, 1} {
		all := make([]flowing, n)
		for i := range all {
			w, _ := at(i)
			all[i] = flowing{target: w.target, asked: w.shape, Outline: mouth.OutlineOf(&w.own.Lips, &p.bank.examples[w.example].Shown.Lips, w.shape.Gap)}
			if i == 0 {
				all[i].split(nil, false)
			} else {
				all[i].split(&all[i-1], p.chooser.jumps(all[i-1].example, w.example))
			}
		}
		whole := filterSteps(all, flowSeconds*rate, 0, n)
		i, jumps := 0, 0
		check.Must(t, p.flow(rate, n, at, func(got *target) error {
			all[i].Outline = whole[i]
			if want := p.place(&all[i], got.example); got.shape != want {
				t.Fatalf("%g frames/s, frame %d: got %+v, want %+v", rate, i, got.shape, want)
			}
			if got.share > 0 {
				if want := p.place(&all[i], got.other); got.otherShape != want {
					t.Fatalf("%g frames/s, frame %d: the other example gets %+v, want %+v", rate, i, got.otherShape, want)
				}
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
