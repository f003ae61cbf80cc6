package warp

import (
	"slices"

	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

// track is a person in a shot, with an observation of each frame.
type track struct {
	number int // as in alignment.Face
	person *person
	first  int           // index in the video of the first frame
	missed int           // number of frames since the last one in which the face was seen
	frames []observation // one for each frame from the first on
	widths []float32     // canonical width that the mouth would have in each frame if it were silent; set by measureWidths
}

// observation is the mouth in one frame.
type observation struct {
	to     geom.Similarity // from the canonical face to the frame's pixels, for mouth and chin
	hidden bool            // whether something is in front of the mouth, so that lips can be misread; set by hide
	lips
}

// add adds the face in the next frame. Frames in which the face was missed are added together with
// the next one in which it is seen. Their observations are interpolated.
func (t *track) add(f *alignment.Face) {
	if f.Crop == nil {
		t.missed++
		return
	}
	o := observation{to: f.ToMouth(), lips: measure(f, &t.person.colours)}
	if len(t.frames) > 0 {
		last := t.frames[len(t.frames)-1]
		for k := range t.missed {
			t.frames = append(t.frames, lerp(last, o, float32(k+1)/float32(t.missed+1)))
		}
	}
	t.missed = 0
	t.person.observe(t, o, f.Crop)
	t.frames = append(t.frames, o)
}

// lerp returns the observation that is f of the way from a to b.
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

// Values that were read from each frame by itself are filtered: by a median, which removes single
// frames that were misread, and by Gaussians with these standard deviations. By eye, at 25 frames/s.
const (
	edgeMedian   = 3  // frames
	edgeSmooth   = .5 // frames
	lineSmooth   = 1  // frames
	acrossSmooth = .8 // values of a lipLine: a fiftieth of a canonical unit
)

// smooth filters the inner edges of the lips and the line between them.
func (t *track) smooth() {
	if n := len(t.frames); n > 0 { // the missed frames at the end of a track become like the last seen one
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
	steady := func(x []float32) []float32 { return dsp.Gaussian(dsp.Median(x, edgeMedian), edgeSmooth) }
	each(func(o *observation) *float32 { return &o.upper }, steady)
	each(func(o *observation) *float32 { return &o.lower }, steady)
	for k := range (lipLine{}) {
		each(func(o *observation) *float32 { return &o.line[k] }, func(x []float32) []float32 { return dsp.Gaussian(x, lineSmooth) })
	}
	for i := range t.frames {
		copy(t.frames[i].line[:], dsp.Gaussian(t.frames[i].line[:], acrossSmooth))
	}
}

// expression is the standard deviation of the filter of widths, in seconds. It keeps the smile of a
// person who speaks, and removes the articulation. By eye.
const expression = .4

// measureWidths sets widths. speaks tells whether the person speaks in the video.
func (t *track) measureWidths(fps float64, speaks bool) {
	t.widths = make([]float32, len(t.frames))
	for i := range t.frames {
		t.widths[i] = t.frames[i].width()
	}
	if speaks {
		t.widths = dsp.Gaussian(t.widths, expression*fps)
	}
}
