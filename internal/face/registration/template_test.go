package registration

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

var (
	grid = Grid{Left: -.75, Top: -.3, Scale: 24, Width: 36, Height: 24}
	// face brings the canonical face to the middle of a frame: pupils 60 pixels apart,
	// a little turned.
	face = geom.Similarity{A: 59, B: 11, X: 160, Y: 120}
)

// scene is a picture of smooth noise that lies in a frame as a face does.
type scene struct {
	seed       uint64
	face       geom.Similarity
	motion     Motion
	gain, bias float32
	hand       float32 // share of the grid's width that a flat block covers
}

// crop returns the scene in a frame of 320 × 240 pixels.
func (s scene) crop() *pixels.Crop {
	frame := image.NewYCbCr(image.Rect(0, 0, 320, 240), image.YCbCrSubsampleRatio420)
	c := s.face.Apply(grid.centre())
	around := pixels.Even(image.Rect(int(c.X)-80, int(c.Y)-80, int(c.X)+80, int(c.Y)+80)).Intersect(frame.Rect)
	texture := newTexture(s.seed)
	toCanonical := s.face.Inverse()
	toStill := grid.Similarity(s.motion).Then(s.face).Inverse()
	handEnd := grid.Left + s.hand*float32(grid.Width)/grid.Scale
	for y := around.Min.Y; y < around.Max.Y; y++ {
		for x := around.Min.X; x < around.Max.X; x++ {
			q := geom.Point{X: float32(x), Y: float32(y)}
			v := 120 + 25*texture.at(toStill.Apply(q))
			if s.hand > 0 && toCanonical.Apply(q).X < handEnd {
				v = 210
			}
			frame.Y[frame.YOffset(x, y)] = uint8(min(max(s.gain*v+s.bias, 0), 255) + .5)
		}
	}
	return pixels.NewCrop(frame, around, s.face.Scale())
}

// texture is a sum of waves: smooth, and different everywhere.
type texture [16]struct{ x, y, phase float64 }

func newTexture(seed uint64) (t texture) {
	r := rand.New(rand.NewPCG(seed, 7))
	for i := range t {
		sin, cos := math.Sincos(2 * math.Pi * r.Float64())
		rate := 2 * math.Pi / (.35 + .9*r.Float64()) // a canonical unit
		t[i].x, t[i].y, t[i].phase = rate*cos, rate*sin, 2*math.Pi*r.Float64()
	}
	return t
}

// at returns a value whose deviation is about 1.
func (t texture) at(p geom.Point) (sum float32) {
	for _, w := range t {
		sum += float32(math.Sin(w.x*float64(p.X)+w.y*float64(p.Y)+w.phase)) * .35
	}
	return sum
}

// templateOf returns the template of the scene when nothing has moved.
func templateOf(s scene) *Template {
	still := scene{seed: s.seed, face: s.face, gain: 1}
	pix := make([]float32, grid.Width*grid.Height)
	grid.Sample(pix, still.crop(), s.face)
	return NewTemplate(grid, pix)
}

// farOff returns the largest distance between the places of a corner of the grid after both motions, canonical.
func farOff(got, want Motion) (most float32) {
	a, b := grid.Similarity(got), grid.Similarity(want)
	for _, p := range []geom.Point{grid.Place(0, 0), grid.Place(grid.Width-1, 0), grid.Place(0, grid.Height-1), grid.Place(grid.Width-1, grid.Height-1)} {
		most = max(most, geom.Distance(a.Apply(p), b.Apply(p)))
	}
	return most
}

// TestRegister moves, brightens and covers a picture, and finds its motion.
func TestRegister(t *testing.T) {
	const exact = .002 // canonical: an eighth of a pixel of the frame
	together := Motion{.05, -.04, .04, -.05}
	type check struct {
		name  string
		s     scene
		far   float32 // that a corner of the grid may be in another place, canonical
		match float32 // NCC at least
	}
	checks := []check{
		{"still", scene{gain: 1, face: face}, 1e-5, .9999},
		{"with more contrast", scene{motion: together, gain: 1.4, bias: -40, face: face}, exact, .99},
		{"with less contrast", scene{motion: together, gain: .6, bias: 70, face: face}, exact, .99},
		{"a hand over a fifth", scene{motion: together, gain: 1, hand: .2, face: face}, .025, .5},
	}
	for _, size := range []float32{-.115, -.04, .08, .115} {
		checks = append(checks,
			check{"to the right", scene{motion: Motion{size}, gain: 1, face: face}, exact, .99},
			check{"down", scene{motion: Motion{1: size}, gain: 1, face: face}, exact, .99},
			check{"growth", scene{motion: Motion{2: size}, gain: 1, face: face}, exact, .99},
			check{"turn", scene{motion: Motion{3: size}, gain: 1, face: face}, exact, .99},
			check{"all", scene{motion: Motion{size, size, size, size}, gain: 1, face: face}, exact, .99},
			check{"all, in turns", scene{motion: Motion{.7 * size, -.7 * size, .7 * size, -.7 * size}, gain: 1, face: face}, exact, .99})
	}
	for name, at := range map[string]geom.Point{
		"left edge": {X: 42, Y: 120}, "right edge": {X: 275, Y: 120}, "top": {X: 160, Y: 10}, "bottom": {X: 160, Y: 214}, "corner": {X: 42, Y: 12},
	} {
		checks = append(checks, check{name, scene{motion: together, gain: 1, face: geom.Similarity{A: 59, B: 11, X: at.X, Y: at.Y}}, .015, .98})
	}
	for _, c := range checks {
		for c.s.seed = range 3 {
			got, match, ok := templateOf(c.s).Register(c.s.crop(), c.s.face)
			if off := farOff(got, c.s.motion); !ok || off > c.far || !(match >= c.match && match < 1.001) {
				t.Errorf("%s, picture %d: got %.4v (%t, NCC %.4f), want %v: %.4f off, want %g", c.name, c.s.seed, got, ok, match, c.s.motion, off, c.far)
			}
		}
	}
}

