package occlusion

import (
	"cmp"
	"maps"
	"slices"

	"lipsync/internal/signal/serial"
)

// Code codes the covers, after End.
func (a *Analyser) Code(c *serial.Coder) {
	places := slices.SortedFunc(maps.Keys(a.covers), func(p, q place) int {
		return cmp.Or(cmp.Compare(p.frame, q.frame), cmp.Compare(p.track, q.track))
	})
	serial.Slice(c, &places, func(p *place) {
		c.Int(&p.track)
		c.Int(&p.frame)
		k := a.covers[*p]
		if k == nil {
			k = &Cover{}
			a.covers[*p] = k
		}
		c.Floats(&k.from.A, &k.from.B, &k.from.X, &k.from.Y)
		c.Bytes(k.cells[:])
		c.Bool(&k.lips)
	})
}
