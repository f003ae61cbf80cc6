package detection

import (
	"context"
	"image"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/eyes"
	"lipsync/internal/signal/geom"
)

// seenFace is a face that a network sees in its picture.
type seenFace struct {
	at          int // of the middle, both ways, in cells
	probability float64
	tilt        float64 // degrees
}

// answering is a runner that sees given faces at each run.
type answering struct {
	runs [][]seenFace
	done int
}

func (a *answering) run(_ context.Context, _ func([]float32), read func([][]float32)) error {
	const side = .2 * eyes.Side
	anchors, scores := make([]float32, searchCells*searchCells*searchValues), make([]float32, searchCells*searchCells)
	for i := range scores {
		scores[i] = -10
	}
	var seen []seenFace
	if a.done < len(a.runs) {
		seen = a.runs[a.done]
	}
	for _, f := range seen {
		i := f.at*searchCells + f.at
		scores[i] = logit(f.probability)
		eye := turned(f.tilt*math.Pi/180, side).Apply(geom.Point{X: .2, Y: -.1})
		other := turned(f.tilt*math.Pi/180, side).Apply(geom.Point{X: -.2, Y: -.1})
		copy(anchors[i*searchValues:], []float32{0, 0, side, side, other.X, other.Y, eye.X, eye.Y})
	}
	a.done++
	read([][]float32{anchors, scores})
	return nil
}

// TestSearch has what the network sees in a picture: as it is, turned by a quarter each way, and upside down.
func TestSearch(t *testing.T) {
	const cell = 10                              // pixels
	const first, last = 12, searchCells - 1 - 12 // places that are each other's when the picture is upside down
	for _, test := range []struct {
		name string
		runs [][]seenFace
		want []int // places of the faces
	}{
		{"nothing", [][]seenFace{{}, {}, {}}, nil},
		{"surely upright", [][]seenFace{{{first, .95, 0}}}, []int{first}},
		{"surely turned", [][]seenFace{{{first, .7, 80}}, {{first, .95, 10}}}, []int{last + 1}},
		{"not sure", [][]seenFace{{{first, .7, 0}}, {}, {}, {}}, []int{first}},
		{"seen a little better upside down", [][]seenFace{{{first, .885, 0}}, {}, {}, {{last, .901, 0}}}, []int{first}},
		{"seen well upside down", [][]seenFace{{{first, .885, 0}}, {}, {}, {{last, .95, 0}}}, nil},
		{"of two, one is upside down", [][]seenFace{{{last, .85, 0}, {first, .8, 0}}, {}, {}, {{last, .95, 0}}}, []int{last}},
		{"seen upside down only", [][]seenFace{{}, {}, {}}, nil},
		{"a face elsewhere is tilted by 90° if seen upside down", [][]seenFace{{{first, .7, 0}}, {}, {}, {{24, .99, 90}}}, []int{first}},
		{"the same face is tilted by 90° if seen upside down", [][]seenFace{{{first, .7, 0}}, {}, {}, {{last, .99, 90}}}, []int{first}},
		{"tilted by 141°", [][]seenFace{{}, {{first, .99, 51}}, {}, {}}, nil},
	} {
		network := &answering{runs: test.runs}
		faces, err := search{network}.Detect(t.Context(), image.NewYCbCr(image.Rect(0, 0, cell*searchCells, cell*searchCells), image.YCbCrSubsampleRatio420), .1)
		if err != nil || network.done != len(test.runs) {
			t.Errorf("%s: %d runs, %v; want %d", test.name, network.done, err, len(test.runs))
		}
		var got []int
		for _, f := range faces {
			got = append(got, int(math.Round(float64(f.Box.X/cell-.5))))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got faces at %d, want %d", test.name, got, test.want)
		}
	}
}

// TestFillSearch fills the network's picture from a frame of one colour, turned by each quarter. What shows the frame has the colour, and the rest is
// black, whatever the picture held before.
func TestFillSearch(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(6, 2, 6+301, 2+170), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = 235 // white
	}
	for i := range frame.Cb {
		frame.Cb[i], frame.Cr[i] = 128, 128
	}
	input := make([]float32, 3*eyes.Side*eyes.Side)
	for quarters := range 4 {
		to := framed(frame.Rect, quarters)
		for i := range input {
			input[i] = float32(math.NaN())
		}
		fillSearch(input, frame, to)
		for i, got := range input {
			q := to.Apply(geom.Point{X: (float32(i%eyes.Side) + .5) / eyes.Side, Y: (float32(i/eyes.Side%eyes.Side) + .5) / eyes.Side})
			want := float32(-1)
			if image.Pt(int(math.Round(float64(q.X))), int(math.Round(float64(q.Y)))).In(frame.Rect) {
				want = 1
			}
			if !(math.Abs(float64(got-want)) < .01) {
				t.Fatalf("turned by %d quarters, number %d: got %g, want %g", quarters, i, got, want)
			}
		}
	}
}
