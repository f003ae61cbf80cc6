package mouth

import (
	"math"

	"lipsync/internal/domain/order"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The patch of an example on a frame. Lengths are canonical. They were chosen by eye: larger patches
// show seams at hair, collar and neck.
const (
	patchHalf     = .66 // half of its width, at least
	patchTop      = .02 // its top is this far below the base of the nose
	patchBelow    = .42 // it reaches this far below the closed lips
	patchGrow     = .4  // and farther, by this share of the gap
	patchPastChin = .3  // it reaches at most this far below the chin
	patchLeast    = .4  // its height, at least
	patchSoft     = .3  // width of its soft edge, as a share of the way to its middle
	patchMost     = .9  // half of its width, at most: examples have pixels up to cutHalf
	patchAbove    = .1  // likewise its top rises to this far above the base of the nose: see cutAbove
	patchOver     = .03 // height of the edge of the upper lip
	patchUnder    = .12 // height of the shadow under the lower lip, which is to be hidden with the lip
	patchBeside   = .05 // width of the shadow beside a corner of the mouth, likewise; the narrower the edge is, the more it would be seen
	patchAside    = .06 // width over which the patch ends beside the mouths where it is unlike the frame
	patchRaised   = .53 // a corner of the frame's own mouth is at most so far above its middle, as a share of the way: half of the sum of powers at the soft edge
	patchPower    = 2.5 // it is a superellipse with this exponent, between an ellipse and a rectangle
)

// patch is the part of the canonical face that shows a mouth from another frame.
type patch struct {
	middle, top, bottom float32    // x of its middle, y of its edges
	side                float32    // from the middle to its left and right edges
	mouths              region     // holds the frame's own mouth, at least as wide and open as the shown one, and the shadows around it
	masks               *maskTable // nil: usualMasks
	usual               *patch     // the patch as it is without the option mask; nil if this is it
}

// newPatch returns the patch on an observation for a mouth that is given a shape.
func newPatch(p *Person, own *Observation, to Shape) *patch {
	below := patchBelow + patchGrow*max(to.Gap, own.Gap())
	top := own.Nose + patchTop
	bottom := max(p.Line+min(below, chinBelow+patchPastChin), top+patchLeast)
	usual := &patch{
		middle: own.Middle(), top: top, bottom: bottom,
		side: min(max(patchHalf, to.Width/2/(1-patchSoft)), patchMost), // keeps the corners of a wide mouth out of the soft edge
	}
	half, opens := max(own.Width(), to.Width)/2+patchBeside, max(to.Gap-own.Gap(), 0)
	usual.mouths = region{usual.middle - half, own.Top.middle() - opens*upperShare - patchOver, usual.middle + half, own.Bottom.middle() + opens*(1-upperShare) + patchUnder}
	usual.cover([2]geom.Point{own.Left, own.Right}, own.Nose)
	if p.mask == (order.Mask{}) {
		return usual
	}
	size, soft := p.mask.Edge(patchSoft)
	more := (bottom - usual.top) / 2 * (size*usual.hides(p.mask, usual.mouths.bottom) - 1)
	grown := *usual
	grown.usual, grown.masks = usual, p.masks
	shadow := patchBeside * max(1-float32(p.mask.Feather.Factor()), 0)
	grown.top, grown.bottom = max(usual.top-more, own.Nose-patchAbove), min(bottom+more, max(bottom, p.Line+chinBelow+patchPastChin))
	grown.side = min(max(usual.side*size, to.Width/2/(1-soft), min(usual.side, (to.Width/2+shadow)/(1-soft))), patchMost)
	return &grown
}

// cover raises and widens the patch so that the corners of the frame's own mouth, which a smile raises, are not seen through the soft edge. nose is
// the y of the base of the nose.
func (p *patch) cover(corners [2]geom.Point, nose float32) {
	for _, c := range corners {
		p.top = max(min(p.top, (2*c.Y-p.bottom*(1-patchRaised))/(1+patchRaised)), nose-patchAbove)
	}
	for _, c := range corners {
		room := max(swell(1-patchSoft)-p.along(c.Y), math.SmallestNonzeroFloat32) // without room the patch is as wide as it may be
		p.side = min(max(p.side, abs(c.X-p.middle)/pow(room, 1/patchPower)), patchMost)
	}
}

// hides returns the factor, at least 1, by which a patch must be larger than the mask says, so that the frame's own lips are seen
// through it no more than through the usual patch p. y is their lower edge.
func (p *patch) hides(m order.Mask, y float32) float32 {
	const core = 1 - patchSoft
	way := pixels.Unit((y - (p.top+p.bottom)/2) / ((p.bottom - p.top) / 2)) // 0 in the middle of the usual patch, 1 at its lower edge
	least := way / (core + float32(m.Feather.Factor())*max(way-core, 0))
	if way < core {
		least = way / core
	}
	return max(least/float32(m.Expand.Factor()), 1)
}

// region returns where the patch lies.
func (p *patch) region() region {
	return region{p.middle - p.side, p.top, p.middle + p.side, p.bottom}
}

// mask returns how opaque the patch is at a canonical place, 0 to 1.
func (p *patch) mask(c geom.Point) float32 { return p.table().at(p.sum(c)) }

// least returns how opaque the patch has to be at a canonical place, 0 to 1: as the usual patch in the superellipse of the mouths, and not at all
// farther out.
func (p *patch) least(c geom.Point) float32 {
	if p.usual != nil {
		return p.usual.least(c)
	}
	m := &p.mouths
	right, down := c.X-(m.left+m.right)/2, c.Y-(m.top+m.bottom)/2
	sum := swell(2*abs(right)/(m.right-m.left)) + swell(2*abs(down)/(m.bottom-m.top))
	if sum <= 1 {
		return p.mask(c)
	}
	out := sqrt(square(right)+square(down)) * (1 - pow(sum, -1/patchPower)) // beyond the superellipse, canonical
	return p.mask(c) * pixels.Unit(1-out/patchAside)
}

// table returns the masks of the patch's soft edge.
func (p *patch) table() *maskTable {
	if p.masks == nil {
		return &usualMasks
	}
	return p.masks
}

// sum returns the sum of powers at a canonical place.
func (p *patch) sum(c geom.Point) float32 { return p.across(c.X) + p.along(c.Y) }

// across and along return the summands of x and y in the sum of powers of the superellipse. The mask
// depends on that sum, which is 0 in the middle of the patch and 1 at its border.
func (p *patch) across(x float32) float32 { return swell(abs(x-p.middle) / p.side) }

func (p *patch) along(y float32) float32 {
	return swell(abs(y-(p.top+p.bottom)/2) / ((p.bottom - p.top) / 2))
}

// swell returns x to the power of patchPower.
func swell(x float32) float32 { return x * x * sqrt(x) }

// maskTable holds the mask at even steps of the sum of powers, from 0 to 1.
type maskTable [513]float32

// usualMasks has a soft edge of the usual width.
var usualMasks = *newMaskTable(patchSoft)

// newMaskTable returns the masks with a soft edge, whose width is a share of the way to the middle of the patch.
func newMaskTable(soft float32) *maskTable {
	m := &maskTable{}
	for i := range m {
		m[i] = smoothstep((1 - pow(float32(i)/float32(len(m)-1), 1/patchPower)) / soft)
	}
	return m
}

// at returns the mask at a sum of powers.
func (m *maskTable) at(sum float32) float32 {
	if !(sum < 1) {
		return 0
	}
	return along(m[:], sum)
}
