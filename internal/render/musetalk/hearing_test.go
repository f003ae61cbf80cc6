package musetalk

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
)

// TestWindows compares the first step that each frame of 2 h hears with the formula, in whole numbers. At 25 and 30 frames/s it is
// that of the published code.
func TestWindows(t *testing.T) {
	for _, rate := range []struct{ num, den int }{{24000, 1001}, {24, 1}, {25, 1}, {30000, 1001}, {30, 1}, {48, 1}, {50, 1}, {60000, 1001}, {60, 1}} {
		fps := float64(rate.num) / float64(rate.den)
		for i := range 7200 * rate.num / rate.den {
			got, want := windowStart(i, fps), 50*i*rate.den/rate.num-4
			if got != want {
				t.Fatalf("%v, frame %d: hears from step %d on, want %d", rate, i, got, want)
			}
			published := int(math.Floor(float64(i)*(50/fps))) - 2*int(math.Ceil(50/fps))
			if (fps == 25 || fps == 30) && got != published {
				t.Fatalf("%v, frame %d: hears from step %d on, the published code from %d on", rate, i, got, published)
			}
		}
	}
}

// ears is a network for hearing, in Go. The states of a step are its loudest value, and its number in the stretch.
type ears struct {
	mu    sync.Mutex
	heard int     // runs
	fail  error   // of the next run
	more  float32 // is added to the loudest values
}

// width is that of the states that ears makes.
const width = 2

