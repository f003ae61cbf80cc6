package warp

import (
	"image"
	"math"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
	"lipsync/internal/speech"
)

// bank holds examples of one person's mouth: the first frames, and of the later
// ones those that look least like what is there.
type bank struct {
	capacity int
	examples []example
	bytes    int // of their pixels
}

const bankSize = 240

// example is a mouth in one frame.
type example struct {
	track      *track
	frame      int // of track.frames
	pixels     *image.YCbCr
	appearance appearance
	heard      *speech.Articulation // in that frame; nil where nothing is known
	sharp      float32              // mean step of luma from pixel to pixel
	nearest    float32              // distance to the example most like it
	twin       int                  // its index
}

// shown returns the observation that the example was taken from.
func (e *example) shown() *observation { return &e.track.frames[e.frame] }

// size returns how many bytes the example's pixels take.
func (e *example) size() int { return len(e.pixels.Y) * 3 / 2 }

// appearance is a small picture of the mouth: luma, then redness.
type appearance [2 * appearanceWidth * appearanceHeight]float32

const appearanceWidth, appearanceHeight = 24, 14

// appearanceOf samples the mouth at a fixed place of the canonical face around
// the given middle.
func appearanceOf(c *pixels.Crop, o *observation) (a appearance) {
	const half, above, below = .42, .22, .34
	y0 := (o.left.Y + o.right.Y) / 2
	var mean float32
	for y := range appearanceHeight {
		for x := range appearanceWidth {
			q := o.to.Apply(geom.Point{
				X: o.middle() - half + 2*half*(float32(x)+.5)/appearanceWidth,
				Y: y0 - above + (above+below)*(float32(y)+.5)/appearanceHeight,
			})
			i := y*appearanceWidth + x
			a[i] = c.Soft(q)
			a[len(a)/2+i] = 3 * pixels.CrAt(c.YCbCr, q)
			mean += a[i] / (appearanceWidth * appearanceHeight)
		}
	}
	for i := range a[:len(a)/2] {
		a[i] -= mean
	}
	return a
}

// distance is the root of the mean squared difference.
func (a *appearance) distance(b *appearance) float32 {
	return rootMean(a.squares(b, math.MaxFloat32))
}

// squares returns the sum of the squared differences, or some number over most if it
// is more than that.
func (a *appearance) squares(b *appearance, most float32) (sum float32) {
	for i := 0; i < len(a) && sum <= most; i += appearanceWidth {
		here, there := a[i:i+appearanceWidth], b[i:i+appearanceWidth]
		for k, v := range here {
			sum += sq(v - there[k])
		}
	}
	return sum
}

// rootMean returns the distance of appearances from the sum of their squared differences.
func rootMean(squares float32) float32 {
	return sqrt(squares / float32(len(appearance{})))
}

// add offers the bank a frame's mouth.
func (b *bank) add(t *track, frame int, o *observation, c *pixels.Crop) {
	e := example{track: t, frame: frame, appearance: appearanceOf(c, o)}
	e.nearest, e.twin = b.closest(&e.appearance, -1)
	if len(b.examples) >= b.capacity {
		worst := b.commonest()
		if e.nearest <= b.examples[worst].nearest {
			return
		}
		b.remove(worst)
		e.nearest, e.twin = b.closest(&e.appearance, -1)
	}
	e.pixels = cutMouth(c, o)
	b.bytes += e.size()
	e.sharp = sharpness(e.pixels)
	if t := e.twin; t >= 0 && e.nearest < b.examples[t].nearest {
		b.examples[t].nearest, b.examples[t].twin = e.nearest, len(b.examples)
	}
	b.examples = append(b.examples, e)
}

// commonest returns the example that is most like another one.
func (b *bank) commonest() int {
	worst := 0
	for i := range b.examples { // which are large to copy
		if b.examples[i].nearest < b.examples[worst].nearest {
			worst = i
		}
	}
	return worst
}

// thin removes what is most like the rest until the bank is within its capacity.
func (b *bank) thin() {
	for len(b.examples) > b.capacity {
		b.remove(b.commonest())
	}
}

// remove takes example i out; the last one takes its place.
func (b *bank) remove(i int) {
	last := len(b.examples) - 1
	b.bytes -= b.examples[i].size()
	b.examples[i] = b.examples[last]
	b.examples[last] = example{}
	b.examples = b.examples[:last]
	for k := range b.examples {
		switch e := &b.examples[k]; e.twin {
		case i:
			e.nearest, e.twin = b.closest(&e.appearance, k)
		case last:
			e.twin = i
		}
	}
}

// closest returns which example is most like an appearance, other than one of
// them, and its distance; -1 if there is no other.
func (b *bank) closest(a *appearance, other int) (nearest float32, twin int) {
	least := float32(math.MaxFloat32) // sum of squares
	twin = -1
	for i := range b.examples {
		if i == other {
			continue
		}
		if s := a.squares(&b.examples[i].appearance, least); s < least {
			least, twin = s, i
		}
	}
	if twin < 0 {
		return math.MaxFloat32, twin
	}
	return rootMean(least), twin
}

// cutMouth copies the pixels of all that a patch with this mouth can need.
func cutMouth(c *pixels.Crop, o *observation) *image.YCbCr {
	const half, above, below = .95, .15, .75
	area := bounds(o.to, region{o.middle() - half, o.nose - above, o.middle() + half, o.bottom + below})
	return pixels.Copy(c.YCbCr, area.Intersect(c.Rect))
}

// bounds returns the even rectangle of the frame that holds a canonical one.
func bounds(to geom.Similarity, r region) image.Rectangle {
	out := image.Rectangle{Min: image.Pt(math.MaxInt32, math.MaxInt32), Max: image.Pt(math.MinInt32, math.MinInt32)}
	for _, c := range []geom.Point{{X: r.left, Y: r.top}, {X: r.right, Y: r.top}, {X: r.left, Y: r.bottom}, {X: r.right, Y: r.bottom}} {
		q := to.Apply(c)
		x, y := int(math.Floor(float64(q.X))), int(math.Floor(float64(q.Y)))
		out.Min.X, out.Min.Y = min(out.Min.X, x), min(out.Min.Y, y)
		out.Max.X, out.Max.Y = max(out.Max.X, x+1), max(out.Max.Y, y+1)
	}
	return pixels.Even(out)
}

// sharpness returns the mean difference of luma between neighbours.
func sharpness(p *image.YCbCr) float32 {
	sum, n := 0, 0
	for y := 1; y < p.Rect.Dy(); y++ {
		above, row := p.Y[(y-1)*p.YStride:], p.Y[y*p.YStride:]
		for x := 1; x < p.Rect.Dx(); x++ {
			v := int(row[x])
			sum += max(v-int(row[x-1]), int(row[x-1])-v) + max(v-int(above[x]), int(above[x])-v)
			n += 2
		}
	}
	return float32(sum) / float32(max(n, 1))
}
