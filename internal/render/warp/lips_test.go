package warp

import (
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/geom"
)

// someLips returns a usual mouth on the canonical face with a gap between its lips.
func someLips(gap float32) mouth.Lips { return tiltedLips(gap, 0, 0) }

// tiltedLips returns such a mouth whose corners are higher.
func tiltedLips(gap, left, right float32) mouth.Lips {
	m := mouth.Lips{Left: geom.Point{X: .76, Y: 1.56 - left}, Right: geom.Point{X: 1.64, Y: 1.56 - right}, Nose: 1.2}
	const upperShare, archEnd = .25, .95 // of an opening, and where it ends
	open := func(k int) float32 { return max(1-square((2*float32(k)/float32(len(m.Upper)-1)-1)/archEnd), 0) }
	for k := range m.Lower {
		m.Lower[k] = open(k)
	}
	gap /= m.Gap() // in the middle
	for k := range m.Upper {
		along := float32(k) / float32(len(m.Upper)-1)
		bulge := 1 - square(2*along-1)
		line := m.Left.Y + (m.Right.Y-m.Left.Y)*along + .01*bulge
		m.Upper[k], m.Lower[k] = line-upperShare*gap*open(k), line+(1-upperShare)*gap*open(k)
		m.Top[k], m.Bottom[k] = m.Upper[k]-.1*bulge, m.Lower[k]+.15*bulge
	}
	return m
}
