package detection

import (
	"testing"

	"lipsync/internal/test/facetest"
)

// BenchmarkMouth places the mouth of a face as large as in a frame of 720p.
func BenchmarkMouth(b *testing.B) {
	d, err := New(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	h := facetest.Head{X: 640, Y: 330, Eyes: 110}
	frame := facetest.Frame(1280, 720, h)
	f := Face{Box: Box{X: 640, Y: 370, Size: 260}, Landmarks: h.Landmarks()}
	for b.Loop() {
		if _, ok, err := d.LocateMouth(b.Context(), frame, f); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}
