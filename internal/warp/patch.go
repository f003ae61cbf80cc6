package warp

import "lipsync/internal/geom"

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
	patchPower    = 2.5 // it is a superellipse with this exponent, between an ellipse and a rectangle
)

// patch is the part of the canonical face that shows a mouth from another frame.
type patch struct {
	middle, top, bottom float32 // x of its middle, y of its edges
	side                float32 // from the middle to its left and right edges
	line                float32 // y of the line between the person's closed lips
	half                float32 // half the width of the frame's own mouth
	sink                float32 // distance by which the frame's chin moves down
}

// newPatch returns the patch on an observation for a mouth that is given a shape.
func newPatch(p *person, own *observation, to shape) *patch {
	below := patchBelow + patchGrow*max(to.gap, own.gap())
	top := own.nose + patchTop
	return &patch{
		middle: own.middle(), top: top, bottom: max(p.line+min(below, chinBelow+patchPastChin), top+patchLeast),
		side: max(patchHalf, own.width()/2/(1-patchSoft)), // keeps the corners of a wide mouth out of the soft edge
		line: p.line, half: own.width() / 2, sink: chinShare * (to.gap - own.gap()),
	}
}

// region returns where the patch lies.
func (p *patch) region() region {
	return region{p.middle - p.side, p.top, p.middle + p.side, p.bottom}
}

// mask returns how opaque the patch is at a canonical place, 0 to 1.
func (p *patch) mask(c geom.Point) float32 { return maskAt(p.across(c.X) + p.along(c.Y)) }

// across and along return the summands of x and y in the sum of powers of the superellipse. The mask
// depends on that sum, which is 0 in the middle of the patch and 1 at its border.
func (p *patch) across(x float32) float32 { return swell(abs(x-p.middle) / p.side) }

func (p *patch) along(y float32) float32 {
	return swell(abs(y-(p.top+p.bottom)/2) / ((p.bottom - p.top) / 2))
}

// swell returns x to the power of patchPower.
func swell(x float32) float32 { return x * x * sqrt(x) }

// masks holds the mask at even steps of the sum of powers, from 0 to 1.
var masks = func() (m [513]float32) {
	for i := range m {
		m[i] = smoothstep((1 - pow(float32(i)/float32(len(m)-1), 1/patchPower)) / patchSoft)
	}
	return m
}()

// maskAt returns the mask at a sum of powers.
func maskAt(sum float32) float32 {
	if !(sum < 1) {
		return 0
	}
	at := sum * float32(len(masks)-1)
	i := int(at)
	return masks[i] + (masks[i+1]-masks[i])*(at-float32(i))
}

// down returns how far the skin moves down with the chin, at y of the canonical face and straight
// below the middle of the mouth.
func (p *patch) down(y float32) float32 {
	chin := p.line + chinBelow
	if y > chin {
		return p.sink * clamp((chin+neckBelow-y)/neckBelow)
	}
	return p.sink * smoothstep((y-p.line)/chinBelow)
}

// aside returns the share of that movement at x, 1 in the middle.
func (p *patch) aside(x float32) float32 { return jawShare((x - p.middle) / p.half) }