// hearing returns the part of an engine that hears by ears.
func (e *ears) hearing(t *testing.T) *hearing {
	t.Helper()
	queue, err := batch.New(t.Context(), batch.Network{Name: "ears", Most: 1, Runs: 1, Bind: func(context.Context, int) (batch.Binding, error) {
		return &earBinding{e, make([]float32, bands*columns), make([]float32, steps*layers*width)}, nil
	}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	e.heard = 0 // it was tried
	h := &hearing{queue, layers * width}
	t.Cleanup(func() { h.Close() })
	return h
}

type earBinding struct {
	*ears
	mel, states []float32
}

func (b *earBinding) Input(int) []float32  { return b.mel }
func (b *earBinding) Output(int) []float32 { return b.states }
func (b *earBinding) Close() error         { return nil }

func (b *earBinding) Run(context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.fail; err != nil {
		b.fail = nil
		return err
	}
	b.heard++
	for i := range b.states {
		step := i / (layers * width)
		if b.states[i] = float32(step); i%2 == 0 {
			b.states[i] = b.mel[2*step] + b.more
			for k := range bands {
				b.states[i] = max(b.states[i], b.mel[k*columns+2*step]+b.more, b.mel[k*columns+2*step+1]+b.more)
			}
		}
	}
	return nil
}

// quiet is silence, with a click at a sample.
type quiet struct{ click int64 }

func (q quiet) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if i := 2*q.click - at + 1; q.click > 0 && i >= 0 && i < int64(len(p)) {
		p[i] = 100
	}
	return len(p), nil
}

func silence(seconds float64) *io.SectionReader {
	return io.NewSectionReader(quiet{}, 0, 2*int64(math.Round(seconds*16000)))
}

// fill returns what a frame hears.
func fill(t *testing.T, h *heard, frame int) []float32 {
	t.Helper()
	sound := make([]float32, window*h.step)
	if err := h.Fill(t.Context(), sound, frame); err != nil {
		t.Fatal(err)
	}
	return sound
}

// TestSteps checks which step of which stretch each step of a frame is, in speech of several lengths: none lies within 2 s of a border
// inside the speech, and speech of up to 30 s is one stretch, as in the published code.
func TestSteps(t *testing.T) {
	for _, seconds := range []float64{.01, .02, 1, 29.99, 30, 30.01, 31, 56, 56.02, 57, 120.5} {
		e := new(ears)
		h := e.hearing(t).listen(silence(seconds), 25)
		total := int(math.Round(seconds*16000)) / 320
		for at := range total {
			index := h.stretchOf(at)
			in := at - index*shift
			last := index*shift+steps >= total
			if in < 0 || in >= steps || index > 0 && in < 100 || !last && in >= steps-100 {
				t.Fatalf("%g s: step %d is step %d of stretch %d", seconds, at, in, index)
			}
			if seconds <= 30 && index != 0 {
				t.Fatalf("%g s: step %d is of stretch %d", seconds, at, index)
			}
		}
		for _, frame := range []int{0, 1, 2, total/2 - 4, total/2 - 1, total / 2, total/2 + 1, total/2 + 2, total/2 + 3, 100000} {
			if frame < 0 {
				continue
			}
			sound := fill(t, h, frame)
			for i := range window {
				at := 2*frame - 4 + i
				for k, got := range sound[i*h.step : (i+1)*h.step] {
					want := float32(0)
					if at >= 0 && at < total {
						if want = -1.5; k%2 == 1 {
							want = float32(at - h.stretchOf(at)*shift)
						}
					}
					if got != want {
						t.Fatalf("%g s, frame %d: step %d has %g as state %d, want %g", seconds, frame, at, got, k, want)
					}
				}
			}
		}
	}
}

// TestClicks hears a click in the frames in which it is heard, also where stretches meet.
func TestClicks(t *testing.T) {
	for _, at := range []int{3, 800, 1390, 1399, 1400, 1401, 1499, 1500, 2699, 2700, 3000, 5990} {
		h := new(ears).hearing(t).listen(io.NewSectionReader(quiet{int64(320*at + 80)}, 0, 2*120*16000), 25)
		for frame := at/2 - 3; frame < at/2+3; frame++ {
			if frame < 0 {
				continue
			}
			sound := fill(t, h, frame)
			for i := range window {
				if got, want := sound[i*h.step] > 0, 2*frame-4+i == at; got != want {
					t.Errorf("a click in step %d: frame %d hears it in its step %d: %t, want %t", at, frame, i, got, want)
				}
			}
		}
	}
}

// TestStretchesAreHeardOnce hears 20 minutes by many workers: each stretch is heard once, and few are kept.
func TestStretchesAreHeardOnce(t *testing.T) {
	e := new(ears)
	h := e.hearing(t).listen(silence(1200), 25)
	var all errgroup.Group
	all.SetLimit(16)
	for frame := 0; frame < 1200*25; frame += 20 {
		all.Go(func() error { return h.Fill(t.Context(), make([]float32, window*h.step), frame) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, want := e.heard, 46; got != want {
		t.Errorf("%d stretches were heard, want %d", got, want)
	}
	if got := len(h.stretches); got != mostStretches {
		t.Errorf("%d stretches are kept, want %d", got, mostStretches)
	}
}

// TestHearingFails checks that a fault ends the frames that wait for it, and no later ones.
func TestHearingFails(t *testing.T) {
	e := new(ears)
	h := e.hearing(t).listen(silence(3), 25)
	e.fail = onnx.ErrMemory
	sound := make([]float32, window*h.step)
	if err := h.Fill(t.Context(), sound, 3); !errors.Is(err, onnx.ErrMemory) {
		t.Errorf("got %v", err)
	}
	if fill(t, h, 3); e.heard != 1 {
		t.Errorf("it was heard %d times, want once", e.heard)
	}
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		e.more = float32(value)
		h := e.hearing(t).listen(silence(3), 25)
		if err := h.Fill(t.Context(), sound, 3); !errors.Is(err, neural.ErrNoNumber) || !strings.HasPrefix(err.Error(), "musetalk-hearing: ") {
			t.Errorf("%g: got %v", value, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h = e.hearing(t).listen(silence(3), 25)
	e.mu.Lock() // so that no run ends
	if err := h.Fill(ctx, sound, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	e.mu.Unlock()
}
