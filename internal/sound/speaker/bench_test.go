package speaker

import (
	"testing"

	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// BenchmarkAdd compares one face of a large frame.
func BenchmarkAdd(b *testing.B) {
	frame := facetest.Frame(1280, 720, facetest.Head{X: 400, Y: 300, Eyes: 120})
	f := upright(frame, 0, 400, 300, 120)
	o := &follower{}
	for b.Loop() {
		o.add(&f)
	}
}

// BenchmarkScore is one second of one face.
func BenchmarkScore(b *testing.B) {
	n := lightASD(b)
	w := &Window{}
	for range windowTicks {
		w.crops = append(w.crops, new(crop))
	}
	for b.Loop() {
		if _, err := n.score(b.Context(), w, NewMFCC(check.Scratch(b))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*windowTicks), "ms/tick")
}
