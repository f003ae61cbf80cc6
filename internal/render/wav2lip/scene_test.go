package wav2lip

import (
	"context"
	"log/slog"
	"testing"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
	"lipsync/internal/test/neuraltest"
)

// newTestEngine returns an engine with a network in Go.
func newTestEngine(t testing.TB, size, most int, n neuraltest.Network) *neural.Engine {
	t.Helper()
	face, sound, out := info("faces", -1, 6, size, size), info("mel", -1, 1, bands, columns), info("face", -1, 3, size, size)
	m, err := describe([]onnx.Info{face, sound}, []onnx.Info{out}, most)
	if err != nil {
		t.Fatal(err)
	}
	m.Bind = func(_ context.Context, faces int) (batch.Binding, error) { return n.Bind(size, m.Sounds, faces), nil }
	return start(t, m)
}

// start returns the engine of a model.
func start(t testing.TB, m neural.Network) *neural.Engine {
	t.Helper()
	e, err := neural.New(t.Context(), m, slog.New(slog.DiscardHandler))
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

// startONNX returns the engine of a session. most is the number of faces of its batches, unless the model fixes another.
func startONNX(t testing.TB, session *onnx.Session, most int) *neural.Engine {
	t.Helper()
	m, err := newModel(session, most)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, m)
}
