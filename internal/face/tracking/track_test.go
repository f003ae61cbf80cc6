package tracking

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
)

const width, height = 640, 360

// TestTracks checks the tracks of drawn scenes.
func TestTracks(t *testing.T) {
	eachDetector(t, testTracks)
}

func testTracks(t *testing.T, d detection.Detector) {
	mover := func(i int) facetest.Head {
		return facetest.Head{X: 200 + 4*float64(i), Y: 150 + float64(i), Eyes: 45 + .3*float64(i), Turn: .08 * math.Sin(float64(i)/4)}
	}
	still := facetest.Head{X: 160, Y: 150, Eyes: 48}
	beside := facetest.Head{X: 460, Y: 160, Eyes: 42}
	for _, c := range []struct {
		name   string
		frames int
		scene  func(i int) *image.YCbCr
		want   []run
	}{
		{name: "no face", frames: 6, scene: func(int) *image.YCbCr { return facetest.Wall(width, height) }},
		{name: "one that moves, grows and turns", frames: 30, scene: func(i int) *image.YCbCr { return facetest.Frame(width, height, mover(i)) },
			want: []run{{from: 0, to: 30, head: mover}}},
		{name: "two that come closer and part", frames: 24, scene: func(i int) *image.YCbCr {
			return facetest.Frame(width, height, sway(still, 40, i), sway(beside, -40, i))
		}, want: []run{{from: 0, to: 24, head: swaying(still, 40)}, {from: 0, to: 24, head: swaying(beside, -40)}}},
		{name: "one who comes after the other, found at the next search", frames: 14, scene: func(i int) *image.YCbCr {
			if i < 6 {
				return facetest.Frame(width, height, still)
			}
			return facetest.Frame(width, height, still, beside)
		}, want: []run{{from: 0, to: 14, head: at(still)}, {from: 10, to: 14, head: at(beside)}}},
		{name: "one who comes into an empty picture, found at the next search", frames: 9, scene: func(i int) *image.YCbCr {
			if i < 4 {
				return facetest.Wall(width, height)
			}
			return facetest.Frame(width, height, still)
		}, want: []run{{from: 6, to: 9, head: at(still)}}},
		{name: "one who leaves and comes back is a new track", frames: 16, scene: func(i int) *image.YCbCr {
			if i >= 5 && i < 10 {
				return facetest.Frame(width, height, beside)
			}
			return facetest.Frame(width, height, still, beside)
		}, want: []run{{from: 0, to: 5, head: at(still)}, {from: 0, to: 16, head: at(beside)}, {from: 10, to: 16, head: at(still)}}},
		{name: "one who is hidden for three frames is not", frames: 12, scene: func(i int) *image.YCbCr {
			if i >= 5 && i < 8 {
				return facetest.Wall(width, height)
			}
			return facetest.Frame(width, height, still)
		}, want: []run{{from: 0, to: 12, head: at(still), hidden: []int{5, 6, 7}}}},
		{name: "a cut ends the track", frames: 12, scene: func(i int) *image.YCbCr {
			f := facetest.Frame(width, height, still)
			for k := range f.Y {
				if i >= 6 && k%f.YStride > width/2 { // another background, the face in the same place
					f.Y[k] /= 2
				}
			}
			return f
		}, want: []run{{from: 0, to: 6, head: at(still)}, {from: 6, to: 12, head: at(still)}}},
		{name: "too small", frames: 3, scene: func(int) *image.YCbCr {
			return facetest.Frame(width, height, facetest.Head{X: 300, Y: 200, Eyes: 6})
		}},
		{name: "half out of the frame", frames: 3, scene: func(int) *image.YCbCr {
			return facetest.Frame(width, height, facetest.Head{X: 0, Y: 200, Eyes: 50})
		}},
		{name: "a frame of two pixels", frames: 3, scene: func(int) *image.YCbCr { return facetest.Wall(2, 2) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tracker := NewTracker(d, 25)
			numbers := slices.Repeat([]int{-1}, len(c.want))
			for i := range c.frames {
				faces, _, err := add(t.Context(), tracker, c.scene(i))
				if err != nil {
					t.Fatal(err)
				}
				check(t, i, faces, c.want, numbers)
			}
		})
	}
}

// run is an expected track: its first frame, the frame after its last one, and its head in each.
type run struct {
	from, to int
	head     func(i int) facetest.Head
	hidden   []int // frames
}

func at(h facetest.Head) func(int) facetest.Head {
	return func(int) facetest.Head { return h }
}

