package detection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"log/slog"
	"math"
	"slices"

	"lipsync/internal/network/onnx"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/parallel"
	"lipsync/internal/signal/pixels"
)

// boxNetwork finds faces by a network of the UltraFace kind (Linzaer, Ultra-Light-Fast-Generic-Face-Detector-1MB).
// Its input are the red, green and blue planes of a picture, from -1 to 1. Its outputs are a table of the
// scores of "no face" and "face", and a table of boxes by their left, top, right and bottom edges, as
// shares of the picture.
type boxNetwork struct {
	*network
	width, height int // of the input, pixels
	scores, boxes int // indices of the outputs
}

const (
	leastScore = .7 // of a face, as in the network's own programs
	mostIoU    = .3 // of the boxes of two faces, as in the same programs

	mostFaces = 50      // in a frame; fewer are large enough to be tracked
	mostBoxes = 100_000 // rows of a table: those of the published networks have 4420 and 17640
	mostSide  = 2       // of a box, as a share of the picture: a wider box is an error
)

// All detectors place a Box alike. The network's boxes of the same faces lie lower, and the root of their
// area is larger.
const (
	boxLower  = .06 // share of a Box's side
	boxLarger = 1.04
)

func newBoxNetwork(ctx context.Context, log *slog.Logger, s *onnx.Session) (*boxNetwork, error) {
	width, height := picture(s)
	if width*height == 0 {
		return nil, errors.New("the model's input is not one picture of a fixed size")
	}
	inner, err := newNetwork(ctx, log, s, 1, 1, 3, height, width)
	if err != nil {
		return nil, err
	}
	n := &boxNetwork{network: inner, width: width, height: height, scores: -1, boxes: -1}
	for i, shape := range inner.outputs {
		switch {
		case len(shape) == 3 && shape[2] == 2:
			n.scores = i
		case len(shape) == 3 && shape[2] == 4:
			n.boxes = i
		}
	}
	if n.scores < 0 || n.boxes < 0 || inner.outputs[n.scores][1] != inner.outputs[n.boxes][1] {
		return nil, errors.Join(errors.New("the model's outputs are not a table of scores and one of boxes"), inner.close())
	}
	if rows := inner.outputs[n.boxes][1]; rows > mostBoxes {
		return nil, errors.Join(fmt.Errorf("the model's tables have %d rows, and at most %d are of use", rows, mostBoxes), inner.close())
	}
	return n, nil
}

// candidate is a box that a network is fairly sure of.
type candidate struct {
	left, top, right, bottom, score float32
	eyes                            [2]geom.Point // of the face; the zero value if they are unknown
}

// Detect looks at the whole frame at once, so smallest would save no time.
func (n *boxNetwork) Detect(ctx context.Context, frame *image.YCbCr, _ float64) ([]Face, error) {
	scale := max(float32(frame.Rect.Dx())/float32(n.width), float32(frame.Rect.Dy())/float32(n.height))
	var seen []candidate
	err := n.run(ctx, func(input []float32) { n.fill(input, frame, scale) }, func(outputs [][]float32) {
		seen = n.candidates(outputs[n.scores], outputs[n.boxes], scale)
	})
	return found(seen), err
}

// found returns the faces of candidates in pixels, the surest first. It overwrites the candidates.
func found(all []candidate) (faces []Face) {
	for _, c := range suppress(all) {
		side := float32(math.Sqrt(float64(c.area()))) / boxLarger
		faces = append(faces, Face{Box: Box{(c.left + c.right) / 2, (c.top+c.bottom)/2 - boxLower*side, side}})
	}
	return faces
}

// fill divides the size of the frame by scale, and puts it into the upper left corner of the input. The rest is grey.
func (n *boxNetwork) fill(input []float32, frame *image.YCbCr, scale float32) {
	clear(input)
	width := min(int(float32(frame.Rect.Dx())/scale+.5), n.width)
	height := min(int(float32(frame.Rect.Dy())/scale+.5), n.height)
	s := pixels.NewSampler(frame, scale)
	plane := n.width * n.height
	parallel.Each(height, func(y int) {
		for x := range width {
			r, g, b := s.RGB(geom.Point{X: (float32(x)+.5)*scale - .5, Y: (float32(y)+.5)*scale - .5})
			i := y*n.width + x
			input[i], input[plane+i], input[2*plane+i] = (255*r-127)/128, (255*g-127)/128, (255*b-127)/128
		}
	})
}

// candidates returns the boxes of the tables with a score of more than leastScore. scale is the number of pixels
// of the frame to one of the input.
func (n *boxNetwork) candidates(scores, boxes []float32, scale float32) (all []candidate) {
	w, h := scale*float32(n.width), scale*float32(n.height)
	for i := 1; i < len(scores) && 2*i+1 < len(boxes); i += 2 {
		b := boxes[2*i-2:]
		wide, high := b[2]-b[0], b[3]-b[1]
		if scores[i] > leastScore && wide > 0 && high > 0 && wide < mostSide && high < mostSide {
			all = append(all, candidate{left: w * b[0], top: h * b[1], right: w * b[2], bottom: h * b[3], score: scores[i]})
		}
	}
	return all
}

// suppress returns the surest candidate of each face, the surest face first: non-maximum suppression (NMS). It
// overwrites the candidates.
func suppress(all []candidate) (kept []candidate) {
	for len(all) > 0 && len(kept) < mostFaces {
		best := slices.MaxFunc(all, func(a, b candidate) int { return cmp.Compare(a.score, b.score) })
		kept = append(kept, best)
		// The best is deleted too, even if its area is not a number.
		all = slices.DeleteFunc(all, func(c candidate) bool { return !(c.iou(best) <= mostIoU) })
	}
	return kept
}

// iou returns the intersection over union of two boxes.
func (c candidate) iou(k candidate) float32 {
	w, h := min(c.right, k.right)-max(c.left, k.left), min(c.bottom, k.bottom)-max(c.top, k.top)
	both := max(w, 0) * max(h, 0)
	return both / (c.area() + k.area() - both)
}

func (c candidate) area() float32 { return (c.right - c.left) * (c.bottom - c.top) }
