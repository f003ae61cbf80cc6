package wav2lip

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"lipsync/internal/onnx"
)

// TestTry checks that a network that can't be run makes no engine.
func TestTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		ended, end := context.WithCancel(t.Context())
		end()
		for _, c := range []struct {
			name string
			ctx  context.Context
			run  func(ctx context.Context, c *canvas) error
			want string
		}{
			{"fails", t.Context(), func(context.Context, *canvas) error { return broken }, "wav2lip: the network can't be run: broken"},
			{"nobody waits for it", ended, wait, "context canceled"},
		} {
			e, err := start(c.ctx, inGo(model{sound: 1, size: 96, batch: 2}, c.run))
			if err == nil {
				e.Close()
			}
			if err == nil || err.Error() != c.want {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			}
		}
	})
}

func wait(ctx context.Context, _ *canvas) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestOtherOutput tries a model that doesn't say that its faces are of another
// size than those it takes.
func TestOtherOutput(t *testing.T) {
	e, err := New(t.Context(), loadGraph(t, slice(onnx.Float32, -1, 96, []int{-1, -1, -1, -1}, 2)), Options{})
	if err == nil {
		e.Close()
	}
	if err == nil || !strings.HasPrefix(err.Error(), "wav2lip: the network can't be run: ") {
		t.Errorf("got %v", err)
	}
}
