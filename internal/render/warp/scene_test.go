package warp

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

const fps, width, height = 25, 320, 300

// scene is a video of drawn heads, one for each track.
type scene struct {
	frames []*image.YCbCr
	faces  [][]tracking.Face // without pixels
	mask   order.Mask
}

// draw draws frames with one head, of the given track.
func (s *scene) draw(track, frames int, head func(i int) facetest.Head) {
	for i := range frames {
		h := head(i)
		s.frames = append(s.frames, withTeeth(facetest.Frame(width, height, h), h))
		s.faces = append(s.faces, []tracking.Face{{Track: track, Face: detection.Face{Landmarks: h.Landmarks(), Lips: lipsOf(h)}}})
	}
}

// withTeeth draws the edges of upper teeth into the mouth of a drawn head.
func withTeeth(f *image.YCbCr, h facetest.Head) *image.YCbCr {
	const high = .035 // in distances of the pupils
	at := h.Landmarks()
	eyes := float64(geom.Distance(at[detection.LeftPupil], at[detection.RightPupil]))
	inner := lipsOf(h).Inner
	for k := 1; k < len(inner.Upper); k++ {
		a, b := inner.Upper[k-1], inner.Upper[k]
		for x := max(int(a.X), 0); x < min(int(b.X), f.Rect.Max.X); x++ {
			along := (float32(x) - a.X) / (b.X - a.X)
			upper, lower := a.Y+(b.Y-a.Y)*along, inner.Lower[k-1].Y+(inner.Lower[k].Y-inner.Lower[k-1].Y)*along
			if float64(lower-upper) < 2*high*eyes {
				continue
			}
			for y := max(int(upper), 0); y < min(int(float64(upper)+high*eyes+.5), f.Rect.Max.Y); y++ {
				f.Y[f.YOffset(x, y)] = 150
			}
		}
	}
	return f
}

// seen returns the faces of a frame that are large enough, with their pixels.
func (s *scene) seen(i int) (faces []tracking.Face) {
	for _, f := range s.faces[i] {
		c, eyes := geom.Centroid(f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil]), f.Eyes()
		f.Crop = pixels.NewCrop(s.frames[i], image.Rect(int(c.X-1.35*eyes), int(c.Y-.8*eyes), int(c.X+1.35*eyes), int(c.Y+2.15*eyes)), eyes)
		if f.Crop != nil {
			faces = append(faces, f)
		}
	}
	return faces
}

// cut tells whether a frame has other tracks than the one before.
func (s *scene) cut(i int) bool {
	return i > 0 && len(s.faces[i]) > 0 && len(s.faces[i-1]) > 0 && s.faces[i][0].Track != s.faces[i-1][0].Track
}

// lipsOf returns the lips of a drawn head.
func lipsOf(h facetest.Head) detection.Lips {
	e := h.Lips()
	return detection.Lips{Outer: detection.Contour{Upper: e[0][0], Lower: e[0][1]}, Inner: detection.Contour{Upper: e[1][0], Lower: e[1][1]}}
}

// align aligns the faces of the scene.
func (s *scene) align() (aligned []alignment.Frame) {
	aligner := alignment.NewAligner(fps)
	for i := range s.frames {
		aligned = append(aligned, aligner.Add(s.seen(i), s.cut(i))...)
	}
	return append(aligned, aligner.End()...)
}

// analyse shows the scene to an analyser.
func (s *scene) analyse(t *testing.T) *analyser {
	t.Helper()
	a := newAnalyser(fps, check.Scratch(t))
	for _, f := range s.align() {
		if err := a.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// plan returns the analyser of the scene and its plan for a speech, which has an articulation for each frame.
func (s *scene) plan(t *testing.T, said []speech.Articulation) (*analyser, painter) {
	t.Helper()
	return s.planOf(t, s.analyse(t), said)
}

// planOf is plan with an analyser that has seen the scene.
func (s *scene) planOf(t *testing.T, a *analyser, said []speech.Articulation) (*analyser, painter) {
	t.Helper()
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: len(s.frames), Source: func(i int) int { return i }, Spoken: said, Mask: s.mask,
		Speaker: func(i int) int {
			if len(s.faces[i]) == 0 {
				return -1
			}
			return s.faces[i][0].Track
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return a, p.(painter)
}

// show returns frame i with its mouths on it.
func (s *scene) show(t *testing.T, p engine.Painter, i int) *image.YCbCr {
	t.Helper()
	frame := s.frames[i]
	out := image.NewYCbCr(frame.Rect, frame.SubsampleRatio)
	copy(out.Y, frame.Y)
	copy(out.Cb, frame.Cb)
	copy(out.Cr, frame.Cr)
	mouths, err := p.Paint(t.Context(), i, frame)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mouths {
		checkMouth(t, i, frame, m)
		put(out, m)
	}
	return out
}

// checkMouth checks that a mouth has the properties that engine.Mouth promises.
func checkMouth(t *testing.T, i int, frame *image.YCbCr, m engine.Mouth) {
	t.Helper()
	r := m.Image.Rect
	if r.Empty() || r != m.Mask.Rect || r != pixels.Even(r) || !r.In(frame.Rect) || m.Image.SubsampleRatio != image.YCbCrSubsampleRatio420 {
		t.Errorf("frame %d: image %v of %v, mask %v", i, r, m.Image.SubsampleRatio, m.Mask.Rect)
	}
}

// gap returns the gap between the lips of a drawn head, in distances of the pupils: the height of the
// dark pixels down the middle of its mouth.
func gap(f *image.YCbCr, h facetest.Head) float64 {
	const step, dark = .005, 55
	var sum float64
	for v := 1.0; v < 1.8; v += step {
		x, y := h.At(0, v)
		if f.YCbCrAt(int(math.Round(x)), int(math.Round(y))).Y < dark {
			sum += step
		}
	}
	return sum
}

// openIn returns an articulation for each frame: a wide opening in those half seconds for which loud
// is true, and silence in the others and after them.
func openIn(frames int, loud ...bool) []speech.Articulation {
	said := make([]speech.Articulation, frames)
	for i := range said {
		if half := 2 * i / fps; half < len(loud) && loud[half] {
			said[i].Opening = 1
		} else {
			said[i].Silence = 1
		}
	}
	return said
}
