package neural

import (
	"image"
	"math"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// View is the part of the canonical face that a network sees, as a square picture.
type View struct {
	Left, Top, Right, Bottom float64 // canonical
	Size                     int     // width and height of the picture, pixels
	// Sharp tells that faces smaller than the picture are enlarged by Catmull–Rom splines, and not linearly. A network that was
	// trained on faces enlarged by Lanczos-4 sees them within .4 levels of 255 on average so, and within .7 otherwise.
	Sharp bool
}

// width and height return the size of the view on the canonical face.
func (v *View) width() float32  { return float32(v.Right - v.Left) }
func (v *View) height() float32 { return float32(v.Bottom - v.Top) }

// middle returns the y of the first canonical place that is hidden in the view.
func (v *View) middle() float64 { return (v.Top + v.Bottom) / 2 }

// place returns the canonical place of (x, y) in the picture. x and y are in pixels from the upper left corner.
func (v *View) place(x, y float32) geom.Point {
	n := float32(v.Size)
	return geom.Point{X: float32(v.Left) + x*(v.width()/n), Y: float32(v.Top) + y*(v.height()/n)}
}

// find returns the place of a pixel of the frame in the picture, in pixels from the centre of the picture's first pixel. back is the
// similarity from the frame to the canonical face.
func (v *View) find(back geom.Similarity, x, y float32) geom.Point {
	c := back.Apply(geom.Point{X: x, Y: y})
	n := float32(v.Size)
	return geom.Point{
		X: (c.X-float32(v.Left))/v.width()*n - .5,
		Y: (c.Y-float32(v.Top))/v.height()*n - .5,
	}
}

// covered returns the width and the height of a pixel of the picture, in pixels of the frame.
func (v *View) covered(onto geom.Similarity) (width, height float32) {
	n := onto.Scale() / float32(v.Size)
	return n * v.width(), n * v.height()
}

// see fills the levels of the picture, Y, Cb and Cr, with those of a frame. onto is the similarity from the canonical face to the
// frame.
func (v *View) see(levels *[3][]float32, frame *image.YCbCr, onto geom.Similarity) {
	cb, cr := pixels.Chroma(frame)
	v.sample(levels[0], pixels.Luma(frame), onto, 1)
	v.sample(levels[1], cb, onto, 2)
	v.sample(levels[2], cr, onto, 2)
}

// sample fills out with a plane of the frame. subsampling is the width and height of a pixel of the plane, in pixels of luma. A pixel
// of the picture that covers several pixels of the plane gets their mean. Outside the frame the pixels of its edge repeat.
func (v *View) sample(out []float32, p pixels.Plane[uint8], onto geom.Similarity, subsampling float32) {
	width, height := v.covered(onto)
	across, along := steps(width/subsampling), steps(height/subsampling)
	share := 1 / float32(across*along)
	read := p.Bilinear
	if v.Sharp && across*along == 1 {
		read = p.CatmullRom
	}
	for y := range v.Size {
		for x := range v.Size {
			var sum float32
			for j := range along {
				row := float32(y) + (float32(j)+.5)/float32(along)
				for i := range across {
					q := onto.Apply(v.place(float32(x)+(float32(i)+.5)/float32(across), row))
					sum += read((q.X+.5)/subsampling-.5, (q.Y+.5)/subsampling-.5)
				}
			}
			out[y*v.Size+x] = sum * share
		}
	}
}

// mostSteps bounds the number of places that are sampled along a row and a column of a pixel of the picture, however large the
// face is.
const mostSteps = 8

// steps returns the number of places to sample along a number of pixels.
func steps(pixels float32) int { return min(int(math.Ceil(float64(pixels))), mostSteps) }
