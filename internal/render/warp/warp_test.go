package warp

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/facetest"
)

// atRest is a head whose mouth stays closed.
func atRest(i int) facetest.Head {
	return facetest.Head{X: 160 + 3*math.Sin(float64(i)/9), Y: 110, Eyes: 60}
}

// talking is the same head with a mouth that opens and closes.
func talking(i int) facetest.Head {
	h := atRest(i)
	h.Open = max(.16*math.Sin(float64(i)*.8)+.08, 0)
	return h
}

// TestMouthFollowsSpeech measures the gaps of a head at rest, whose own mouth is warped, and of a head
// that talks, which gets mouths of its other frames.
func TestMouthFollowsSpeech(t *testing.T) {
	for _, c := range []struct {
		name   string
		head   func(int) facetest.Head
		speaks bool
	}{{"at rest", atRest, false}, {"talking", talking, true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{}
			s.draw(0, 100, c.head)
			loud := []bool{false, true, false, false, true, true, false, true}
			a, p := s.plan(t, openIn(100, loud...))
			if got := a.tracks[0].person.speaks; got != c.speaks {
				t.Fatalf("speaks in the source: got %t, want %t", got, c.speaks)
			}
			for i := 3; i < 100; i++ {
				half, inside := 2*i/fps, math.Mod(2*float64(i)/fps, 1) // of a half second
				if inside < .4 || inside > .75 {
					continue // lips move
				}
				got, source := gap(s.show(t, p, i), c.head(i)), gap(s.frames[i], c.head(i))
				if loud[half] && got < .09 || !loud[half] && got > .055 {
					t.Errorf("frame %d, loud %t: a gap of %.3f, in the source %.3f", i, loud[half], got, source)
				}
			}
		})
	}
}

// TestSilenceLeavesAStillAlone checks that a still video with closed lips doesn't change in silence.
func TestSilenceLeavesAStillAlone(t *testing.T) {
	s := &scene{}
	s.draw(0, 25, func(int) facetest.Head { return atRest(0) })
	_, p := s.plan(t, openIn(25, false, false))
	for _, i := range []int{0, 12, 24} {
		if got := s.show(t, p, i); !slices.Equal(got.Y, s.frames[i].Y) || !slices.Equal(got.Cr, s.frames[i].Cr) {
			t.Errorf("frame %d changes", i)
		}
	}
}

// TestOddFaces checks faces that are hardly in the frame. There must be no error, and painted mouths must
// stay in the frame.
func TestOddFaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	here := func(h facetest.Head) func(int) facetest.Head { return func(int) facetest.Head { return h } }
	for name, c := range map[string]struct {
		frames int
		head   func(int) facetest.Head
		points func(p detection.Landmarks) detection.Landmarks
	}{
		"one frame":               {1, atRest, nil},
		"two frames":              {2, atRest, nil},
		"tiny":                    {12, here(facetest.Head{X: 150, Y: 100, Eyes: 9}), nil},
		"large":                   {4, here(facetest.Head{X: 160, Y: 60, Eyes: 200}), nil},
		"at the left edge":        {50, here(facetest.Head{X: 5, Y: 100, Eyes: 60}), nil},
		"at the right edge":       {50, here(facetest.Head{X: 318, Y: 100, Eyes: 60}), nil},
		"mouth at the lower edge": {50, here(facetest.Head{X: 160, Y: 230, Eyes: 60}), nil},
		"mouth below the frame":   {50, here(facetest.Head{X: 160, Y: 290, Eyes: 60}), nil},
		"talking below the frame": {80, func(i int) facetest.Head {
			return facetest.Head{X: 160, Y: 200 + float64(i), Eyes: 60, Open: talking(i).Open}
		}, nil},
		"talking past the edge": {80, func(i int) facetest.Head {
			return facetest.Head{X: 60 - float64(i), Y: 100, Eyes: 60, Open: talking(i).Open}
		}, nil},
		"upside down":              {12, here(facetest.Head{X: 160, Y: 150, Eyes: 60, Turn: math.Pi}), nil},
		"passing through the edge": {60, func(i int) facetest.Head { return facetest.Head{X: 10 * float64(i-10), Y: 100, Eyes: 50} }, nil},
		"a mouth without width": {12, atRest, func(p detection.Landmarks) detection.Landmarks {
			p[detection.RightCorner] = p[detection.LeftCorner]
			return p
		}},
		"corners the wrong way round": {12, atRest, func(p detection.Landmarks) detection.Landmarks {
			p[detection.RightCorner], p[detection.LeftCorner] = p[detection.LeftCorner], p[detection.RightCorner]
			return p
		}},
		"lips the wrong way round": {12, atRest, func(p detection.Landmarks) detection.Landmarks {
			p[detection.UpperLip], p[detection.LowerLip] = p[detection.LowerLip], p[detection.UpperLip]
			return p
		}},
		"all points in one": {12, atRest, func(p detection.Landmarks) detection.Landmarks {
			for k := range p {
				p[k] = p[0]
			}
			return p
		}},
		"points anywhere": {60, atRest, func(p detection.Landmarks) detection.Landmarks {
			for k := range p {
				p[k] = geom.Point{X: width * r.Float32(), Y: height * r.Float32()}
			}
			return p
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &scene{}
			s.draw(0, c.frames, c.head)
			if c.points != nil {
				for i := range s.faces {
					s.faces[i][0].Landmarks = c.points(s.faces[i][0].Landmarks)
				}
			}
			_, p := s.plan(t, openIn(c.frames, true, false, true, true, true))
			for i := range s.frames {
				s.show(t, p, i)
			}
		})
	}
}