// sway moves a head to the side and back.
func sway(h facetest.Head, by float64, i int) facetest.Head {
	h.X += by * math.Sin(float64(i)/8)
	return h
}

func swaying(h facetest.Head, by float64) func(int) facetest.Head {
	return func(i int) facetest.Head { return sway(h, by, i) }
}

// check compares the faces of a frame with the expected ones. numbers has the numbers of the tracks,
// -1 before their first frame.
func check(t *testing.T, i int, faces []Face, want []run, numbers []int) {
	t.Helper()
	for k, r := range want {
		if i == r.from && numbers[k] < 0 {
			numbers[k] = nearest(faces, r.head(i))
		}
		at := slices.IndexFunc(faces, func(f Face) bool { return f.Track == numbers[k] })
		inside := i >= r.from && i < r.to && !slices.Contains(r.hidden, i)
		if (at >= 0) != inside {
			t.Errorf("frame %d: person %d is seen: %t, want %t", i, k, at >= 0, inside)
		}
		if at < 0 || !inside {
			continue
		}
		h := r.head(i)
		for landmark, place := range map[int][2]float64{
			detection.LeftPupil: {-.5, 0}, detection.RightPupil: {.5, 0}, detection.LeftCorner: {-.44, 1.1}, detection.RightCorner: {.44, 1.1},
		} {
			x, y := h.At(place[0], place[1])
			got := faces[at].Landmarks[landmark]
			if d := math.Hypot(float64(got.X)-x, float64(got.Y)-y); d > .12*h.Eyes {
				t.Errorf("frame %d, person %d, landmark %d: got %.1f, %.1f, want %.1f, %.1f", i, k, landmark, got.X, got.Y, x, y)
			}
		}
	}
	for _, f := range faces {
		if !slices.Contains(numbers, f.Track) {
			t.Errorf("frame %d: an unknown track %d at %.0f, %.0f", i, f.Track, f.Box.X, f.Box.Y)
		}
	}
}

// nearest returns the track of the face that is the head, -1 if none is.
func nearest(faces []Face, h facetest.Head) int {
	for _, f := range faces {
		if math.Hypot(float64(f.Box.X)-h.X, float64(f.Box.Y)-h.Y) < h.Eyes {
			return f.Track
		}
	}
	return -1
}

// TestTrackerIsTheSameEachTime runs one video twice.
func TestTrackerIsTheSameEachTime(t *testing.T) {
	eachDetector(t, func(t *testing.T, d detection.Detector) {
		var said [2]string
		for k := range said {
			tracker := NewTracker(d, 25)
			for i := range 8 {
				h := facetest.Head{X: 200 + 5*float64(i), Y: 150, Eyes: 45}
				faces, cut, err := add(t.Context(), tracker, facetest.Frame(width, height, h, facetest.Head{X: 480, Y: 150, Eyes: 40}))
				for _, f := range faces {
					said[k] += fmt.Sprintln(f.Track, f.Face, cut, err)
				}
			}
		}
		if said[0] != said[1] {
			t.Errorf("first %s\nthen %s", said[0], said[1])
		}
	})
}

// add returns the faces of a video's next frame with their mouths, and whether a new shot starts with it.
func add(ctx context.Context, t *Tracker, frame *image.YCbCr) (faces []Face, cut bool, err error) {
	seen, err := t.Add(ctx, frame)
	if err == nil {
		err = seen.Place(ctx, frame)
	}
	if err != nil {
		return nil, false, err
	}
	return seen.Faces, seen.Cut, nil
}

// TestCropHoldsTurnedFace turns a face in the plane. Its crop reaches from above the brows to below the chin at each angle.
func TestCropHoldsTurnedFace(t *testing.T) {
	c := geom.Point{X: 500, Y: 500}
	for degrees := 0; degrees < 360; degrees += 30 {
		sin, cos := math.Sincos(float64(degrees) * math.Pi / 180)
		across := geom.Point{X: float32(60 * cos), Y: float32(60 * sin)}
		area := around(geom.Similarity{A: across.X, B: across.Y, X: c.X, Y: c.Y}).Inset(-1)
		for _, corner := range []geom.Point{{X: -cropAside, Y: -cropAbove}, {X: cropAside, Y: cropBelow}, {Y: cropBelow}} {
			at := image.Pt(int(c.X+corner.X*across.X-corner.Y*across.Y), int(c.Y+corner.X*across.Y+corner.Y*across.X))
			if !at.In(area) {
				t.Errorf("%d degrees: the place %v of the face is not in the crop", degrees, corner)
			}
		}
	}
}
