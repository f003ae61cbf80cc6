package warp

import (
	"image"
	"slices"
	"testing"

	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// closer is the talking head in another shot, larger and at other moments.
func closer(i int) facetest.Head {
	h := talking(i + 11)
	h.X, h.Y, h.Eyes = h.X+20, h.Y-15, 72
	return h
}

// disguise makes another person of a drawn head, by dark brows across the nose.
func disguise(f *image.YCbCr, h facetest.Head) {
	for u := -.7; u < .7; u += .005 {
		for v := -.45; v < -.2; v += .005 {
			x, y := h.At(u, v)
			f.Y[f.YOffset(int(x), int(y))] = 40
		}
	}
}

// TestPeople checks which tracks are recognised as those of one person.
func TestPeople(t *testing.T) {
	for _, c := range []struct {
		name string
		draw func(s *scene)
		want []int // person of each track
	}{
		{"two shots of one", func(s *scene) {
			s.draw(0, 25, talking)
			s.draw(1, 25, closer)
		}, []int{0, 0}},
		{"another one between", func(s *scene) {
			s.draw(0, 25, talking)
			s.draw(1, 25, closer)
			for i := range 25 {
				disguise(s.frames[25+i], closer(i))
			}
			s.draw(2, 25, talking)
		}, []int{0, 1, 0}},
		{"two at once", func(s *scene) {
			s.draw(0, 25, talking)
			for i := range s.faces {
				twin := s.faces[i][0]
				twin.Track = 1
				s.faces[i] = append(s.faces[i], twin)
			}
		}, []int{0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{}
			c.draw(s)
			a := s.analyse(t)
			for track, want := range c.want {
				if got := slices.Index(a.order, a.tracks[track].person); got != want {
					t.Errorf("track %d: got person %d, want %d", track, got, want)
				}
			}
		})
	}
}

// TestShortShots checks that a person who talks in shots of a second is shown with examples of all
// shots, and that the person's lips touch in silence.
func TestShortShots(t *testing.T) {
	s := &scene{}
	heads := []func(int) facetest.Head{talking, closer, talking, closer}
	for track, head := range heads {
		s.draw(track, 25, head)
	}
	_, p := s.plan(t, openIn(100, false, false, false, false, true, true, false, false))
	foreign, targets := 0, p.all(t)
	for i := 3; i < 100; i++ {
		r := targets[i]
		if r.example < 0 {
			t.Fatalf("frame %d: keeps its own mouth", i)
		}
		if r.track.person.bank.examples[r.example].track != r.track {
			foreign++
		}
		if i%25 < 3 || i > 45 && i < 80 {
			continue // lips move, or are open
		}
		if got := gap(s.show(t, p, i), heads[i/25](i%25)); got > .055 {
			t.Errorf("frame %d: a gap of %.3f in silence", i, got)
		}
	}
	if foreign == 0 {
		t.Error("no shot shows a mouth of another one")
	}
}

// TestRestIsNoGap checks that the lips of a mouth that never opens touch, although their edges are read some millimetres apart.
func TestRestIsNoGap(t *testing.T) {
	s := &scene{}
	s.draw(0, 10, atRest)
	for _, faces := range s.faces {
		for i := range faces[0].Lips.Inner.Lower {
			faces[0].Lips.Inner.Lower[i].Y += 2
		}
	}
	a, _ := s.plan(t, openIn(10))
	for i, o := range a.tracks[0].observations(t) {
		if o.Gap() != 0 {
			t.Errorf("frame %d: a gap of %.3f", i, o.Gap())
		}
	}
}

// TestLends opens mouths in a talk. If open mouths are sharp, one lends its inside, which is dark. No blurred one does: then there are teeth.
func TestLends(t *testing.T) {
	s := &scene{}
	s.draw(0, 80, talking)
	dark := map[bool]float64{}
	for _, sharp := range []bool{true, false} {
		a := s.analyse(t)
		p := a.order[0]
		for i := range p.bank.examples {
			e := &p.bank.examples[i]
			o, err := e.track.frame(e.frame)
			check.Must(t, err)
			if !sharp && o.Gap() > .09 { // which is below mouth.leastInside and the rest gap together
				e.sharp = 0
			}
		}
		_, painter := s.planOf(t, a, openIn(80, true))
		for i := 4; i < 10; i++ {
			dark[sharp] += gap(s.show(t, painter, i), talking(i)) / 6
		}
	}
	if dark[false] > dark[true]-.03 {
		t.Errorf("dark height %.3f with the inside of an example, %.3f without", dark[true], dark[false])
	}
}
