package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/network/onnx"
)

// errFull is the error of a network that has too little memory.
var errFull = fmt.Errorf("the network failed: %w", onnx.ErrMemory)

// TestBatchesSplit checks that items whose batch has too little memory are run in
// smaller batches, with a warning for each full batch that is made smaller. The error stays
// if a batch has one item, or if the model fixes its size.
func TestBatchesSplit(t *testing.T) {
	for _, c := range []struct {
		name    string
		fixed   bool
		padded  bool
		waiting int
		answers []error
		sizes   []int // items of each run
		failed  int   // items
		warned  int   // times
	}{
		{name: "twice", waiting: 8, answers: []error{errFull, errFull, errFull, nil, nil, nil, nil}, sizes: []int{8, 4, 4, 2, 2, 2, 2}, warned: 2},
		{name: "to one item", waiting: 2, answers: []error{errFull, errFull, nil}, sizes: []int{2, 1, 1}, failed: 1},
		{name: "one item", waiting: 1, answers: []error{errFull}, sizes: []int{1}, failed: 1},
		{name: "fixed", fixed: true, waiting: 8, answers: []error{errFull}, sizes: []int{8}, failed: 8},
		{name: "padded", padded: true, waiting: 8, answers: []error{errFull, errFull, errFull, nil, nil, nil, nil}, sizes: []int{8, 4, 4, 2, 2, 2, 2}, warned: 2},
		{name: "another error", waiting: 8, answers: []error{errors.New("broken")}, sizes: []int{8}, failed: 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			g := &gate{answers: make(chan error)}
			q := start(t, Network{Most: 8, Fixed: c.fixed, Padded: c.padded}, g.run)
			q.log = slog.New(slog.NewTextHandler(&log, nil))
			first := ask(t.Context(), q, 0, 1) // the others wait for it
			answered := ask(t.Context(), q, 1, c.waiting)
			for _, answer := range append([]error{nil}, c.answers...) {
				g.answers <- answer
				synctest.Wait()
			}
			check(t, first, 1, nil)
			failed := 0
			for range c.waiting {
				if err := <-answered; err != nil {
					failed++
				}
			}
			if failed != c.failed {
				t.Errorf("%s: %d items failed, want %d", c.name, failed, c.failed)
			}
			if got := g.sizes[1:]; !slices.Equal(got, c.sizes) {
				t.Errorf("%s: runs of %v, want %v", c.name, got, c.sizes)
			}
			if got := strings.Count(log.String(), "\n"); got != c.warned {
				t.Errorf("%s: %d warnings, want %d: %s", c.name, got, c.warned, &log)
			}
		})
	}
}

// TestSplitBatchesStaySmall checks that a full batch that had too little memory is the
// last of its size.
func TestSplitBatchesStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error)}
		q := start(t, Network{Most: 4}, g.run)
		for i, answers := range [][]error{{nil, errFull, nil, nil}, {nil, nil, nil}} {
			first := ask(t.Context(), q, 10*i, 1)
			rest := ask(t.Context(), q, 10*i+1, 4)
			for _, answer := range answers {
				g.answers <- answer
				synctest.Wait()
			}
			check(t, first, 1, nil)
			check(t, rest, 4, nil)
		}
		if want := []int{1, 4, 2, 2, 1, 2, 2}; !slices.Equal(g.sizes, want) {
			t.Errorf("runs of %v, want %v", g.sizes, want)
		}
	})
}

// TestTrySplits checks that a network whose full batches have too little memory is
// tried with smaller ones, unless the model fixes them.
func TestTrySplits(t *testing.T) {
	for _, c := range []struct {
		room  int // items in a batch that there is memory for
		fixed bool
		want  int // items in a batch; 0: it is refused
	}{{8, false, 8}, {3, false, 2}, {1, false, 1}, {0, false, 0}, {4, true, 0}} {
		q, err := New(t.Context(), inGo(Network{Most: 8, Fixed: c.fixed, Runs: 2}, func(_ context.Context, p *goBinding) error {
			if len(p.input) > c.room {
				return errFull
			}
			return nil
		}), slog.New(slog.DiscardHandler))
		got := 0
		if err == nil {
			got = q.network.Most
			if want := 3 * c.want; q.Together() != want {
				t.Errorf("room for %d: %d calls at once, want %d", c.room, q.Together(), want)
			}
			err = q.Close()
		}
		if got != c.want || (c.want > 0) != (err == nil) || err != nil && !errors.Is(err, onnx.ErrMemory) {
			t.Errorf("room for %d: got batches of %d and %v, want %d", c.room, got, err, c.want)
		}
	}
}

// TestBindingSplits checks that a full batch is run in halves if there is too little memory
// for its binding, even while it waits to run.
func TestBindingSplits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error)}
		m := inGo(Network{Most: 4, Runs: 1}, g.run)
		bind, bound := m.Bind, 0
		m.Bind = func(ctx context.Context, items int) (Binding, error) {
			if items == 4 {
				if bound++; bound > 1 { // after the one of the try
					return (*goBinding)(nil), errFull
				}
			}
			return bind(ctx, items)
		}
		q := startWith(t, m)
		first := ask(t.Context(), q, 0, 1)
		rest := ask(t.Context(), q, 1, 8) // the binding of the try is for the first 4 of them
		for range 4 {
			g.answers <- nil
			synctest.Wait()
		}
		check(t, first, 1, nil)
		check(t, rest, 8, nil)
		if want := []int{1, 4, 2, 2}; !slices.Equal(g.sizes, want) {
			t.Errorf("runs of %v, want %v", g.sizes, want)
		}
	})
}

// TestPartialBatchesSplit checks that a batch that is not full and has too little memory
// is run in halves, and that later batches are as large as before.
func TestPartialBatchesSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		g := &gate{answers: make(chan error)}
		q := start(t, Network{Most: 8}, g.run)
		q.log = slog.New(slog.NewTextHandler(&log, nil))
		for i, c := range []struct {
			items   int
			answers []error
		}{{4, []error{nil, errFull, nil, errFull, nil, nil}}, {8, []error{nil, nil}}} {
			first := ask(t.Context(), q, 10*i, 1)
			rest := ask(t.Context(), q, 10*i+1, c.items)
			for _, answer := range c.answers {
				g.answers <- answer
				synctest.Wait()
			}
			check(t, first, 1, nil)
			check(t, rest, c.items, nil)
		}
		if want := []int{1, 4, 2, 2, 1, 1, 1, 8}; !slices.Equal(g.sizes, want) || log.Len() > 0 {
			t.Errorf("runs of %v, want %v; log %q", g.sizes, want, &log)
		}
	})
}

// TestLoadedBatchSplits lets memory become short while one full batch runs and another is loaded: both are run in parts that fit, also
// if runs are filled up.
func TestLoadedBatchSplits(t *testing.T) {
	for _, padded := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			room := 16
			q := start(t, Network{Most: 16, Padded: padded}, func(_ context.Context, c *goBinding) error {
				time.Sleep(time.Millisecond)
				if len(c.input) > room {
					return errFull
				}
				copy(c.output, c.input)
				return nil
			})
			room = 4
			check(t, ask(t.Context(), q, 0, 96), 96, nil)
		})
	}
}
