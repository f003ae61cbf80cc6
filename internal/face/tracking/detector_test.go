package tracking

import (
	"context"
	"errors"
	"image"
	"log/slog"
	"math"
	"path/filepath"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/network/onnx"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/onnxtest"
)

// eachDetector runs a test on every kind of detector.
func eachDetector(t *testing.T, test func(t *testing.T, d detection.Detector)) {
	for _, c := range []struct{ name, detector, landmarks string }{
		{"built in", "", ""},
		{"networks", "ultraface_rfb_320.onnx", "facemesh_192.onnx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, newDetector(t, c.detector, c.landmarks))
		})
	}
}

// newDetector makes a detector of the networks in two files. If a file's name is "", a network of package eyes
// does its part.
func newDetector(t testing.TB, detector, landmarks string) detection.Detector {
	t.Helper()
	load := func(file string) *onnx.Session {
		if file == "" {
			return nil
		}
		return onnxtest.Load(t, filepath.Join(onnxtest.Models(t), file))
	}
	f, err := detection.New(t.Context(), slog.New(slog.DiscardHandler), load(detector), load(landmarks))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// TestHalfOfTheNetworks checks that either network goes with those of package eyes.
func TestHalfOfTheNetworks(t *testing.T) {
	frames := compose(t, 30, figure{person: man, x: 320, y: 180, scale: 1})
	for _, c := range []struct{ name, detector, landmarks string }{
		{"detector", "ultraface_rfb_320.onnx", ""},
		{"landmarks", "", "facemesh_192.onnx"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tracker := NewTracker(newDetector(t, c.detector, c.landmarks), 25)
			for i, frame := range frames {
				faces, _, err := add(t.Context(), tracker, frame)
				if err != nil || len(faces) != 1 || faces[0].Track != 0 {
					t.Errorf("frame %d: got %v, %v, want one face", i, faces, err)
				}
			}
		})
	}
}

// TestUnsoundNetworks checks that impossible outputs of a network are no face.
func TestUnsoundNetworks(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for name, c := range map[string]struct {
		box   []float32
		point float32
	}{
		"boxes that are no numbers":     {[]float32{nan, nan, nan, nan}, .5},
		"boxes without end":             {[]float32{.2, .2, inf, inf}, .5},
		"boxes of everything":           {[]float32{-1e30, -1e30, 1e30, 1e30}, .5},
		"boxes the wrong way round":     {[]float32{.6, .6, .2, .2}, .5},
		"points that are no numbers":    {[]float32{.2, .2, .6, .6}, nan},
		"points without end":            {[]float32{.2, .2, .6, .6}, inf},
		"all points in one":             {[]float32{.2, .2, .6, .6}, .5},
		"points far away from the face": {[]float32{.2, .2, .6, .6}, -1e9},
	} {
		t.Run(name, func(t *testing.T) {
			detector := onnxtest.Saying(onnxtest.Full(1, 1, 1, 2), onnxtest.Tensor{Shape: []int{1, 1, 4}, Floats: c.box}).File(t)
			landmarks := onnxtest.Saying(onnxtest.Full(1, 1), onnxtest.Full(c.point, 1, 468, 3)).File(t)
			both, err := detection.New(t.Context(), slog.New(slog.DiscardHandler), onnxtest.Load(t, detector), onnxtest.Load(t, landmarks))
			if err != nil {
				t.Fatal(err)
			}
			defer both.Close()
			tracker := NewTracker(both, 25)
			for range 4 {
				if faces, _, err := add(t.Context(), tracker, facetest.Wall(width, height)); len(faces) > 0 || err != nil {
					t.Errorf("got %v, %v, want no face", faces, err)
				}
			}
		})
	}
}

// fault is a detector on a machine that fails: at once, or after it has found boxes.
type fault struct {
	faces []detection.Face
	err   error
}

func (f fault) Detect(context.Context, *image.YCbCr, float64) ([]detection.Face, error) {
	if f.faces == nil {
		return nil, f.err
	}
	return f.faces, nil
}

func (f fault) Locate(context.Context, *image.YCbCr, detection.Face) (detection.Face, bool, error) {
	return detection.Face{}, false, f.err
}

func (f fault) LocateMouth(context.Context, *image.YCbCr, detection.Face) (detection.Face, bool, error) {
	return detection.Face{}, false, f.err
}
func (f fault) Close() error { return nil }

func TestFaultOfADetector(t *testing.T) {
	want := errors.New("out of memory")
	frame := facetest.Frame(width, height, facetest.Head{X: 300, Y: 150, Eyes: 50})
	known := newTrack(0, frame, aFace(t, frame))
	for name, tracker := range map[string]*Tracker{
		"searching": {detector: fault{nil, want}},
		"placing":   {detector: fault{[]detection.Face{{Box: detection.Box{X: 100, Y: 100, Size: 60}}}, want}},
		"following": {detector: fault{nil, want}, live: []*track{known}, frames: 1, every: newIntervals(25)},
	} {
		if faces, _, err := add(t.Context(), tracker, frame); !errors.Is(err, want) || faces != nil {
			t.Errorf("%s: got %v, %v, want %v", name, faces, err, want)
		}
	}
}

// aFace returns a face that the detector finds in a frame.
func aFace(t *testing.T, frame *image.YCbCr) detection.Face {
	t.Helper()
	faces, _, err := add(t.Context(), NewTracker(newDetector(t, "", ""), 25), frame)
	if err != nil || len(faces) != 1 {
		t.Fatalf("got %v, %v, want one face", faces, err)
	}
	return faces[0].Face
}
