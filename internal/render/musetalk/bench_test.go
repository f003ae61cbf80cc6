//go:build cgo

package musetalk

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/network/batch"
	"lipsync/internal/render/neural"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/neuraltest"
)

// paintFrames paints as many frames at once as keep the network busy: on a GPU a batch of fewer is filled up.
func paintFrames(b *testing.B, e *neural.Engine) {
	b.Helper()
	a, drawn := neuraltest.Draw(b, e, 25, 1280, 720, 4, func(int) facetest.Head { return facetest.Head{X: 640, Y: 260, Eyes: 110} })
	p, workers := neuraltest.Plan(b, a, 25, 4), e.Workers()
	b.ReportAllocs()
	for b.Loop() {
		var all errgroup.Group
		for i := range workers {
			all.Go(func() error {
				mouths, err := p.Paint(b.Context(), i%4, drawn[i%4])
				for _, m := range mouths {
					m.Release()
				}
				return err
			})
		}
		if err := all.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*workers), "s/frame")
}

// BenchmarkBare paints with a network that takes no time: it cuts faces out and puts them back.
func BenchmarkBare(b *testing.B) {
	e, err := neural.New(b.Context(), neural.Network{
		Network: batch.Network{Name: "bare", Most: 1, Runs: 1, Bind: func(_ context.Context, n int) (batch.Binding, error) {
			return neuraltest.Network(neuraltest.AsItIs).Bind(side, 1, n), nil
		}},
		View: view, Pictures: 0, Sound: 1, Sounds: 1, Hear: func(*io.SectionReader, float64) neural.Speech { return deaf{} },
	}, slog.New(slog.DiscardHandler))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	paintFrames(b, e)
}

type deaf struct{}

func (deaf) Fill(context.Context, []float32, int) error { return nil }

// BenchmarkFull paints with networks of full size: musetalk.onnx and the others in the folder that LIPSYNC_MUSETALK names, which
// export.py --random 1 makes.
func BenchmarkFull(b *testing.B) {
	folder := os.Getenv("LIPSYNC_MUSETALK")
	if folder == "" {
		b.Skip("LIPSYNC_MUSETALK names no folder of networks")
	}
	parts := load(b, func(role string) string { return filepath.Join(folder, role+".onnx") })
	e, err := New(b.Context(), parts, slog.Default())
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	paintFrames(b, e.Engine)
}
