package wav2lip

import (
	"image"
	"math"

	"lipsync/internal/network/batch"
	"lipsync/internal/render"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// The network sees this part of the canonical face: the box of a face detector, as in the published code, and a little
// below the chin. On talking heads, the boxes of a detector that was trained on the same faces as the published one reach
// from (.25, -.70) to (2.13, 2.12).
const cropLeft, cropTop, cropRight, cropBottom = .25, -.70, 2.13, 2.25

// buffers are the memory for painting one face. They are used again and again.
type buffers struct {
	size        int // width and height of the crop, pixels
	item        *batch.Item
	faces       []float32 // with sound and output, the memory of the item
	sound       window
	output      []float32
	spectrogram *spectrogram
	seen        [3][]float32 // levels of Y, Cb and Cr of the crop in the frame
	made        [3][]float32 // levels that the network painted
	agree       []float32    // similarity of both, 0 to 1
	scratch     []float32
	mask        *mask // of the job
	picture     image.YCbCr
	alpha       image.Alpha
	mouth       [1]render.Mouth
}

// buffers returns buffers that were used before, or new ones if none are free.
func (e *Engine) buffers() *buffers {
	select {
	case b := <-e.free:
		return b
	default:
		return e.newBuffers()
	}
}

func (e *Engine) newBuffers() *buffers {
	n := e.model.size * e.model.size
	b := &buffers{
		size: e.model.size, faces: make([]float32, 6*n), output: make([]float32, 3*n),
		spectrogram: newSpectrogram(), agree: make([]float32, n), scratch: make([]float32, n), mask: e.mask,
	}
	inputs := make([][]float32, 2)
	inputs[e.model.faces], inputs[e.model.sound] = b.faces, b.sound[:]
	b.item = batch.NewItem(inputs, [][]float32{b.output})
	for k := range b.seen {
		b.seen[k], b.made[k] = make([]float32, n), make([]float32, n)
	}
	b.mouth[0] = render.Mouth{Image: &b.picture, Mask: &b.alpha, Release: func() {
		select {
		case e.free <- b:
		default: // there are enough
		}
	}}
	return b
}

// cut fills faces with the crop of a frame twice: first with its lower half black, then as it is. Each consists of the
// planes B, G and R. onto is the similarity from the canonical face to the frame.
func (b *buffers) cut(frame *image.YCbCr, onto geom.Similarity) {
	cb, cr := pixels.Chroma(frame)
	b.sample(0, pixels.Luma(frame), onto, 1)
	b.sample(1, cb, onto, 2)
	b.sample(2, cr, onto, 2)

	n := b.size * b.size
	hidden := b.size / 2 * b.size
	blue, green, red := b.faces[3*n:4*n], b.faces[4*n:5*n], b.faces[5*n:]
	for i, y := range b.seen[0] {
		red[i], green[i], blue[i] = pixels.ToRGB(y, b.seen[1][i], b.seen[2][i])
	}
	for c := range 3 {
		half := b.faces[c*n : (c+1)*n]
		copy(half[:hidden], b.faces[(3+c)*n:])
		clear(half[hidden:])
	}
}

// place returns the canonical place of (x, y) in a crop of size × size pixels. x and y are in pixels from the upper left
// corner.
func place(size int, x, y float32) geom.Point {
	n := float32(size)
	return geom.Point{X: cropLeft + x*((cropRight-cropLeft)/n), Y: cropTop + y*((cropBottom-cropTop)/n)}
}

// covered returns the width and the height of a pixel of the crop, in pixels of the frame.
func (b *buffers) covered(onto geom.Similarity) (width, height float32) {
	n := onto.Scale() / float32(b.size)
	return n * (cropRight - cropLeft), n * (cropBottom - cropTop)
}

// sample fills one channel of seen with a plane of the frame. subsampling is the width and height of a pixel of the plane,
// in pixels of luma. A pixel of the crop that covers several pixels of the plane gets their mean. Outside the frame the
// pixels of its edge repeat.
func (b *buffers) sample(channel int, p pixels.Plane[uint8], onto geom.Similarity, subsampling float32) {
	width, height := b.covered(onto)
	across, along := steps(width/subsampling), steps(height/subsampling)
	share := 1 / float32(across*along)
	out := b.seen[channel]
	for y := range b.size {
		for x := range b.size {
			var sum float32
			for j := range along {
				v := float32(y) + (float32(j)+.5)/float32(along)
				for i := range across {
					q := onto.Apply(place(b.size, float32(x)+(float32(i)+.5)/float32(across), v))
					sum += p.Bilinear((q.X+.5)/subsampling-.5, (q.Y+.5)/subsampling-.5)
				}
			}
			out[y*b.size+x] = sum * share
		}
	}
}

// mostSteps bounds the number of places that are sampled along a row and a column of a pixel of the crop, however large the
// face is.
const mostSteps = 8

// steps returns the number of places to sample along a number of pixels.
func steps(pixels float32) int { return min(int(math.Ceil(float64(pixels))), mostSteps) }
