package musetalk

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render/neural"
	"lipsync/internal/sound/speech"
)

// Whisper's encoder hears stretches, and makes 50 steps of each second. The published code cuts the speech into stretches side by
// side, and the mouth jumps where two of them meet. Here they overlap, and no step is used that lies near a border inside the speech.
const (
	stretchTime = 30 // s of a stretch
	stepRate    = 50 // steps a second
	steps       = stretchTime * stepRate
	layers      = 5 // states of a step: what each layer of the encoder makes
	overlap     = 4 * stepRate
	shift       = steps - overlap // steps from the beginning of a stretch to that of the next
	stepSamples = speech.SampleRate / stepRate
)

// A frame hears the steps from earlier before its time on: from -80 to 120 ms, as the network was trained at 25 frames/s.
const window, earlier = 10, 4

// mostStretches is the number of stretches that a job keeps: that of the frames being painted, and its neighbours. At the published
// width each takes 11.5 MB.
const mostStretches = 3

// windowStart returns the first step that a frame hears.
func windowStart(frame int, fps float64) int {
	const rounding = 1e-6 // in steps: the quotient may be that much too small
	return int(math.Floor(float64(frame)*stepRate/fps+rounding)) - earlier
}

// hearing is the network for hearing. All jobs share it.
type hearing struct {
	queue *batch.Queue
	step  int // numbers of a step: all its states
}

func newHearing(ctx context.Context, p *Part, log *slog.Logger) (*hearing, error) {
	queue, err := batch.New(ctx, batch.Network{
		Name: string(p.role), Most: 1, Runs: 1,
		Bind: func(ctx context.Context, n int) (batch.Binding, error) { return p.bind(ctx, n) },
	}, log)
	if err != nil {
		return nil, err
	}
	return &hearing{queue, layers * p.width}, nil
}

func (h *hearing) Close() error { return h.queue.Close() }

// listen returns the speech of a job.
func (h *hearing) listen(samples *io.SectionReader, fps float64) *heard {
	return &heard{hearing: h, samples: samples, fps: fps, steps: int(samples.Size() / 2 / stepSamples)}
}

// heard is the speech of a job. Its stretches are heard when a frame first needs them.
type heard struct {
	*hearing
	samples *io.SectionReader
	fps     float64
	steps   int

	mu        sync.Mutex
	stretches []*stretch // the one that was used last is the last
}

// stretch is 30 s of the speech, as the network hears them.
type stretch struct {
	index int
	done  chan struct{} // closed when the fields below are set
	steps []float32
	err   error
}

// Fill fills sound with what is heard at a frame. Before the speech and after it there are zeros.
func (h *heard) Fill(ctx context.Context, sound []float32, frame int) error {
	first := windowStart(frame, h.fps)
	for i := range window {
		at, part := first+i, sound[i*h.step:(i+1)*h.step]
		if at < 0 || at >= h.steps {
			clear(part)
			continue
		}
		index := h.stretchOf(at)
		s, err := h.stretch(ctx, index)
		if err != nil {
			return err
		}
		copy(part, s.steps[(at-index*shift)*h.step:])
	}
	return nil
}

// stretchOf returns the index of the stretch in which a step is used: it is at least half the overlap away from a border inside
// the speech.
func (h *heard) stretchOf(step int) int {
	last := (max(h.steps-steps, 0) + shift - 1) / shift
	return min(max(step-overlap/2, 0)/shift, last)
}

// stretch returns a stretch. The first caller makes it, and others wait.
func (h *heard) stretch(ctx context.Context, index int) (*stretch, error) {
	s, made := h.find(index)
	if made {
		s.err = h.hear(ctx, s)
		if s.err != nil {
			h.forget(s)
		}
		close(s.done)
	}
	select {
	case <-s.done:
		return s, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// find returns a stretch, and whether the caller has to make it.
func (h *heard) find(index int) (s *stretch, made bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.stretches, func(s *stretch) bool { return s.index == index })
	if made = i < 0; made {
		s = &stretch{index: index, done: make(chan struct{})}
		if len(h.stretches) == mostStretches {
			h.stretches = slices.Delete(h.stretches, 0, 1)
		}
	} else {
		s = h.stretches[i]
		h.stretches = slices.Delete(h.stretches, i, i+1)
	}
	h.stretches = append(h.stretches, s)
	return s, made
}

// forget lets the next caller make a stretch that failed.
func (h *heard) forget(s *stretch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stretches = slices.DeleteFunc(h.stretches, func(other *stretch) bool { return other == s })
}

// hear runs the network on a stretch.
func (h *heard) hear(ctx context.Context, s *stretch) error {
	mel, out := make([]float32, bands*columns), make([]float32, steps*h.step)
	l := spectrograms.Get().(*spectrogram)
	defer spectrograms.Put(l)
	if err := l.fill(mel, h.samples, int64(s.index)*shift*stepSamples); err != nil {
		return err
	}
	if err := h.queue.Do(ctx, batch.NewItem([][]float32{mel}, [][]float32{out})); err != nil {
		return err
	}
	for _, v := range out {
		if v-v != 0 { // infinite, or not a number
			return fmt.Errorf("%s: %w", catalog.MuseTalkHearing, neural.ErrNoNumber)
		}
	}
	s.steps = out
	return nil
}
