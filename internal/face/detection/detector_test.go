package detection

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lipsync/internal/network/onnx"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/onnxtest"
)

// TestOtherModels checks that models of other shapes are refused when the
// detector is made.
func TestOtherModels(t *testing.T) {
	file := func(name string) string { return filepath.Join(onnxtest.Models(t), name) }
	for name, c := range map[string]struct{ detector, landmarks, want string }{
		"a mesh that is to search":    {file("facemesh_192.onnx"), "", "face detector: the model's outputs are not a table of scores and one of boxes"},
		"a detector that is to place": {"", file("ultraface_rfb_320.onnx"), "face landmarks: the model's input is not one square picture of a fixed size"},
		"a network that hears":        {file("light_asd.onnx"), "", "face detector: the model's input is not one picture of a fixed size"},
		"scores without boxes":        {onnxtest.Saying(onnxtest.Full(0, 1, 9, 2)).File(t), "", "face detector: the model's outputs are not a table of scores and one of boxes"},
		"more boxes than scores":      {onnxtest.Saying(onnxtest.Full(0, 1, 9, 2), onnxtest.Full(0, 1, 8, 4)).File(t), "", "face detector: the model's outputs are not a table of scores and one of boxes"},
		"too many boxes":              {onnxtest.Saying(onnxtest.Full(0, 1, 100_001, 2), onnxtest.Full(0, 1, 100_001, 4)).File(t), "", "face detector: the model's tables have 100001 rows, and at most 100000 are of use"},
		"fewer points":                {"", onnxtest.Saying(onnxtest.Full(0, 1), onnxtest.Full(0, 1, 98, 3)).File(t), "face landmarks: the model's outputs are not a flag and 468 points"},
		"no flag":                     {"", onnxtest.Saying(onnxtest.Full(0, 1, 468, 3)).File(t), "face landmarks: the model's outputs are not a flag and 468 points"},
	} {
		t.Run(name, func(t *testing.T) {
			var detector, landmarks *onnx.Session
			if c.detector != "" {
				detector = onnxtest.Load(t, c.detector)
			}
			if c.landmarks != "" {
				landmarks = onnxtest.Load(t, c.landmarks)
			}
			if _, err := New(t.Context(), slog.New(slog.DiscardHandler), detector, landmarks); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestEndsWithContext checks networks that compute for ever, in their first run
// or when they get a frame.
func TestEndsWithContext(t *testing.T) {
	soon := func() context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	boxes := onnxtest.Saying(onnxtest.Full(1, 1, 1, 2), onnxtest.Tensor{Shape: []int{1, 1, 4}, Floats: []float32{.2, .2, .6, .6}})
	points := onnxtest.Saying(onnxtest.Full(1, 1), onnxtest.Full(.5, 1, leastVertices, 3))
	for name, c := range map[string]struct{ detector, landmarks onnxtest.Graph }{
		"detector":  {boxes.Endless("a of"), points},
		"landmarks": {boxes, points.Endless("a of")},
	} {
		if _, err := New(soon(), slog.New(slog.DiscardHandler), onnxtest.Load(t, c.detector.File(t)), onnxtest.Load(t, c.landmarks.File(t))); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s at first: got %v, want %v", name, err, context.DeadlineExceeded)
		}
	}
	for name, c := range map[string]struct{ detector, landmarks onnxtest.Graph }{
		"detector":  {boxes.Endless("in"), points},
		"landmarks": {boxes, points.Endless("in")},
	} {
		f, err := New(t.Context(), slog.New(slog.DiscardHandler), onnxtest.Load(t, c.detector.File(t)), onnxtest.Load(t, c.landmarks.File(t)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		frame, ctx := facetest.Wall(640, 360), soon()
		_, errBoxes := f.Detect(ctx, frame, .1)
		_, _, errLandmarks := f.Locate(ctx, frame, Face{Box: Box{200, 200, 100}})
		if err := errors.Join(errBoxes, errLandmarks); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s on a frame: got %v, want %v", name, err, context.DeadlineExceeded)
		}
	}
}

// TestManyBoxes checks a network that finds faces everywhere. Only some of those with the
// highest scores count. To compare each box with all others would take minutes.
func TestManyBoxes(t *testing.T) {
	var all []candidate
	for i := range mostBoxes {
		x := float32(2 * i)
		all = append(all, candidate{left: x, top: 0, right: x + 1, bottom: 1, score: .8 + .1*float32(i)/mostBoxes})
	}
	slices.Reverse(all[:mostBoxes/2])
	got := suppress(all)
	if len(got) != mostFaces {
		t.Fatalf("got %d faces, want %d", len(got), mostFaces)
	}
	for i, c := range got {
		if want := float32(2 * (mostBoxes - 1 - i)); c.left != want {
			t.Errorf("face %d: got the one at %g, want %g", i, c.left, want)
		}
	}
}

func TestSuppress(t *testing.T) {
	a, like, inside, beside := candidate{left: 0, top: 0, right: 100, bottom: 100, score: .8}, candidate{left: 10, top: 0, right: 110, bottom: 100, score: .9}, candidate{left: 30, top: 30, right: 70, bottom: 70, score: .95}, candidate{left: 70, top: 0, right: 170, bottom: 100, score: .85}
	inf := float32(math.Inf(1))
	endless := candidate{left: 0, top: 0, right: inf, bottom: inf, score: .9}
	for name, c := range map[string]struct{ all, want []candidate }{
		"none":                   {nil, nil},
		"the surer of two":       {[]candidate{a, like}, []candidate{like}},
		"a small one in a large": {[]candidate{a, inside}, []candidate{inside, a}},
		"side by side":           {[]candidate{a, beside}, []candidate{beside, a}},
		"one without end":        {[]candidate{endless, a}, []candidate{endless, a}},
		"a copy":                 {[]candidate{a, a}, []candidate{a}},
	} {
		got := suppress(slices.Clone(c.all))
		if len(got) != len(c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: got %v, want %v", name, got, c.want)
			}
		}
	}
}
