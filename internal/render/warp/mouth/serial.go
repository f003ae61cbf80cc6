package mouth

import (
	"image"

	"lipsync/internal/signal/serial"
)

// Code codes an observation.
func (o *Observation) Code(c *serial.Coder) {
	c.Floats(&o.To.A, &o.To.B, &o.To.X, &o.To.Y)
	o.Lips.code(c)
}

func (m *Lips) code(c *serial.Coder) {
	c.Floats(&m.Left.X, &m.Left.Y, &m.Right.X, &m.Right.Y, &m.Nose, &m.Pose[0], &m.Pose[1])
	for _, e := range []*edge{&m.Top, &m.Bottom, &m.Upper, &m.Lower} {
		for k := range e {
			c.Floats(&e[k])
		}
	}
}

// Code codes a shape.
func (s *Shape) Code(c *serial.Coder) {
	c.Floats(&s.Gap, &s.Width, &s.Shift.X, &s.Shift.Y, &s.round, &s.Left, &s.Right, &s.Upper, &s.Lower, &s.hide, &s.roll, &s.tuck, &s.far)
}

// Code codes an example without Shown.
func (e *Example) Code(c *serial.Coder) {
	looks := e.look.values()
	c.Floats(looks[:]...)
	var area image.Rectangle
	if !c.Reading() {
		area = e.Pixels.Rect
	}
	for _, side := range []*int{&area.Min.X, &area.Min.Y, &area.Max.X, &area.Max.Y} {
		c.Int(side)
		c.Check(*side >= 0 && *side <= mostSide && *side%2 == 0)
	}
	if c.Check(!area.Empty()); c.Failed() {
		return
	}
	if c.Reading() {
		e.Pixels = image.NewYCbCr(area, image.YCbCrSubsampleRatio420)
	}
	c.Bytes(e.Pixels.Y)
	c.Bytes(e.Pixels.Cb)
	c.Bytes(e.Pixels.Cr)
}

// mostSide bounds the sides of a frame whose pixels are read: ffmpeg's encoder of H.264 takes no larger ones.
const mostSide = 16384
