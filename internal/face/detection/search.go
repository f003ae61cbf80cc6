package detection

import (
	"context"
	"image"
	"math"
	"slices"

	"lipsync/internal/face/eyes"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// search finds faces by the network of eyes.Search.
type search struct{ runner }

const (
	searchCells  = 48  // anchors of the network in a row, and rows of them
	searchValues = 16  // numbers of an anchor
	leastSure    = .6  // probability of a face, as in MediaPipe's own programs
	eyesAt       = 4   // index of the place of the left eye among the numbers of an anchor; that of the right eye follows
	farthest     = 2.0 // largest number of an anchor, as a share of the picture: a larger one is an error
)

// quarterTurns are the turns of the picture in which faces are searched for until upright ones are found, in quarters, clockwise.
var quarterTurns = [...]int{0, 1, 3}

// The network was trained on upright faces. Of a face that is more tilted than by upright, in radians, or less probable than surelyUpright, it
// may see only a part as a face. In a turned picture a face must be as probable as leastTurned: a hand in front of a face looks like one. By
// eye.
const upright, surelyUpright, leastTurned = 50 * math.Pi / 180, .9, .8

// mostTilted is the largest tilt of a face that counts, in radians: at 120° engines draw mouths that look right, and at 150° they don't. A face that
// is upside down often looks like an upright one, with a mouth on its forehead. It is seen as upside down if that has oddsOver times the odds. In 12
// frames of TestFindsFaces, where upright isn't sure, that has up to 1.02 times the odds for upright faces of 240 pixels, also in the dark and half
// covered, .86 for those of 60 pixels, and 2.4 or more for those of 240 pixels that are upside down. Faces of 60 pixels overlap: half covered they
// have up to 2, upside down .9 or more.
const mostTilted, oddsOver = 130 * math.Pi / 180, 1.25

// Detect looks at the whole frame at once, so smallest would save no time. If the network finds no face that is
// surely upright, it sees the picture turned. The faces of the turn with the surest one count, except those that are upside down.
func (s search) Detect(ctx context.Context, frame *image.YCbCr, _ float64) ([]Face, error) {
	var seen []candidate
	var from geom.Similarity
	for _, quarters := range quarterTurns {
		to, least := framed(frame.Rect, quarters), leastSure
		if quarters > 0 {
			least = leastTurned
		}
		found, err := s.candidates(ctx, frame, to, least)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			continue
		}
		best := found[0]
		if math.Abs(tiltOf(best.eyes[0], best.eyes[1])) < upright && best.score > logit(surelyUpright) {
			return facesOf(found, to), nil
		}
		if len(seen) == 0 || best.score > seen[0].score {
			seen, from = found, to
		}
	}
	if len(seen) == 0 {
		return nil, nil
	}
	to := framed(frame.Rect, 2)
	down, err := s.candidates(ctx, frame, to, leastSure)
	if err != nil {
		return nil, err
	}
	down = slices.DeleteFunc(down, func(d candidate) bool { return !tooTilted(d.face(to)) })
	seen = slices.DeleteFunc(seen, func(c candidate) bool {
		return slices.ContainsFunc(down, func(d candidate) bool {
			return d.score > c.score+float32(math.Log(oddsOver)) && d.face(to).Box.Same(c.face(from).Box)
		})
	})
	return facesOf(seen, from), nil
}

// candidates returns what may be faces in the network's picture, the surest first.
func (s search) candidates(ctx context.Context, frame *image.YCbCr, to geom.Similarity, least float64) (seen []candidate, err error) {
	err = s.run(ctx, func(input []float32) { fillSearch(input, frame, to) }, func(outputs [][]float32) {
		seen = suppress(searched(outputs[0], outputs[1], least))
	})
	return seen, err
}

// framed returns the similarity to the frame from the network's picture, whose coordinates are from 0 to 1. The picture is the smallest square
// around the frame, turned by a number of quarters.
func framed(frame image.Rectangle, quarters int) geom.Similarity {
	to := turned(float64(quarters)*math.Pi/2, float32(max(frame.Dx(), frame.Dy())))
	middle := to.Apply(geom.Point{X: .5, Y: .5})
	// The middle of a pixel has whole coordinates, so the middle of the frame is half a pixel nearer to its corner.
	to.X, to.Y = float32(frame.Min.X+frame.Max.X-1)/2-middle.X, float32(frame.Min.Y+frame.Max.Y-1)/2-middle.Y
	return to
}

