package neural

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"lipsync/internal/network/batch"
	"lipsync/internal/test/neuraltest"
)

// tall is a view of a whole face, from above the brows to below the chin.
var tall = View{Left: .25, Top: -.70, Right: 2.13, Bottom: 2.25}

// hears is speech of which a network hears nothing.
type hears struct{}

func (hears) Fill(context.Context, []float32, int) error { return nil }

// newTestEngine returns an engine with a network in Go.
func newTestEngine(t testing.TB, size, most int, n neuraltest.Network) *Engine {
	t.Helper()
	v := tall
	v.Size = size
	return startTest(t, Network{View: v, BGR: true}, most, n)
}

// startTest returns an engine of which a network in Go does the work.
func startTest(t testing.TB, network Network, most int, n neuraltest.Network) *Engine {
	t.Helper()
	const sounds = 4
	network.Network = batch.Network{
		Name: "test", Most: most, Runs: 1,
		Bind: func(_ context.Context, faces int) (batch.Binding, error) {
			return n.Bind(network.View.Size, sounds, faces), nil
		},
	}
	network.Pictures, network.Sound, network.Sounds = 0, 1, sounds
	network.Hear = func(*io.SectionReader, float64) Speech { return hears{} }
	e, err := New(t.Context(), network, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
