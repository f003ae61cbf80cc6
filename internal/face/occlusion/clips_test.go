package occlusion_test

import (
	"image"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/sharedtest"
	"lipsync/internal/test/tracktest"
)

// clip is a clip of a person, with nothing in front of the mouth.
type clip struct {
	file          string // under media
	width, height int
	fps           float64
}

var (
	woman    = clip{"woman.mp4", 720, 974, 30}
	man      = clip{"talking_man.mp4", 512, 512, 25}
	suit     = clip{"people/man_suit.mp4", 700, 700, 30}
	bright   = clip{"people/man_bright_glasses.mp4", 480, 480, 30}
	walking  = clip{"people/man_walking.mp4", 720, 1280, 30}
	far      = clip{"people/woman_far.mp4", 1280, 720, 30}
	hands    = clip{"people/woman_hands.mp4", 480, 908, 30} // she holds them below her chin
	glasses  = clip{"people/man_glasses.mp4", 512, 480, 30}
	earrings = clip{"people/woman_earrings.mp4", 512, 512, 30}
)

// decode decodes the clip, or its first frames.
func (c clip) decode(t testing.TB, args ...string) []*image.YCbCr {
	t.Helper()
	return sharedtest.Frames(t, c.width, c.height, append([]string{"-i", sharedtest.Path(t, "media", filepath.FromSlash(c.file))}, args...)...)
}

// track returns the faces of frames.
func track(t testing.TB, frames []*image.YCbCr, fps float64) (all [][]tracking.Face, cuts []bool) {
	t.Helper()
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tracker := tracking.NewTracker(detector, fps)
	for _, frame := range frames {
		faces, cut, err := tracktest.Add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		all, cuts = append(all, faces), append(cuts, cut)
	}
	return all, cuts
}

// analyse shows the faces of frames to an analyser.
func analyse(all [][]tracking.Face, cuts []bool, fps float64) *occlusion.Analyser {
	a, aligner := occlusion.New(), alignment.NewAligner(fps)
	add := func(aligned []alignment.Frame) {
		for _, f := range aligned {
			a.Add(f)
		}
	}
	for i, faces := range all {
		add(aligner.Add(faces, cuts[i]))
	}
	add(aligner.End())
	a.End()
	return a
}

// thing is what is held in front of a mouth.
type thing struct {
	cut  func(t testing.TB) *facetest.Cutout
	grip geom.Point // the place of it that is held in front of the mouth, in the frame that it is cut out of
	eyes float32    // the distance of a person's pupils, as large as the thing is there
	way  geom.Point // from where it comes, in distances of the pupils
}

// cutFrom returns a function that cuts a thing out of the first frame of a clip.
func cutFrom(c clip, outline ...geom.Point) func(t testing.TB) *facetest.Cutout {
	return func(t testing.TB) *facetest.Cutout { return facetest.Cut(c.decode(t, "-frames:v", "1")[0], outline) }
}

