package warp

import (
	"math"

	"lipsync/internal/render/engine"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/serial"
)

var _ engine.Serial = (*analyser)(nil)

// Code codes what Plan reads, so no frame can be added afterwards.
func (a *analyser) Code(c *serial.Coder) {
	serial.Slice(c, &a.order, func(p **person) {
		if c.Reading() {
			*p = &person{}
		}
		serial.Slice(c, &(*p).tracks, func(t **track) {
			if c.Reading() {
				*t = &track{person: *p, rows: a.rows}
			}
			(*t).code(c)
			a.tracks[(*t).number] = *t
		})
		serial.Slice(c, &(*p).bank.examples, func(e *example) { e.code(c, (*p).tracks) })
	})
}

func (t *track) code(c *serial.Coder) {
	c.Int(&t.number)
	c.Int(&t.first)
	c.Int(&t.missed)
	serial.Slice(c, &t.frames, func(row *int32) {
		var o mouth.Observation
		if c.Reading() {
			if o.Code(c); !c.Failed() {
				n, err := t.rows.Add(&o)
				c.Fail(err)
				*row, t.last = int32(n), o
			}
			return
		}
		c.Fail(t.rows.Get(int(*row), &o))
		o.Code(c)
	})
	c.Check(t.first >= 0 && t.missed >= 0 && t.missed <= mostMissed)
}

func (Engine) Scratch(faces, frames int) int64 {
	face, frame := serial.Size(func(c *serial.Coder, o *mouth.Observation) { o.Code(c) }), serial.Size((&analyser{}).codeTarget)
	return int64(faces)*int64(face) + int64(frames)*int64(frame)
}

var _ engine.Scratcher = Engine{}

// mostMissed bounds the frames at the end of a track that the tracker missed. The tracker ends a track much sooner.
const mostMissed = 1000

// codeTarget codes a target of the plan.
func (a *analyser) codeTarget(c *serial.Coder, t *target) {
	planned := t.track != nil
	number := 0
	if planned {
		number = t.track.number
	}
	c.Bool(&planned)
	for _, n := range []*int{&number, &t.frame, &t.example, &t.other} {
		c.Int(n)
	}
	c.Floats(&t.share)
	t.shape.Code(c)
	t.otherShape.Code(c)
	t.under.Code(c)
	if t.track = nil; planned {
		t.track = a.tracks[number]
	}
}

// code codes an example of a person with tracks, without nearest and twin, which only choose the examples that are kept.
func (e *example) code(c *serial.Coder, tracks []*track) {
	number := 0
	for i, t := range tracks {
		if t == e.track {
			number = i
		}
	}
	c.Int(&number)
	c.Int(&e.frame)
	if c.Check(number >= 0 && number < len(tracks)); c.Failed() {
		return
	}
	e.track = tracks[number]
	c.Check(e.frame >= 0 && e.frame < len(e.track.frames))
	for i := range e.appearance {
		c.Floats(&e.appearance[i])
	}
	c.Floats(&e.sharp)
	if e.Example.Code(c); c.Reading() {
		e.nearest, e.twin = math.MaxFloat32, -1
	}
}
