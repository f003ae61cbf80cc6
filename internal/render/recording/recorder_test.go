package recording

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/rendertest"
)

// sounding is a Media that encodes sound by a function.
type sounding struct {
	rendertest.Media
	encode func(context.Context) error
}

func (s sounding) EncodeSound(ctx context.Context, _ order.Output, _, _ string) error {
	return s.encode(ctx)
}

// longOutput returns an output whose sound is encoded beside its pieces.
func longOutput(t *testing.T, encode func(context.Context) error) Output {
	dir := t.TempDir()
	return Output{
		Media: sounding{encode: encode}, Video: &medium.Video{Width: 16, Height: 16, Rate: medium.RateOf(25000)}, Frames: 4000,
		Path: filepath.Join(dir, "output"), Dir: dir, Pieces: stalled{}, Now: time.Now,
	}
}

// TestUnencodedSound records an output whose sound can't be encoded. It fails with the next frame, and not because of its pieces.
func TestUnencodedSound(t *testing.T) {
	broken := errors.New("broken")
	for name, encode := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return broken },
		"panic": func(context.Context) error { panic(broken) },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, err := New(t.Context(), longOutput(t, encode))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			err = r.Add(t.Context(), medium.Bytes(r.Video.NewFrame()), true)
			finished := r.Finish(t.Context())
			if err == nil || errors.Is(err, ErrPieces) || !errors.Is(finished, err) || name == "error" && !errors.Is(err, broken) {
				t.Errorf("%s: got %v, and at the end %v", name, err, finished)
			}
			r.Abort()
		})
	}
}

// TestAbortedSound aborts an output while its sound is encoded.
func TestAbortedSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		ctx, cancel := context.WithCancel(t.Context())
		r, err := New(ctx, longOutput(t, func(ctx context.Context) error {
			<-ctx.Done()
			ended = true
			return ctx.Err()
		}))
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		if r.Abort(); !ended {
			t.Error("the recorder ended before its sound")
		}
	})
}
