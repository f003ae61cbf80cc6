package wav2lip

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// gate is a network that waits at its entry until it is told what to answer.
type gate struct {
	open    bool  // once the engine has tried it
	sizes   []int // faces of each run
	answers chan error
}

func (g *gate) run(_ context.Context, c *canvas) error {
	if !g.open {
		g.open = true
		return nil
	}
	g.sizes = append(g.sizes, len(c.inputs[1])/(bands*columns))
	err := <-g.answers
	for i := range c.output {
		c.output[i] = c.inputs[1][i/(3*96*96)*bands*columns] // paints the first number of its sound
	}
	return err
}

// ask has n faces painted at once, of sounds from first on, and returns where
// their errors come.
func ask(ctx context.Context, e *Engine, first, n int) chan error {
	answered := make(chan error, n)
	for i := range n {
		go func() {
			b := e.newBrush()
			b.sound[0] = float32(first + i)
			err := e.infer(ctx, b)
			if err == nil && (b.output[0] != b.sound[0] || b.output[len(b.output)-1] != b.sound[0]) {
				err = errors.New("another's face")
			}
			answered <- err
		}()
	}
	synctest.Wait()
	return answered
}

// check takes so many errors and compares them.
func check(t *testing.T, answered chan error, n int, want error) {
	t.Helper()
	for range n {
		if err := <-answered; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestBatchesFill checks that what waits while the network runs goes together
// next.
func TestBatchesFill(t *testing.T) {
	for _, c := range []struct {
		fixed   bool
		waiting int
		want    []int
	}{
		{false, 8, []int{1, 8}}, {false, 20, []int{1, 8, 8, 4}}, {false, 7, []int{1, 4, 2, 1}},
		{true, 20, []int{8, 8, 8, 8}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{answers: make(chan error)}
			e := startTest(t, model{sound: 1, size: 96, batch: 8, fixed: c.fixed}, g.run)
			answered := ask(t.Context(), e, 0, 1)
			more := ask(t.Context(), e, 1, c.waiting)
			for range c.want {
				g.answers <- nil
				synctest.Wait()
			}
			check(t, answered, 1, nil)
			check(t, more, c.waiting, nil)
			if !slices.Equal(g.sizes, c.want) {
				t.Errorf("%d waiting: runs of %v, want %v", c.waiting, g.sizes, c.want)
			}
		})
	}
}

// TestFailureStaysInBatch checks that a run that fails fails its own faces alone.
func TestFailureStaysInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, broken := &gate{answers: make(chan error)}, errors.New("broken")
		e := startTest(t, model{sound: 1, size: 96, batch: 4}, g.run)
		first := ask(t.Context(), e, 0, 1)
		second := ask(t.Context(), e, 1, 4)
		g.answers <- nil
		g.answers <- broken
		check(t, first, 1, nil)
		check(t, second, 4, broken)
		third := ask(t.Context(), e, 5, 1)
		g.answers <- nil
		check(t, third, 1, nil)
	})
}

// TestPanicStaysInBatch checks that a network that panics fails the faces of that
// run alone.
func TestPanicStaysInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTest(t, model{sound: 1, size: 96, batch: 1}, func(_ context.Context, c *canvas) error {
			if c.inputs[1][0] == 1 {
				panic("odd")
			}
			copy(c.output, c.inputs[0])
			return nil
		})
		for range 3 { // more than there are lanes
			b := e.newBrush()
			b.sound[0] = 1
			if err := e.infer(t.Context(), b); err == nil || !strings.HasPrefix(err.Error(), "panic: odd") {
				t.Errorf("got %v, want the panic", err)
			}
			if err := e.infer(t.Context(), e.newBrush()); err != nil {
				t.Errorf("the next face: %v", err)
			}
		}
	})
}

// TestContextEnds checks that who waits for a network that doesn't answer is
// freed by their own context, in the run as in the queue, and others aren't.
func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error, 10)}
		e := startTest(t, model{sound: 1, size: 96, batch: 2}, g.run)
		ctx, cancel := context.WithCancel(t.Context())
		ended := ask(ctx, e, 0, 6)
		cancel()
		check(t, ended, 6, context.Canceled)
		others := ask(t.Context(), e, 6, 3)
		for range cap(g.answers) {
			g.answers <- nil
		}
		check(t, others, 3, nil)
	})
}

// TestClose checks that nobody waits for an engine that is closed.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error)}
		e := startTest(t, model{sound: 1, size: 96, batch: 2}, g.run)
		answered := ask(t.Context(), e, 0, 6)
		e.cancel()
		check(t, answered, 6, errClosed)
		g.answers <- nil
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		check(t, ask(t.Context(), e, 0, 1), 1, errClosed)
	})
}

// TestRunsOverlap checks that as many runs as the model allows are at once, and
// that the next waits for one of them.
func TestRunsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int32
		answers := make(chan error)
		e := startTest(t, model{sound: 1, size: 96, batch: 1, runs: 2}, func(_ context.Context, c *canvas) error {
			if c.inputs[1][0] == 0 { // the engine tries it
				return nil
			}
			now.Add(1)
			defer now.Add(-1)
			copy(c.output, slices.Repeat(c.inputs[1][:1], len(c.output)))
			return <-answers
		})
		answered := ask(t.Context(), e, 1, 5)
		for left := 5; left > 0; left-- {
			if got, want := now.Load(), int32(min(left, 2)); got != want {
				t.Errorf("%d faces left: %d runs, want %d", left, got, want)
			}
			answers <- nil
			synctest.Wait()
		}
		check(t, answered, 5, nil)
	})
}