var (
	fist = thing{
		cut: cutFrom(hands, geom.Point{X: 0, Y: 705}, geom.Point{X: 20, Y: 692}, geom.Point{X: 57, Y: 656}, geom.Point{X: 60, Y: 630}, geom.Point{X: 72, Y: 605},
			geom.Point{X: 84, Y: 597}, geom.Point{X: 110, Y: 597}, geom.Point{X: 140, Y: 600}, geom.Point{X: 182, Y: 613}, geom.Point{X: 195, Y: 640}, geom.Point{X: 202, Y: 664},
			geom.Point{X: 186, Y: 675}, geom.Point{X: 172, Y: 690}, geom.Point{X: 162, Y: 702}, geom.Point{X: 148, Y: 713}, geom.Point{X: 125, Y: 719}, geom.Point{X: 88, Y: 718},
			geom.Point{X: 68, Y: 744}, geom.Point{X: 50, Y: 780}, geom.Point{X: 18, Y: 815}, geom.Point{X: 0, Y: 825}),
		grip: geom.Point{X: 122, Y: 655}, eyes: 70, way: geom.Point{X: -1.2, Y: 3},
	}
	fingers = thing{
		cut: cutFrom(hands, geom.Point{X: 230, Y: 557}, geom.Point{X: 247, Y: 554}, geom.Point{X: 254, Y: 564}, geom.Point{X: 285, Y: 576}, geom.Point{X: 317, Y: 599}, geom.Point{X: 331, Y: 613},
			geom.Point{X: 329, Y: 668}, geom.Point{X: 344, Y: 691}, geom.Point{X: 372, Y: 717}, geom.Point{X: 425, Y: 755}, geom.Point{X: 425, Y: 845}, geom.Point{X: 345, Y: 835},
			geom.Point{X: 331, Y: 810}, geom.Point{X: 302, Y: 765}, geom.Point{X: 275, Y: 714}, geom.Point{X: 245, Y: 689}, geom.Point{X: 225, Y: 679}, geom.Point{X: 209, Y: 667},
			geom.Point{X: 209, Y: 656}, geom.Point{X: 191, Y: 632}, geom.Point{X: 186, Y: 618}, geom.Point{X: 191, Y: 608}, geom.Point{X: 188, Y: 600}, geom.Point{X: 193, Y: 589},
			geom.Point{X: 206, Y: 588}, geom.Point{X: 226, Y: 593}, geom.Point{X: 222, Y: 580}, geom.Point{X: 219, Y: 569}),
		grip: geom.Point{X: 265, Y: 635}, eyes: 62, way: geom.Point{X: 3, Y: 2},
	}
	bottle = thing{
		cut: cutFrom(man, geom.Point{X: 79, Y: 9}, geom.Point{X: 87, Y: 9}, geom.Point{X: 88, Y: 47}, geom.Point{X: 95, Y: 67}, geom.Point{X: 97, Y: 87}, geom.Point{X: 96, Y: 143},
			geom.Point{X: 70, Y: 144}, geom.Point{X: 69, Y: 87}, geom.Point{X: 72, Y: 63}, geom.Point{X: 77, Y: 43}),
		grip: geom.Point{X: 83, Y: 100}, eyes: 40, way: geom.Point{X: .8, Y: 3},
	}
	microphone = thing{cut: func(testing.TB) *facetest.Cutout { return drawMicrophone() }, grip: geom.Point{X: 100, Y: 90}, eyes: 150, way: geom.Point{X: .3, Y: 3}}
)

// drawMicrophone draws a ball of wire mesh on a handle, in the light of a lamp at the upper left.
func drawMicrophone() *facetest.Cutout {
	const ball, handle, bottom = 75, 34, 420
	f := image.NewYCbCr(image.Rect(0, 0, 200, bottom), image.YCbCrSubsampleRatio420)
	grain := rand.New(rand.NewPCG(1, 2))
	for y := range bottom {
		for x := range 200 {
			dx, dy := float64(x-100)/ball, float64(y-90)/ball
			r := math.Hypot(dx, dy)
			light := 38 + 30*max(0, -.5*dx-.6*dy)*(1-r*r/2)
			if r < 1 {
				light += 14 * math.Sin(float64(x+y)*1.1) * math.Sin(float64(x-y)*1.1)
			} else {
				light = 30 + 45*math.Exp(-math.Pow((float64(x-100)+14)/9, 2))
			}
			f.Y[f.YOffset(x, y)] = uint8(max(light+4*grain.NormFloat64(), 16))
		}
	}
	for i := range f.Cb {
		f.Cb[i], f.Cr[i] = 129, 127
	}
	outline := []geom.Point{{X: 100 - handle, Y: bottom - 1}, {X: 100 + handle, Y: bottom - 1}}
	for degrees := 63; degrees >= -243; degrees -= 9 { // from the right edge of the handle around the ball
		sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
		outline = append(outline, geom.Point{X: float32(100 + ball*cos), Y: float32(90 + ball*sin)})
	}
	return facetest.Cut(f, outline)
}

