package musetalk

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"slices"
	"sync"

	"lipsync/internal/network/batch"
	"lipsync/internal/sound/speech"
)

// Whisper's encoder hears segments, and makes 50 steps of each second. The published code cuts the speech into segments side by
// side, and the mouth jumps where two of them meet. Here they overlap, and no step is used that lies near a border inside the speech.
const (
	segmentTime = 30 // s of a segment
	stepRate    = 50 // steps a second
	steps       = segmentTime * stepRate
	layers      = 5 // states of a step: what each layer of the encoder makes
	overlap     = 4 * stepRate
	shift       = steps - overlap // steps from the beginning of a segment to that of the next
	stepSamples = speech.SampleRate / stepRate
)

// A frame hears the steps from earlier before its time on: from -80 to 120 ms, as the network was trained at 25 frames/s.
const window, earlier = 10, 4

// mostSegments is the number of segments that a job keeps: that of the frames being painted, and its neighbours. At the published
// width each takes 11.5 MB.
const mostSegments = 3

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

// heard is the speech of a job. Its segments are heard when a frame first needs them.
type heard struct {
	*hearing
	samples *io.SectionReader
	fps     float64
	steps   int

	mu       sync.Mutex
	segments []*segment // the one that was used last is the last
}

// segment is a segment of the speech, as the network hears it.
type segment struct {
	index int
	done  chan struct{} // closed when the fields below are set
	steps []float32
	err   error
}

// Fill implements neural.Speech. Before the speech and after it there are zeros.
func (h *heard) Fill(ctx context.Context, sound []float32, frame int) error {
	first := windowStart(frame, h.fps)
	for i := range window {
		at, part := first+i, sound[i*h.step:(i+1)*h.step]
		if at < 0 || at >= h.steps {
			clear(part)
			continue
		}
		index := h.segmentOf(at)
		s, err := h.segment(ctx, index)
		if err != nil {
			return err
		}
		copy(part, s.steps[(at-index*shift)*h.step:])
	}
	return nil
}

// segmentOf returns the index of the segment in which a step is used: it is at least half the overlap away from a border inside
// the speech.
func (h *heard) segmentOf(step int) int {
	last := (max(h.steps-steps, 0) + shift - 1) / shift
	return min(max(step-overlap/2, 0)/shift, last)
}

// segment returns a segment. The first caller makes it, and others wait.
func (h *heard) segment(ctx context.Context, index int) (*segment, error) {
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

// find returns a segment, and whether the caller has to make it.
func (h *heard) find(index int) (s *segment, made bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.segments, func(s *segment) bool { return s.index == index })
	if made = i < 0; made {
		s = &segment{index: index, done: make(chan struct{})}
		if len(h.segments) == mostSegments {
			h.segments = slices.Delete(h.segments, 0, 1)
		}
	} else {
		s = h.segments[i]
		h.segments = slices.Delete(h.segments, i, i+1)
	}
	h.segments = append(h.segments, s)
	return s, made
}

// forget lets the next caller make a segment that failed.
func (h *heard) forget(s *segment) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.segments = slices.DeleteFunc(h.segments, func(other *segment) bool { return other == s })
}

// hear runs the network on a segment.
func (h *heard) hear(ctx context.Context, s *segment) error {
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
			return errNoNumber
		}
	}
	s.steps = out
	return nil
}

// errNoNumber is the error of hearing infinity or NaN.
var errNoNumber = errors.New("musetalk-hearing: the network made a value that is not a number")
