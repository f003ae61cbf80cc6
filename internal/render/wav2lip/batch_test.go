package wav2lip

import (
	"context"
	"errors"
	"log/slog"
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

func (g *gate) run(_ context.Context, c *goBinding) error {
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

// ask lets the engine paint n faces at once, with sounds from first on, and returns the
// channel of their errors.
func ask(ctx context.Context, e *Engine, first, n int) chan error {
	answered := make(chan error, n)
	for i := range n {
		go func() {
			b := e.newBuffers()
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

// check receives a number of errors and compares them.
func check(t *testing.T, answered chan error, n int, want error) {
	t.Helper()
	for range n {
		if err := <-answered; !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestBatchesFill checks that the faces that wait while the network runs are in the next
// batch together.
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

// TestFailureStaysInBatch checks that a run that fails fails only its own faces.
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

// TestPanicStaysInBatch checks that a network that panics fails only the faces of that
// run.
func TestPanicStaysInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startTest(t, model{sound: 1, size: 96, batch: 1}, func(_ context.Context, c *goBinding) error {
			if c.inputs[1][0] == 1 {
				panic("odd")
			}
			copy(c.output, c.inputs[0])
			return nil
		})
		for range 3 { // more than there are runners
			b := e.newBuffers()
			b.sound[0] = 1
			if err := e.infer(t.Context(), b); err == nil || !strings.HasPrefix(err.Error(), "panic: odd") {
				t.Errorf("got %v, want the panic", err)
			}
			if err := e.infer(t.Context(), e.newBuffers()); err != nil {
				t.Errorf("the next face: %v", err)
			}
		}
	})
}

// TestContextEnds checks calls that wait for a network that doesn't answer. The end of a
// call's own context must end it, in a run and in the queue, and no other call.
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

// TestRunsOverlap checks that there are as many runs at once as the model allows, and
// that the next run waits for one of them.
func TestRunsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int32
		answers := make(chan error)
		e := startTest(t, model{sound: 1, size: 96, batch: 1, runs: 2}, func(_ context.Context, c *goBinding) error {
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

// watchedBinding is a binding that counts its calls. Its outputs can't be read before copying is closed.
type watchedBinding struct {
	goBinding
	loaded, begun *atomic.Int32
	running       <-chan struct{}
	copying       <-chan struct{}
}

func (s *watchedBinding) Input(i int) []float32 {
	s.loaded.Add(1)
	return s.goBinding.Input(i)
}

func (s *watchedBinding) Run(context.Context) error {
	s.begun.Add(1)
	<-s.running
	return nil
}

func (s *watchedBinding) Output(i int) []float32 {
	<-s.copying
	return s.goBinding.Output(i)
}

// TestCopiesOverlapRuns checks that a batch is loaded while the one before it runs, and
// that the outputs of a batch are copied while the next one runs.
func TestCopiesOverlapRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loaded, begun atomic.Int32
		running, copying := make(chan struct{}), make(chan struct{})
		m := inGo(model{sound: 1, size: 96, batch: 1, runs: 1}, nil)
		bind := m.bind
		m.bind = func(ctx context.Context, inputs, outputs [][]int) (binding, error) {
			b, err := bind(ctx, inputs, outputs)
			return &watchedBinding{*b.(*goBinding), &loaded, &begun, running, copying}, err
		}
		go func() { running <- struct{}{} }() // the engine tries it
		e, err := start(t.Context(), m, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		answered := ask(t.Context(), e, 0, 2)
		if loads, runs := loaded.Load()/2, begun.Load()-1; loads != 2 || runs != 1 {
			t.Errorf("while the first batch runs: %d are loaded and %d begun, want 2 and 1", loads, runs)
		}
		running <- struct{}{}
		synctest.Wait()
		if runs := begun.Load() - 1; runs != 2 {
			t.Errorf("while the outputs of the first batch are copied: %d are begun, want 2", runs)
		}
		close(copying)
		running <- struct{}{}
		for range 2 {
			<-answered
		}
	})
}

// TestBindingFails checks that only the faces of a batch for which there is no binding
// fail, whether it would have run at once or waits to run.
func TestBindingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		broken := errors.New("broken")
		g := &gate{answers: make(chan error)}
		m := inGo(model{sound: 1, size: 96, batch: 2, runs: 1}, g.run)
		bind := m.bind
		m.bind = func(ctx context.Context, inputs, outputs [][]int) (binding, error) {
			if fails.Load() {
				return (*goBinding)(nil), broken // as a *onnx.Binding that is nil
			}
			return bind(ctx, inputs, outputs)
		}
		e, err := start(t.Context(), m, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		fails.Store(true)
		check(t, ask(t.Context(), e, 0, 1), 1, broken)
		fails.Store(false)
		first := ask(t.Context(), e, 0, 1)
		second := ask(t.Context(), e, 1, 2) // with the binding of the try
		third := ask(t.Context(), e, 3, 2)
		fails.Store(true)
		g.answers <- nil
		check(t, first, 1, nil)
		check(t, third, 2, broken)
		g.answers <- nil
		check(t, second, 2, nil)
	})
}
