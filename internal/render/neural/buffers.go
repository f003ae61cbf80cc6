package neural

import (
	"image"

	"lipsync/internal/network/batch"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// buffers are the memory for painting one face. They are used again and again.
type buffers struct {
	*Network
	item                    *batch.Item
	pictures, sound, output []float32    // the memory of the item
	seen                    [3][]float32 // levels of Y, Cb and Cr of the view in the frame
	made                    [3][]float32 // levels that the network painted
	agree                   []float32    // similarity of both, 0 to 1
	scratch                 []float32
	mask                    *mask // of the job
	picture                 image.YCbCr
	alpha                   image.Alpha
	mouth                   [1]engine.Mouth
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
	n := e.network.View.Size * e.network.View.Size
	b := &buffers{
		Network: &e.network, pictures: make([]float32, 6*n), sound: make([]float32, e.network.Sounds), output: make([]float32, 3*n),
		agree: make([]float32, n), scratch: make([]float32, n), mask: e.mask,
	}
	inputs := make([][]float32, 2)
	inputs[e.network.Pictures], inputs[e.network.Sound] = b.pictures, b.sound
	b.item = batch.NewItem(inputs, [][]float32{b.output})
	for k := range b.seen {
		b.seen[k], b.made[k] = make([]float32, n), make([]float32, n)
	}
	b.mouth[0] = engine.Mouth{Image: &b.picture, Mask: &b.alpha, Release: func() {
		select {
		case e.free <- b:
		default: // there are enough
		}
	}}
	return b
}

// cut fills pictures with the view of a frame twice: first with its lower half hidden, then as it is. onto is the similarity from
// the canonical face to the frame.
func (b *buffers) cut(frame *image.YCbCr, onto geom.Similarity) {
	b.View.see(&b.seen, frame, onto)
	n := len(b.seen[0])
	red, green, blue := b.colours(b.pictures[3*n:])
	for i, y := range b.seen[0] {
		red[i], green[i], blue[i] = pixels.ToRGB(y, b.seen[1][i], b.seen[2][i])
	}
	if b.Black != 0 {
		for i, v := range b.pictures[3*n:] {
			b.pictures[3*n+i] = b.Black + (1-b.Black)*v
		}
	}
	hidden := b.View.Size / 2 * b.View.Size
	for c := range 3 {
		half := b.pictures[c*n : (c+1)*n]
		copy(half[:hidden], b.pictures[(3+c)*n:])
		for i := hidden; i < n; i++ {
			half[i] = b.Black
		}
	}
}

// colours returns the planes of a picture.
func (b *buffers) colours(picture []float32) (red, green, blue []float32) {
	n := len(picture) / 3
	if red, green, blue = picture[:n], picture[n:2*n], picture[2*n:]; b.BGR {
		red, blue = blue, red
	}
	return red, green, blue
}