// TestPlans checks output frames without a speaker, with an unknown one, and with one who was missed.
func TestPlans(t *testing.T) {
	s := &scene{}
	s.draw(0, 30, atRest)
	for _, i := range []int{10, 11} {
		s.faces[i] = nil
	}
	speaker := []int{-1, 7, 0}
	p, err := s.analyse(t).Plan(t.Context(), engine.Output{
		Frames: 90, Spoken: openIn(90, true, true, true, true),
		Source:  func(i int) int { return i % 30 },
		Speaker: func(source int) int { return speaker[source/5%3] },
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 90 {
		mouths, err := p.Paint(t.Context(), i, s.frames[i%30])
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if speaker[i%30/5%3] == 0 {
			want = 1 // in frames 10 and 11 too: a missed face lies between its neighbours
		}
		if len(mouths) != want {
			t.Errorf("frame %d: got %d mouths, want %d", i, len(mouths), want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	talker := &scene{}
	talker.draw(0, 80, talking)
	a, _ := talker.plan(t, openIn(80, true))
	if err := a.tracks[0].plan(ctx, fps, make([]speech.Articulation, 80), func(i int) int { return i }, func(*target) error { return nil }); err == nil {
		t.Error("a cancelled plan goes on")
	}
}

// TestNothingCrossesACut moves the head at a cut. Smoothing with the old shot must not move the faces
// of the new shot.
func TestNothingCrossesACut(t *testing.T) {
	s := &scene{}
	left := func(i int) facetest.Head { return facetest.Head{X: 110, Y: 110, Eyes: 50} }
	right := func(i int) facetest.Head { return facetest.Head{X: 200, Y: 120, Eyes: 60} }
	s.draw(0, 20, left)
	s.draw(1, 20, right)
	a, p := s.plan(t, openIn(40, false, false, true, true))
	targets := p.all(t)
	for i := range 40 {
		if loud := i > 25; (i < 24 || i > 27) && (targets[i].shape.Gap > .08) != loud {
			t.Errorf("frame %d: is to open by %.2f, loud: %t", i, targets[i].shape.Gap, loud)
		}
		track, h := a.tracks[i/20], left(i)
		if i >= 20 {
			h = right(i)
		}
		got := track.observations(t)[i-track.first].To.Apply(geom.Point{X: 1.2, Y: .45}) // between the pupils
		if d := math.Hypot(float64(got.X)-h.X, float64(got.Y)-h.Y); d > 1 {
			t.Errorf("frame %d: the face is %.1f pixels off", i, d)
		}
	}
}

// TestConcurrentMouths paints all frames at once, and one after the other by a second plan. The mouths
// must be the same.
func TestConcurrentMouths(t *testing.T) {
	s := &scene{}
	s.draw(0, 60, talking)
	_, p := s.plan(t, openIn(60, true, false, true))
	_, again := s.plan(t, openIn(60, true, false, true))
	at := make([]engine.Mouth, len(s.frames))
	var all sync.WaitGroup
	for i, f := range s.frames {
		all.Go(func() {
			if m, err := p.Paint(t.Context(), i, f); err == nil && len(m) == 1 {
				at[i] = m[0]
			}
		})
	}
	all.Wait()
	for i, f := range s.frames {
		before := slices.Clone(f.Y)
		m, err := again.Paint(t.Context(), i, f)
		if err != nil || len(m) != 1 {
			t.Fatalf("frame %d: %d mouths, %v", i, len(m), err)
		}
		if !slices.Equal(before, f.Y) {
			t.Errorf("frame %d is painted on", i)
		}
		if !same(m[0], at[i]) {
			t.Errorf("frame %d differs", i)
		}
	}
}

func same(a, b engine.Mouth) bool {
	return a.Image != nil && b.Image != nil && a.Image.Rect == b.Image.Rect && slices.Equal(a.Image.Y, b.Image.Y) &&
		slices.Equal(a.Image.Cb, b.Image.Cb) && slices.Equal(a.Image.Cr, b.Image.Cr) && slices.Equal(a.Mask.Pix, b.Mask.Pix)
}

// TestTiltedHead closes the mouth of a head that tilts at the end, with its mouth open. The closed mouths,
// which are from earlier frames, must be at the place of the tilted head's own mouth.
func TestTiltedHead(t *testing.T) {
	tilting := func(i int) facetest.Head {
		h := talking(i)
		if i >= 75 {
			h.Open, h.Tilt = .2, .12
		}
		return h
	}
	s := &scene{}
	s.draw(0, 100, tilting)
	_, p := s.plan(t, openIn(100, true, true, false, false))
	for i := 80; i < 95; i++ {
		want := tilting(i)
		want.Open = 0
		got := unlike(s.show(t, p, i), facetest.Frame(width, height, want), want)
		if source := unlike(s.frames[i], facetest.Frame(width, height, want), want); got > source/3 {
			t.Errorf("frame %d: %.1f grey levels from a closed mouth, %.1f in the source", i, got, source)
		}
	}
}

// unlike returns the mean difference of luma around the mouth of a head.
func unlike(a, b *image.YCbCr, h facetest.Head) float64 {
	var sum, n float64
	for v := .8; v < 1.5; v += .02 {
		for u := -.4; u < .4; u += .02 {
			x, y := h.At(u, v)
			at := a.YOffset(int(x+.5), int(y+.5))
			sum += math.Abs(float64(a.Y[at]) - float64(b.Y[at]))
			n++
		}
	}
	return sum / n
}
