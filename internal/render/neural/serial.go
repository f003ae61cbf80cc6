package neural

import (
	"maps"
	"slices"

	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/serial"
)

var _ engine.Serial = (*analyser)(nil)

func (a *analyser) Code(c *serial.Coder) {
	numbers := slices.Sorted(maps.Keys(a.tracks))
	serial.Slice(c, &numbers, func(n *int) {
		c.Int(n)
		t := a.tracks[*n]
		if t == nil {
			t = &track{}
			a.tracks[*n] = t
		}
		c.Int(&t.first)
		serial.Slice(c, &t.to, func(s *geom.Similarity) { c.Floats(&s.A, &s.B, &s.X, &s.Y) })
	})
}
