package warp

import (
	"image"
	"math"

	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
)

// bankSize is the largest number of examples of a person. The time that a plan takes grows with its
// square.
const bankSize = 240

// bank holds the examples of one person: mouths of the first frames, and of later frames those that
// are least like the examples that it has.
type bank struct {
	capacity int // examples
	examples []example
	bytes    int // of the examples' pixels
}

// example is the mouth of one frame.
type example struct {
	mouth.Example // its Shown is set by summarise
	track         *track
	frame         int // index in track.frames
	appearance    appearance
	heard         *speech.Articulation // of the video's own sound in that frame; nil if it is unknown
	sharp         float32              // mean difference of luma between neighbouring pixels, levels
	nearest       float32              // distance to the example most like this one
	twin          int                  // index of that example; -1 if there is no other
}

// mouths returns all examples as package mouth knows them.
func (b *bank) mouths() (all []*mouth.Example) {
	for i := range b.examples {
		all = append(all, &b.examples[i].Example)
	}
	return all
}

// size returns the size of the example's pixels in bytes.
func (e *example) size() int { return len(e.Pixels.Y) * 3 / 2 }

// appearance is a small picture of a mouth, by which mouths are compared: first its luma less
// the mean, row by row, then its redness (Cr) times redWeight.
type appearance [2 * appearanceWidth * appearanceHeight]float32

// The picture reaches appearanceHalf to each side of the middle of the mouth, and appearanceAbove
// and appearanceBelow from the line through its corners, canonical. That holds both lips of a wide
// mouth. By eye.
const (
	appearanceWidth, appearanceHeight = 24, 14 // pixels
	appearanceHalf                    = .42
	appearanceAbove, appearanceBelow  = .22, .34
	redWeight                         = 3 // levels of redness differ less than those of luma; by eye
)

// appearanceOf returns the appearance of the mouth of an observation.
func appearanceOf(c *pixels.Crop, o *mouth.Observation) (a appearance) {
	y0 := (o.Left.Y + o.Right.Y) / 2
	var mean float32
	for y := range appearanceHeight {
		for x := range appearanceWidth {
			q := o.To.Apply(geom.Point{
				X: o.Middle() - appearanceHalf + 2*appearanceHalf*(float32(x)+.5)/appearanceWidth,
				Y: y0 - appearanceAbove + (appearanceAbove+appearanceBelow)*(float32(y)+.5)/appearanceHeight,
			})
			i := y*appearanceWidth + x
			a[i] = c.Soft(q)
			a[len(a)/2+i] = redWeight * pixels.CrAt(c.YCbCr, q)
			mean += a[i] / (appearanceWidth * appearanceHeight)
		}
	}
	for i := range a[:len(a)/2] {
		a[i] -= mean
	}
	return a
}

// distance returns the root of the mean squared difference of two appearances.
func (a *appearance) distance(b *appearance) float32 {
	return rootMean(a.squares(b, math.MaxFloat32))
}

// squares returns the sum of the squared differences of two appearances. It stops when the sum is
// over most.
func (a *appearance) squares(b *appearance, most float32) (sum float32) {
	for i := 0; i < len(a) && sum <= most; i += appearanceWidth {
		here, there := a[i:i+appearanceWidth], b[i:i+appearanceWidth]
		for k, v := range here {
			sum += square(v - there[k])
		}
	}
	return sum
}

// rootMean returns the distance of appearances from the sum of their squared differences.
func rootMean(squares float32) float32 {
	return sqrt(squares / float32(len(appearance{})))
}

// add adds a frame's mouth, if the bank has room or no example like it.
func (b *bank) add(t *track, frame int, o *mouth.Observation, c *pixels.Crop) {
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
	e.Example = mouth.NewExample(c, o)
	b.bytes += e.size()
	e.sharp = sharpness(e.Pixels)
	if t := e.twin; t >= 0 && e.nearest < b.examples[t].nearest {
		b.examples[t].nearest, b.examples[t].twin = e.nearest, len(b.examples)
	}
	b.examples = append(b.examples, e)
}

// commonest returns the example that is most like another one.
func (b *bank) commonest() int {
	worst := 0
	for i := range b.examples { // by index, since examples are large to copy
		if b.examples[i].nearest < b.examples[worst].nearest {
			worst = i
		}
	}
	return worst
}

// thin removes the examples that are most like others until the bank is within its capacity.
func (b *bank) thin() {
	for len(b.examples) > b.capacity {
		b.remove(b.commonest())
	}
}

// remove removes example i. The last example gets its index.
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

// closest returns the distance and the index of the example that is most like an appearance, -1
// if there is none. It leaves out the example with the index other.
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

// sharpness returns the mean difference of luma between neighbouring pixels, in levels.
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
