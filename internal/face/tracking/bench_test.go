package tracking

import (
	"lipsync/internal/test/sharedtest"
	"testing"
)

// BenchmarkTracker follows one face through frames of 1280 × 720.
func BenchmarkTracker(b *testing.B) {
	frames := sharedtest.Frames(b, 1280, 720, "-i", sharedtest.Path(b, "media", man.clip), "-frames:v", "50", "-vf", "scale=720:720,pad=1280:720:280:0")
	for _, c := range []struct{ name, detector, landmarks string }{
		{"built in", "", ""},
		{"networks", "ultraface_rfb_320.onnx", "facemesh_192.onnx"},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, n := newDetector(b, c.detector, c.landmarks), 0
			for b.Loop() {
				tracker := NewTracker(f, 25)
				for _, frame := range frames {
					if _, _, err := add(b.Context(), tracker, frame); err != nil {
						b.Fatal(err)
					}
				}
				n += len(frames)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(0, "ns/op")
			b.ReportAllocs()
		})
	}
}