// holding is a thing that comes in front of a mouth in some frames of a clip.
type holding struct {
	clip
	thing
	first, from, to, last int // frames of the clip: the first one that is shown; the thing comes, and has gone; the last one that is shown
}

// movement is the number of frames in which a thing comes or goes.
const movement = 8

// shutter is the number of moments of which a frame shows the mean: the half of a frame's time.
const shutter = 5

// poses returns where the thing is while a frame is exposed, none if it is away. The face is that of the frame without it.
func (h holding) poses(frame int, face *tracking.Face) (to []geom.Similarity) {
	l, eyes := &face.Landmarks, face.Eyes()
	mouth := geom.Centroid(l[detection.LeftCorner], l[detection.RightCorner], l[detection.UpperLip], l[detection.LowerLip])
	for k := range shutter {
		at := float64(frame) + .5*float64(k)/shutter
		away := 1 - min((at-float64(h.from))/movement, (float64(h.to)-at)/movement, 1)
		if away >= 1 {
			return nil
		}
		away *= away
		sin, cos := math.Sincos(.04 * math.Sin(at/5))
		scale := float64(eyes / h.eyes)
		s := geom.Similarity{A: float32(scale * cos), B: float32(scale * sin)}
		grip := s.Apply(h.grip)
		s.X = mouth.X + eyes*(float32(away)*h.way.X+.04*float32(math.Sin(at/3))) - grip.X
		s.Y = mouth.Y + eyes*(float32(away)*h.way.Y+.03*float32(math.Cos(at/4))) - grip.Y
		to = append(to, s)
	}
	return to
}

// hides returns the share of the lips that the thing hides.
func hides(c *facetest.Cutout, l *detection.Landmarks, to []geom.Similarity) (share float32) {
	const across, down = 9, 5
	left, right, upper, lower := l[detection.LeftCorner], l[detection.RightCorner], l[detection.UpperLip], l[detection.LowerLip]
	for i := range across * down {
		p := left.Lerp(right, (float32(i%across)+.5)/across)
		q := upper.Lerp(lower, (float32(i/across)+.5)/down)
		middle := upper.Lerp(lower, .5)
		share += c.Covers(geom.Point{X: p.X + q.X - middle.X, Y: p.Y + q.Y - middle.Y}, to...) / (across * down)
	}
	return share
}

// TestHeldThings checks that a mouth is covered while a real hand, a bottle or a microphone is in front of it, and in no other frames.
func TestHeldThings(t *testing.T) {
	for name, h := range map[string]holding{
		"her own hand":          {hands, fist, 40, 80, 120, 160},
		"a hand from the right": {woman, fingers, 0, 50, 90, 125},
		"a broken track":        {bright, fist, 24, 70, 110, 143},
		"a bottle":              {man, bottle, 80, 120, 150, 190},
		"at a beard":            {man, microphone, 30, 70, 100, 140},
		"a far microphone":      {far, microphone, 20, 70, 100, 140},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames := h.decode(t)[h.first : h.last+1]
			without, _ := track(t, frames, h.fps)
			hidden := h.draw(t, frames, without)
			all, cuts := track(t, frames, h.fps)
			a := analyse(all, cuts, h.fps)
			covered := 0
			for i, faces := range all {
				if len(faces) == 0 { // nothing is painted there
					continue
				}
				c := a.Cover(faces[0].Track, i)
				around := hidden[max(i-apart, 0):min(i+apart+1, len(hidden))]
				switch near := hidden[max(i-1, 0):min(i+2, len(hidden))]; {
				case slices.Max(around) == 0 && c != nil:
					t.Errorf("frame %d has a cover, without a thing near the lips", h.first+i)
				case slices.Min(near) < half:
				case c == nil:
					t.Errorf("frame %d has no cover, but %.2f of the lips are hidden", h.first+i, hidden[i])
				default:
					covered++
					if c.Uncover(lipsMask(&without[i][0].Landmarks)) {
						t.Errorf("frame %d: some of the lips are painted", h.first+i)
					}
				}
			}
			if covered < 10 {
				t.Errorf("%d frames are covered, want some: is the thing drawn?", covered)
			}
		})
	}
}