// fillSearch fills the network's input. Beyond the frame it is black.
func fillSearch(input []float32, frame *image.YCbCr, to geom.Similarity) {
	const side, plane = eyes.Side, eyes.Side * eyes.Side
	s := pixels.NewSampler(frame, to.Scale()/side)
	at := geom.Similarity{A: 1. / side, X: .5 / side, Y: .5 / side}.Then(to)
	area := seenPart(frame.Rect, at)
	s.Square(pixels.Even(area), side, at, input[:plane], input[plane:2*plane], input[2*plane:])
	for i := range input {
		if input[i] = 2*input[i] - 1; !image.Pt(i%side, i%plane/side).In(area) {
			input[i] = -1
		}
	}
}

// seenPart returns the part of the network's picture that shows the frame. at is the similarity to the frame from the picture's pixels, which is
// turned by quarters.
func seenPart(frame image.Rectangle, at geom.Similarity) image.Rectangle {
	seen := func(x, y int) bool {
		q := at.Apply(geom.Point{X: float32(x), Y: float32(y)})
		return image.Pt(int(math.Round(float64(q.X))), int(math.Round(float64(q.Y)))).In(frame)
	}
	var columns, rows image.Rectangle
	for i := range eyes.Side {
		if seen(i, eyes.Side/2) {
			columns = columns.Union(image.Rect(i, 0, i+1, eyes.Side))
		}
		if seen(eyes.Side/2, i) {
			rows = rows.Union(image.Rect(0, i, eyes.Side, i+1))
		}
	}
	return columns.Intersect(rows)
}

// searched returns the boxes of faces that are more probable than a least probability, as shares of the network's picture.
func searched(anchors, scores []float32, probability float64) (all []candidate) {
	least := logit(probability)
	for i, score := range scores {
		if !(score > least) {
			continue
		}
		at := geom.Point{X: (float32(i%searchCells) + .5) / searchCells, Y: (float32(i/searchCells) + .5) / searchCells}
		v := anchors[i*searchValues:][:searchValues]
		place := func(k int) geom.Point { return geom.Point{X: at.X + v[k]/eyes.Side, Y: at.Y + v[k+1]/eyes.Side} }
		middle, wide, high := place(0), v[2]/eyes.Side, v[3]/eyes.Side
		c := candidate{left: middle.X - wide/2, top: middle.Y - high/2, right: middle.X + wide/2, bottom: middle.Y + high/2,
			score: score, eyes: [2]geom.Point{place(eyesAt), place(eyesAt + 2)}}
		if wide > 0 && high > 0 && c.within(farthest) {
			all = append(all, c)
		}
	}
	return all
}

// logit is the inverse of the logistic function.
func logit(probability float64) float32 { return float32(math.Log(probability / (1 - probability))) }

// within tells whether no number of a candidate is farther than most from 0.
func (c *candidate) within(most float32) bool {
	for _, v := range [...]float32{c.left, c.top, c.right, c.bottom, c.eyes[0].X, c.eyes[0].Y, c.eyes[1].X, c.eyes[1].Y} {
		if !(v >= -most && v <= most) { // true for NaN
			return false
		}
	}
	return true
}

// facesOf returns the faces of candidates that aren't tilted too much: their boxes and pupils.
func facesOf(seen []candidate, to geom.Similarity) (faces []Face) {
	for _, c := range seen {
		if f := c.face(to); !tooTilted(f) {
			faces = append(faces, f)
		}
	}
	return faces
}

// tooTilted tells whether a face of a search is tilted by more than mostTilted.
func tooTilted(f Face) bool {
	return math.Abs(tiltOf(f.Landmarks[LeftPupil], f.Landmarks[RightPupil])) > mostTilted
}

// face returns the face of a candidate of the network's picture.
func (c *candidate) face(to geom.Similarity) (f Face) {
	left, right := to.Apply(c.eyes[0]), to.Apply(c.eyes[1])
	f.Landmarks[LeftPupil], f.Landmarks[RightPupil] = left, right
	side := to.Scale() * float32(math.Sqrt(float64(c.area())))
	up := turned(tiltOf(left, right), side).Apply(geom.Point{Y: -boxHigher})
	middle := to.Apply(geom.Point{X: (c.left + c.right) / 2, Y: (c.top + c.bottom) / 2})
	f.Box = Box{middle.X + up.X, middle.Y + up.Y, boxOfMesh * side}
	return f
}
