package mouth

import (
	"image"

	"lipsync/internal/face/alignment"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// light is the light in which a picture shows a face: exposure, flashes and fades change it.
type light struct {
	luma      float32 // mean of the upper face
	cheeks    float32 // mean luma beside the nose
	contrast  float32 // standard deviation of the luma of some 8 × 8 mm each, so that blur hardly changes it
	blue, red float32 // mean distances of Cb and Cr from grey
}

const (
	lightCell     = 12         // side of the parts that contrast compares, in values of an upper face
	lightFrom     = 1.15       // light that is brighter or darker by a smaller factor is left to tones
	lightFull     = gainMost   // and by this factor or more the light counts in full
	gainLeast     = .02        // contrast shrinks by this factor at most
	gainGrowth    = 1.5        // and grows by no larger factor than brightness does times this: more was misread
	chromaLeast   = 4          // a face whose chroma is nearer to grey doesn't tell how chroma changes, levels
	chromaGrowth  = gainGrowth // chroma grows by this factor at most
	leastContrast = 1          // levels: that of a face without features

	// Cheeks are squares beside the nose, which speech moves little. Canonical, by eye.
	cheekAside, cheekBelow, cheekSide = .55, .75, .2
)

// light reads the light of a face in a picture.
func (g upperFace) light(p *image.YCbCr, to geom.Similarity) (l light) {
	width, height := alignment.Band.Width, alignment.Band.Height
	n := float32((width / lightCell) * (height / lightCell))
	var squares float32
	for y := 0; y < height; y += lightCell {
		for x := 0; x < width; x += lightCell {
			var mean float32
			for k := range lightCell {
				for _, v := range g[(y+k)*width+x:][:lightCell] {
					mean += v / (lightCell * lightCell)
				}
			}
			l.luma += mean / n
			squares += mean * mean / n
			cb, cr := pixels.ChromaAt(p, to.Apply(alignment.Band.Place(x+lightCell/2, y+lightCell/2)))
			l.blue, l.red = l.blue+(cb-grey)/n, l.red+(cr-grey)/n
		}
	}
	l.contrast = sqrt(max(squares-square(l.luma), 0))
	const steps = 4 // along each side of a cheek
	for i := range steps * steps {
		right, down := cheekAside+cheekSide*(float32(i%steps)/(steps-1)-.5), cheekBelow+cheekSide*(float32(i/steps)/(steps-1)-.5)
		for _, right := range [2]float32{-right, right} {
			l.cheeks += pixels.LumaAt(p, to.Apply(geom.Point{X: alignment.Middle.X + right, Y: alignment.Middle.Y + down})) / (2 * steps * steps)
		}
	}
	return l
}

// relighting turns the values of a face in one light into those in another one. Fades, flashes and exposure are of this form.
type relighting struct {
	gain, add float32 // of luma
	chroma    float32 // gain of the distance from grey
}

// relightingOf returns the relighting from one light to another. It changes nothing if they differ little, or if only the upper face or only the
// cheeks differ: that is a hand, hair, the shadow of a hat, or glasses.
func relightingOf(from, to light) relighting {
	factor := func(from, to float32) float32 { return max(to-black, 1) / max(from-black, 1) }
	brighter, cheeks := factor(from.luma, to.luma), factor(from.cheeks, to.cheeks)
	share := smoothstep((max(min(brighter, cheeks), 1/max(brighter, cheeks)) - lightFrom) / (lightFull - lightFrom))
	gain := min(max(to.contrast/max(from.contrast, leastContrast), gainLeast), gainGrowth*max(brighter, 1))
	chroma := float32(1)
	if strength := square(from.blue) + square(from.red); strength >= square(chromaLeast) {
		chroma = min(max((to.blue*from.blue+to.red*from.red)/strength, 0), chromaGrowth)
	}
	return relighting{gain: 1 + share*(gain-1), add: share * (to.luma - gain*from.luma), chroma: 1 + share*(chroma-1)}
}

func (r relighting) luma(v float32) float32 { return r.gain*v + r.add }

// lumaBefore returns the luma that luma turns into v.
func (r relighting) lumaBefore(v float32) float32 { return (v - r.add) / r.gain }

// chromas returns Cb or Cr after the relighting.
func (r relighting) chromas(v float32) float32 { return grey + (v-grey)*r.chroma }

// picture returns a relit picture. If nothing changes it is the same one.
func (r relighting) picture(p *image.YCbCr) *image.YCbCr {
	if r == (relighting{1, 0, 1}) {
		return p
	}
	var lumas, chromas [256]uint8
	for i := range lumas {
		lumas[i] = uint8(min(max(r.luma(float32(i)), 0), 255) + .5)
		chromas[i] = uint8(min(max(r.chromas(float32(i)), 0), 255) + .5)
	}
	out := pixels.Copy(p, p.Rect)
	for i, v := range out.Y {
		out.Y[i] = lumas[v]
	}
	for i := range out.Cb {
		out.Cb[i], out.Cr[i] = chromas[out.Cb[i]], chromas[out.Cr[i]]
	}
	return out
}