// If a thing hides half of the lips, they must be covered. No frame that is more than apart frames from those in which it hides some of them
// may have a cover.
const half, apart = .5, 4

// draw draws the thing in front of the faces of frames. It returns the share of the lips that it hides in each frame.
func (h holding) draw(t testing.TB, frames []*image.YCbCr, faces [][]tracking.Face) (hidden []float32) {
	t.Helper()
	c := h.cut(t)
	for i, f := range frames {
		if len(faces[i]) != 1 {
			t.Fatalf("frame %d has %d faces, want one", h.first+i, len(faces[i]))
		}
		to := h.poses(h.first+i, &faces[i][0])
		if to == nil {
			hidden = append(hidden, 0)
			continue
		}
		hidden = append(hidden, hides(c, &faces[i][0].Landmarks, to))
		c.Draw(f, to...)
	}
	return hidden
}

// lipsMask returns an opaque mask of the lips.
func lipsMask(l *detection.Landmarks) *image.Alpha {
	m := image.NewAlpha(image.Rect(int(l[detection.LeftCorner].X), int(l[detection.UpperLip].Y), int(l[detection.RightCorner].X), int(l[detection.LowerLip].Y)))
	for i := range m.Pix {
		m.Pix[i] = 255
	}
	return m
}

// span is frames of a clip, both ends included.
type span struct{ from, to int }

// TestOnce checks that nothing is found in front of the mouth of a person who is at rest for long, and then smiles, laughs, tilts the head
// back, or turns it aside, for the first time.
func TestOnce(t *testing.T) {
	for name, s := range map[string]struct {
		clip
		rest   span
		frames int // of rest: the span is shown forward and backward
		then   span
	}{
		"laughs":          {walking, span{0, 12}, 160, span{187, 239}},
		"tilts back":      {man, span{48, 60}, 160, span{61, 110}},
		"speaks so":       {man, span{48, 60}, 120, span{20, 45}},
		"turns":           {glasses, span{0, 62}, 220, span{140, 199}},
		"wrinkles a nose": {earrings, span{180, 215}, 160, span{0, 60}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decoded := s.decode(t)
			var frames []*image.YCbCr
			for i := range s.frames {
				n := s.rest.to - s.rest.from
				frames = append(frames, decoded[s.rest.to-max(i%(2*n)-n, n-i%(2*n))])
			}
			all, cuts := track(t, append(frames, decoded[s.then.from:s.then.to+1]...), s.fps)
			if n := analyse(all, cuts, s.fps).Covers(); n > 0 {
				t.Errorf("got covers of %d frames, want none", n)
			}
		})
	}
}

// TestNothingInFrontOfPeople_long checks that no mouth is covered in clips of people who have nothing in front of it.
func TestNothingInFrontOfPeople_long(t *testing.T) {
	for _, c := range []clip{
		woman, man, suit, bright, walking, far, hands, glasses, earrings,
		{"two_people.mp4", 704, 352, 25}, {"people/child.mp4", 512, 512, 25}, {"people/man_turned.mp4", 844, 844, 25}, {"people/woman_grimaces.mp4", 480, 480, 30},
	} {
		t.Run(c.file, func(t *testing.T) {
			all, cuts := track(t, c.decode(t), c.fps)
			if n := analyse(all, cuts, c.fps).Covers(); n > 0 {
				t.Errorf("got covers of %d frames, want none", n)
			}
		})
	}
}
