package mouth

import (
	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
)

// Observation is the mouth in one frame.
type Observation struct {
	To geom.Similarity // from the canonical face to the frame's pixels, for mouth and chin
	Lips
}

// Observe reads the mouth of a face whose pixels are there.
func Observe(f *alignment.Face) Observation { return Observation{To: f.ToMouth(), Lips: measure(f)} }

// Lerp returns the observation that is f of the way from a to b.
func Lerp(a, b Observation, f float32) Observation {
	mix := func(p, q float32) float32 { return p + (q-p)*f }
	out := a
	out.To = a.To.Lerp(b.To, f)
	out.Left, out.Right = a.Left.Lerp(b.Left, f), a.Right.Lerp(b.Right, f)
	out.Pose = [2]float32{mix(a.Pose[0], b.Pose[0]), mix(a.Pose[1], b.Pose[1])}
	out.Nose = mix(a.Nose, b.Nose)
	for k := range out.Upper {
		out.Top[k], out.Bottom[k] = mix(a.Top[k], b.Top[k]), mix(a.Bottom[k], b.Bottom[k])
		out.Upper[k], out.Lower[k] = mix(a.Upper[k], b.Upper[k]), mix(a.Lower[k], b.Lower[k])
	}
	return out
}

// Smooth filters the places of the edges and corners of the lips in consecutive frames by a Gaussian of sigma frames. The distance of the inner
// edges isn't filtered.
func Smooth(frames []Observation, sigma float64) {
	column := make([]float32, len(frames))
	each := func(value func(*Observation) *float32) {
		for i := range frames {
			column[i] = *value(&frames[i])
		}
		for i, v := range dsp.Gaussian(column, sigma) {
			*value(&frames[i]) = v
		}
	}
	for _, corner := range []func(*Observation) *geom.Point{
		func(o *Observation) *geom.Point { return &o.Left }, func(o *Observation) *geom.Point { return &o.Right },
	} {
		each(func(o *Observation) *float32 { return &corner(o).X })
		each(func(o *Observation) *float32 { return &corner(o).Y })
	}
	for i := range frames {
		frames[i].Upper, frames[i].Lower = frames[i].meeting()
	}
	for k := range (edge{}) {
		each(func(o *Observation) *float32 { return &o.Top[k] })
		each(func(o *Observation) *float32 { return &o.Bottom[k] })
		each(func(o *Observation) *float32 { return &o.Upper[k] })
	}
	for i := range frames {
		o := &frames[i]
		for k, gap := range o.Lower {
			o.Upper[k], o.Lower[k] = o.Upper[k]-upperShare*gap, o.Upper[k]+(1-upperShare)*gap
		}
		o.order()
	}
}

// meeting returns the line between the lips, at which they would meet, and their distance.
func (m *Lips) meeting() (line, gap edge) {
	for k := range line {
		gap[k] = m.Lower[k] - m.Upper[k]
		line[k] = m.Upper[k] + upperShare*gap[k]
	}
	return line, gap
}
