package warp

import (
	"slices"

	"lipsync/internal/alignment"
	"lipsync/internal/dsp"
	"lipsync/internal/geom"
)

// track is a person in a shot: what is known of each of its frames.
type track struct {
	person *person
	first  int           // frame of the video
	missed int           // frames since the last one with pixels
	frames []observation // without a gap, from the first on
	widths []float32     // of the mouth in each frame, without what it says; after Plan
}

// observation is the mouth in one frame.
type observation struct {
	to geom.Similarity // from the canonical face to the frame, right for the mouth
	mouth
}

// add takes the face in the next frame. What is between frames in which the face
// was missed follows with the next one in which it is seen.
func (t *track) add(f *alignment.Face) {
	if f.Crop == nil {
		t.missed++
		return
	}
	o := observation{to: f.ToMouth(), mouth: measure(f, &t.person.colours)}
	if len(t.frames) > 0 {
		last := t.frames[len(t.frames)-1]
		for k := range t.missed {
			t.frames = append(t.frames, lerp(last, o, float32(k+1)/float32(t.missed+1)))
		}
	}
	t.missed = 0
	t.person.see(t, o, f.Crop)
	t.frames = append(t.frames, o)
}

// lerp returns the observation at f of the way from a to b.
func lerp(a, b observation, f float32) observation {
	mix := func(p, q float32) float32 { return p + (q-p)*f }
	out := a
	out.to = a.to.Lerp(b.to, f)
	out.left, out.right = a.left.Lerp(b.left, f), a.right.Lerp(b.right, f)
	out.pose = [2]float32{mix(a.pose[0], b.pose[0]), mix(a.pose[1], b.pose[1])}
	out.top, out.bottom, out.nose = mix(a.top, b.top), mix(a.bottom, b.bottom), mix(a.nose, b.nose)
	out.upper, out.lower = mix(a.upper, b.upper), mix(a.lower, b.lower)
	for k := range out.line {
		out.line[k] = mix(a.line[k], b.line[k])
	}
	return out
}

// smooth filters what was measured in each frame by itself: the lines between the
// lips over one frame and a fiftieth of a unit, the inner edges of the lips
// against single frames that are wrong.
func (t *track) smooth() {
	if n := len(t.frames); n > 0 { // frames that end a track without pixels are like the last one
		t.frames = append(t.frames, slices.Repeat(t.frames[n-1:], t.missed)...)
		t.missed = 0
	}
	column := make([]float32, len(t.frames))
	each := func(value func(*observation) *float32, filter func([]float32) []float32) {
		for i := range t.frames {
			column[i] = *value(&t.frames[i])
		}
		for i, v := range filter(column) {
			*value(&t.frames[i]) = v
		}
	}
	steady := func(x []float32) []float32 { return dsp.Gaussian(dsp.Median(x, 3), .5) }
	each(func(o *observation) *float32 { return &o.upper }, steady)
	each(func(o *observation) *float32 { return &o.lower }, steady)
	for k := range (lipLine{}) {
		each(func(o *observation) *float32 { return &o.line[k] }, func(x []float32) []float32 { return dsp.Gaussian(x, 1) })
	}
	for i := range t.frames {
		copy(t.frames[i].line[:], dsp.Gaussian(t.frames[i].line[:], .8))
	}
}

// expression is the standard deviation in seconds of the filter of widths, which
// keeps the smile of someone who speaks and drops what the mouth says.
const expression = .4

// measureWidths sets the widths of the mouth without what it says.
func (t *track) measureWidths(fps float64, speaks bool) {
	t.widths = make([]float32, len(t.frames))
	for i := range t.frames {
		t.widths[i] = t.frames[i].width()
	}
	if speaks {
		t.widths = dsp.Gaussian(t.widths, expression*fps)
	}
}
