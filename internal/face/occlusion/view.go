package occlusion

import (
	"slices"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The mouth region is a part of the canonical face: from cheek to cheek, and from the tip of the nose to below the chin. It is divided
// into cells, some 6 mm wide and high: a third of a finger.
const (
	columns, rows = 18, 14
	cells         = columns * rows
	side          = .09 // of a cell, canonical
	left, top     = 1.2 - columns*side/2, 1.04
)

// middleOf returns the middle of a cell, canonical.
func middleOf(c int) geom.Point {
	return geom.Point{X: left + side*(float32(c%columns)+.5), Y: top + side*(float32(c/columns)+.5)}
}

// view is a mouth region in one frame.
type view struct {
	track   int             // its number by the tracker, or nobody
	to      geom.Similarity // from the canonical face to the frame's pixels, for mouth and chin
	seen    bool            // whether the tracker has seen the face; otherwise only to is set
	lips    [4]float32      // canonical: x of the left and the right corner, y of the upper and the lower edge
	colours [cells]colour   // row by row
	// graphics tells in which cells there may be some.
	graphics [cells]bool
}

// colour is the mean Y, Cb and Cr of a cell, as in the light of the track's first view, and its contrast: the range of its luma.
type colour [channels]uint8

const (
	luma = iota
	blue
	red
	contrast
	channels
)

// black is the luma of black.
const black = 16

// add adds the view of a face in the next frame.
func (t *track) add(f *alignment.Face) {
	t.views, t.box = append(t.views, view{track: f.Track, to: f.ToMouth()}), f.Box
	if f.Crop == nil {
		return
	}
	v, l := &t.views[len(t.views)-1], &f.Landmarks
	v.lips = [4]float32{
		l[detection.LeftCorner].X, l[detection.RightCorner].X, l[detection.UpperLip].Y, l[detection.LowerLip].Y,
	}
	skin := skinOf(f)
	if t.skin == ([3]float32{}) {
		t.skin = skin
	}
	v.seen = true
	v.look(f.Crop, skin, t.skin)
	v.findGraphics(f.Crop)
}

// The places that are sampled in each cell: lumaTaps × lumaTaps of luma, chromaTaps × chromaTaps of chroma.
const lumaTaps, chromaTaps = 3, 2

var lumaPlaces, chromaPlaces = placesOf(lumaTaps), placesOf(chromaTaps)

// placesOf returns n × n places in each cell, canonical.
func placesOf(n int) (places []geom.Point) {
	for c := range cells {
		for i := range n * n {
			places = append(places, geom.Point{
				X: left + side*(float32(c%columns)+(float32(i%n)+.5)/float32(n)),
				Y: top + side*(float32(c/columns)+(float32(i/n)+.5)/float32(n)),
			})
		}
	}
	return places
}

// look sets the colours. skin is the colour of the person's skin in the view's light, and usual that in the light that colours are brought to.
func (v *view) look(c *pixels.Crop, skin, usual [3]float32) {
	gain := max(usual[luma]-black, 1) / max(skin[luma]-black, 1)
	var soft [cells * lumaTaps * lumaTaps]float32
	c.SoftPoints(soft[:], lumaPlaces, v.to)
	for i := range v.colours {
		taps := soft[i*lumaTaps*lumaTaps:][:lumaTaps*lumaTaps]
		var y, cb, cr float32
		for _, l := range taps {
			y += l / (lumaTaps * lumaTaps)
		}
		for _, p := range chromaPlaces[i*chromaTaps*chromaTaps:][:chromaTaps*chromaTaps] {
			b, r := pixels.ChromaAt(c.YCbCr, v.to.Apply(p))
			cb, cr = cb+b/(chromaTaps*chromaTaps), cr+r/(chromaTaps*chromaTaps)
		}
		v.colours[i] = colour{
			luma: level(black + gain*(y-black)), blue: level(cb + usual[blue] - skin[blue]), red: level(cr + usual[red] - skin[red]),
			contrast: level(gain * (slices.Max(taps) - slices.Min(taps))),
		}
	}
}

func level(x float32) uint8 { return uint8(min(max(x+.5, 0), 255)) }

// The skin around the eyes and the bridge of the nose shows the light of a frame. Eyes and brows are less than half of it. Canonical.
const (
	skinLeft, skinRight   = .75, 1.65
	skinTop, skinBottom   = .1, .8
	skinColumns, skinRows = 8, 8 // places
)

// skinOf returns the median Y, Cb and Cr of the skin around the eyes.
func skinOf(f *alignment.Face) (skin [3]float32) {
	var all [3][skinColumns * skinRows]float32
	for i := range skinColumns * skinRows {
		q := f.To.Apply(geom.Point{
			X: skinLeft + (skinRight-skinLeft)*(float32(i%skinColumns)+.5)/skinColumns,
			Y: skinTop + (skinBottom-skinTop)*(float32(i/skinColumns)+.5)/skinRows,
		})
		all[luma][i] = f.Crop.Soft(q)
		all[blue][i], all[red][i] = pixels.ChromaAt(f.Crop.YCbCr, q)
	}
	for k := range skin {
		skin[k] = dsp.Quantile(all[k][:], .5)
	}
	return skin
}
