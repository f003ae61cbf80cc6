package detection

import (
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/onnxtest"
)

// TestManyMouths gives the detector two sessions of landmarks, as on a GPU. Mouths that are placed many at once, in runs that are filled up,
// must be those that the session of single faces places.
func TestManyMouths(t *testing.T) {
	path := filepath.Join(onnxtest.Models(t), "facemesh_192.onnx")
	d, err := New(t.Context(), slog.New(slog.DiscardHandler), nil, onnxtest.Load(t, path), onnxtest.Load(t, path))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if m := d.(detector).landmarkDetector.(*mesh); m.many == m.lone || m.many.(*network).queue.Together() < onGPU {
		t.Fatalf("mouths are not placed %d at once", onGPU)
	}
	var all errgroup.Group
	var faces atomic.Int32
	for i := range 2*onGPU + 3 {
		all.Go(func() error {
			head := facetest.Head{X: 160 + 2*float64(i), Y: 150, Eyes: 50 + float64(i)}
			frame := facetest.Frame(400, 320, head)
			near := Face{Box: Box{X: float32(head.X), Y: float32(head.Y) + 20, Size: float32(2.4 * head.Eyes)}, Landmarks: head.Landmarks()}
			want, found, err := d.Locate(t.Context(), frame, near)
			if err != nil {
				return err
			}
			got, ok, err := d.LocateMouth(t.Context(), frame, near)
			if err != nil {
				return err
			}
			if found {
				faces.Add(1)
			}
			if ok != found {
				t.Errorf("face %d: found %v, want %v", i, ok, found)
			}
			for _, k := range Mobile() {
				if off := geom.Distance(got.Landmarks[k], want.Landmarks[k]); found && !(off < .01) {
					t.Errorf("face %d: landmark %d is %g pixels off", i, k, off)
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if faces.Load() < onGPU {
		t.Errorf("only %d faces were found", faces.Load())
	}
}