// TestRegisterNowhere registers to a picture that moved too far, or that isn't in the frame.
func TestRegisterNowhere(t *testing.T) {
	for seed := range uint64(3) {
		template := templateOf(scene{seed: seed, face: face})
		for _, size := range []float32{.14, -.14, .3, -.3} {
			for i := range len(Motion{}) {
				s := scene{seed: seed, gain: 1, face: face}
				s.motion[i] = size
				if m, match, ok := template.Register(s.crop(), face); ok && match > .8 {
					t.Errorf("picture %d moved by %v: got %v, NCC %g, want none", seed, s.motion, m, match)
				}
			}
		}
		s := scene{seed: seed + 50, gain: 1, face: face}
		if m, match, ok := template.Register(s.crop(), face); ok && match > .5 {
			t.Errorf("picture %d in another: got %v, NCC %g, want none", seed, m, match)
		}
	}
}

// TestRegisterFlat registers with a picture that shows nothing.
func TestRegisterFlat(t *testing.T) {
	picture := scene{gain: 1, face: face}
	flat := scene{bias: 120, face: face}
	pix := make([]float32, grid.Width*grid.Height)
	for name, value := range map[string]float32{"black": 0, "grey": 120.3} {
		for i := range pix {
			pix[i] = value
		}
		for _, s := range []scene{picture, flat} {
			if m, match, ok := NewTemplate(grid, pix).Register(s.crop(), face); ok && !(match < .1) {
				t.Errorf("%s template: got %v, NCC %g, want none", name, m, match)
			}
		}
	}
	if m, match, ok := templateOf(picture).Register(flat.crop(), face); ok && !(match < .1) {
		t.Errorf("flat crop: got %v, NCC %g, want none", m, match)
	}
}

func TestSimilarity(t *testing.T) {
	if got := grid.Similarity(Motion{}); got != (geom.Similarity{A: 1}) {
		t.Errorf("no motion: got %+v, want the identity", got)
	}
	c := grid.centre()
	right := geom.Point{X: c.X + 1, Y: c.Y}
	for _, m := range []struct {
		Motion
		from, want geom.Point
	}{
		{Motion{.1, -.05}, right, geom.Point{X: c.X + 1.1, Y: c.Y - .05}},
		{Motion{2: .1}, right, geom.Point{X: c.X + 1.1, Y: c.Y}},
		{Motion{3: .1}, right, geom.Point{X: c.X + 1, Y: c.Y + .1}}, // clockwise, as y is down
		{Motion{.1, 0, .1, .1}, c, geom.Point{X: c.X + .1, Y: c.Y}},
	} {
		if got := grid.Similarity(m.Motion).Apply(m.from); geom.Distance(got, m.want) > 1e-5 {
			t.Errorf("%v: got %v, want %v", m.Motion, got, m.want)
		}
	}
}

// TestSample compares the grid's values with those of the crop at the same places.
func TestSample(t *testing.T) {
	crop := scene{gain: 1, face: face}.crop()
	pix := make([]float32, grid.Width*grid.Height)
	grid.Sample(pix, crop, face)
	for y := range grid.Height {
		for x := range grid.Width {
			want := crop.Soft(face.Apply(grid.Place(x, y)))
			if got := pix[y*grid.Width+x]; !(got > want-.05 && got < want+.05) {
				t.Fatalf("at %d, %d: got %g, want %g", x, y, got, want)
			}
		}
	}
	first, last := grid.Place(0, 0), grid.Place(grid.Width-1, grid.Height-1)
	if got := first.Lerp(last, .5); geom.Distance(got, grid.centre()) > 1e-5 {
		t.Errorf("the middle of the grid: got %v, want %v", got, grid.centre())
	}
	if want := (geom.Point{X: -.75 + .5/24, Y: -.3 + .5/24}); geom.Distance(first, want) > 1e-6 {
		t.Errorf("the first pixel: got %v, want %v", first, want)
	}
}
