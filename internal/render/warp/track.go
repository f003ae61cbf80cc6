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
	o := observation{to: f.ToMouth(), lips: measure(f)}
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
	out.nose = mix(a.nose, b.nose)
	for k := range out.upper {
		out.top[k], out.bottom[k] = mix(a.top[k], b.top[k]), mix(a.bottom[k], b.bottom[k])
		out.upper[k], out.lower[k] = mix(a.upper[k], b.upper[k]), mix(a.lower[k], b.lower[k])
	}
	return out
}

// placeSmooth is the standard deviation, in frames, of the Gaussian that filters corners and edges. The distance of the inner edges isn't
// filtered: lips touch for a frame or two only. By eye, at 25 frames/s.
const placeSmooth = 1

// smooth filters the places of the edges and corners of the lips.
func (t *track) smooth() {
	if n := len(t.frames); n > 0 { // the missed frames at the end of a track become like the last seen one
		t.frames = append(t.frames, slices.Repeat(t.frames[n-1:], t.missed)...)
		t.missed = 0
	}
	column := make([]float32, len(t.frames))
	each := func(value func(*observation) *float32) {
		for i := range t.frames {
			column[i] = *value(&t.frames[i])
		}
		for i, v := range dsp.Gaussian(column, placeSmooth) {
			*value(&t.frames[i]) = v
		}
	}
	for _, corner := range []func(*observation) *geom.Point{
		func(o *observation) *geom.Point { return &o.left }, func(o *observation) *geom.Point { return &o.right },
	} {
		each(func(o *observation) *float32 { return &corner(o).X })
		each(func(o *observation) *float32 { return &corner(o).Y })
	}
	for i := range t.frames {
		t.frames[i].upper, t.frames[i].lower = t.frames[i].meeting()
	}
	for k := range (edge{}) {
		each(func(o *observation) *float32 { return &o.top[k] })
		each(func(o *observation) *float32 { return &o.bottom[k] })
		each(func(o *observation) *float32 { return &o.upper[k] })
	}
	for i := range t.frames {
		o := &t.frames[i]
		for k, gap := range o.lower {
			o.upper[k], o.lower[k] = o.upper[k]-upperShare*gap, o.upper[k]+(1-upperShare)*gap
		}
		o.order()
	}
}

// meeting returns the line between the lips, at which they would meet, and their distance.
func (m *lips) meeting() (line, gap edge) {
	for k := range line {
		gap[k] = m.lower[k] - m.upper[k]
		line[k] = m.upper[k] + upperShare*gap[k]
	}
	return line, gap
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
