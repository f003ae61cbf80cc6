package batch

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

// goBinding is the binding of a network in Go. An item has one number, and the network answers with the same number.
type goBinding struct {
	input, output []float32
	run           func(ctx context.Context, c *goBinding) error
}

func (c *goBinding) Input(int) []float32           { return c.input }
func (c *goBinding) Output(int) []float32          { return c.output }
func (c *goBinding) Run(ctx context.Context) error { return c.run(ctx, c) }
func (c *goBinding) Close() error                  { return nil }

// inGo returns the network with bindings that run a Go function.
func inGo(n Network, run func(ctx context.Context, c *goBinding) error) Network {
	n.Name, n.Runs = "numbers", max(1, n.Runs)
	n.Bind = func(_ context.Context, items int) (Binding, error) {
		return &goBinding{make([]float32, items), make([]float32, items), run}, nil
	}
	return n
}

// start returns the queue of a network that runs in Go.
func start(t *testing.T, n Network, run func(ctx context.Context, c *goBinding) error) *Queue {
	t.Helper()
	return startWith(t, inGo(n, run))
}

func startWith(t *testing.T, n Network) *Queue {
	t.Helper()
	q, err := New(t.Context(), n, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
	return q
}

// number returns an item with a number.
func number(x float32) *Item { return NewItem([][]float32{{x}}, [][]float32{{0}}) }

// gate is a network that waits at its entry until it is told what to answer.
type gate struct {
	open    bool  // once the queue has tried it
	sizes   []int // items of each run
	answers chan error
}

func (g *gate) run(_ context.Context, c *goBinding) error {
	if !g.open {
		g.open = true
		return nil
	}
	g.sizes = append(g.sizes, len(c.input))
	err := <-g.answers
	copy(c.output, c.input)
	return err
}

// ask lets the queue run n items at once, with numbers from first on, and returns the
// channel of their errors.
func ask(ctx context.Context, q *Queue, first, n int) chan error {
	answered := make(chan error, n)
	for i := range n {
		go func() {
			item := number(float32(first + i))
			err := q.Do(ctx, item)
			if err == nil && item.Outputs[0][0] != item.Inputs[0][0] {
				err = errors.New("another's number")
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

// TestBatchesFill checks that the items that wait while the network runs are in the next
// batch together.
func TestBatchesFill(t *testing.T) {
	for _, c := range []struct {
		fixed, padded bool
		waiting       int
		want          []int
	}{
		{waiting: 8, want: []int{1, 8}}, {waiting: 20, want: []int{1, 8, 8, 4}}, {waiting: 7, want: []int{1, 4, 2, 1}},
		{fixed: true, waiting: 20, want: []int{8, 8, 8, 8}}, {padded: true, waiting: 20, want: []int{8, 8, 8, 8}},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := &gate{answers: make(chan error)}
			q := start(t, Network{Most: 8, Fixed: c.fixed, Padded: c.padded}, g.run)
			answered := ask(t.Context(), q, 0, 1)
			more := ask(t.Context(), q, 1, c.waiting)
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

// TestFailureStaysInBatch checks that a run that fails fails only its own items.
func TestFailureStaysInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, broken := &gate{answers: make(chan error)}, errors.New("broken")
		q := start(t, Network{Most: 4}, g.run)
		first := ask(t.Context(), q, 0, 1)
		second := ask(t.Context(), q, 1, 4)
		g.answers <- nil
		g.answers <- broken
		check(t, first, 1, nil)
		check(t, second, 4, broken)
		third := ask(t.Context(), q, 5, 1)
		g.answers <- nil
		check(t, third, 1, nil)
	})
}

// TestPanicStaysInBatch checks that a network that panics fails only the items of that
// run.
func TestPanicStaysInBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := start(t, Network{Most: 1}, func(_ context.Context, c *goBinding) error {
			if c.input[0] == 1 {
				panic("odd")
			}
			return nil
		})
		for range 3 { // more than there are runners
			if err := q.Do(t.Context(), number(1)); err == nil || !strings.HasPrefix(err.Error(), "panic: odd") {
				t.Errorf("got %v, want the panic", err)
			}
			if err := q.Do(t.Context(), number(0)); err != nil {
				t.Errorf("the next item: %v", err)
			}
		}
	})
}

// TestContextEnds checks calls that wait for a network that doesn't answer. The end of a
// call's own context must end it, in a run and in the queue, and no other call.
func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error, 10)}
		q := start(t, Network{Most: 2}, g.run)
		ctx, cancel := context.WithCancel(t.Context())
		ended := ask(ctx, q, 0, 6)
		cancel()
		check(t, ended, 6, context.Canceled)
		others := ask(t.Context(), q, 6, 3)
		for range cap(g.answers) {
			g.answers <- nil
		}
		check(t, others, 3, nil)
	})
}

// TestClose checks that nobody waits for a queue that is closed.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error)}
		q := start(t, Network{Most: 2}, g.run)
		answered := ask(t.Context(), q, 0, 6)
		q.cancel()
		check(t, answered, 6, errClosed)
		g.answers <- nil
		if err := q.Close(); err != nil {
			t.Error(err)
		}
		check(t, ask(t.Context(), q, 0, 1), 1, errClosed)
	})
}

// TestRunsOverlap checks that there are as many runs at once as the model allows, and
// that the next run waits for one of them.
func TestRunsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now atomic.Int32
		answers := make(chan error)
		q := start(t, Network{Most: 1, Runs: 2}, func(_ context.Context, c *goBinding) error {
			if c.input[0] == 0 { // the queue tries it
				return nil
			}
			now.Add(1)
			defer now.Add(-1)
			copy(c.output, c.input)
			return <-answers
		})
		answered := ask(t.Context(), q, 1, 5)
		for left := 5; left > 0; left-- {
			if got, want := now.Load(), int32(min(left, 2)); got != want {
				t.Errorf("%d items left: %d runs, want %d", left, got, want)
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
		m := inGo(Network{Most: 1, Runs: 1}, nil)
		bind := m.Bind
		m.Bind = func(ctx context.Context, items int) (Binding, error) {
			b, err := bind(ctx, items)
			return &watchedBinding{*b.(*goBinding), &loaded, &begun, running, copying}, err
		}
		go func() { running <- struct{}{} }() // the queue tries it
		q := startWith(t, m)
		answered := ask(t.Context(), q, 0, 2)
		if loads, runs := loaded.Load(), begun.Load()-1; loads != 2 || runs != 1 {
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

// TestBindingFails checks that only the items of a batch for which there is no binding
// fail, whether it would have run at once or waits to run.
func TestBindingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fails atomic.Bool
		broken := errors.New("broken")
		g := &gate{answers: make(chan error)}
		m := inGo(Network{Most: 2, Runs: 1}, g.run)
		bind := m.Bind
		m.Bind = func(ctx context.Context, items int) (Binding, error) {
			if fails.Load() {
				return (*goBinding)(nil), broken // as a *onnx.Binding that is nil
			}
			return bind(ctx, items)
		}
		q := startWith(t, m)
		fails.Store(true)
		check(t, ask(t.Context(), q, 0, 1), 1, broken)
		fails.Store(false)
		first := ask(t.Context(), q, 0, 1)
		second := ask(t.Context(), q, 1, 2) // with the binding of the try
		third := ask(t.Context(), q, 3, 2)
		fails.Store(true)
		g.answers <- nil
		check(t, first, 1, nil)
		check(t, third, 2, broken)
		g.answers <- nil
		check(t, second, 2, nil)
	})
}
