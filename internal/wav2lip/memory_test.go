package wav2lip

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

	"lipsync/internal/onnx"
)

// errFull is the error of a network that has too little memory.
var errFull = fmt.Errorf("the network failed: %w", onnx.ErrMemory)

// TestBatchesSplit checks that faces whose batch has too little memory are painted in
// smaller ones, which stay small, and that of one face, or of a batch that the model
// fixes, the error stands.
func TestBatchesSplit(t *testing.T) {
	for _, c := range []struct {
		name    string
		fixed   bool
		waiting int
		answers []error
		sizes   []int // faces of each run
		failed  int   // faces
		warned  int   // times
	}{
		{name: "twice", waiting: 8, answers: []error{errFull, errFull, errFull, nil, nil, nil, nil}, sizes: []int{8, 4, 4, 2, 2, 2, 2}, warned: 2},
		{name: "to one face", waiting: 2, answers: []error{errFull, errFull, nil}, sizes: []int{2, 1, 1}, failed: 1, warned: 1},
		{name: "one face", waiting: 1, answers: []error{errFull}, sizes: []int{1}, failed: 1},
		{name: "fixed", fixed: true, waiting: 8, answers: []error{errFull}, sizes: []int{8}, failed: 8},
		{name: "another error", waiting: 8, answers: []error{errors.New("broken")}, sizes: []int{8}, failed: 8},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			g := &gate{answers: make(chan error)}
			e := startTest(t, model{sound: 1, size: 96, batch: 8, fixed: c.fixed}, g.run)
			e.log = slog.New(slog.NewTextHandler(&log, nil))
			first := ask(t.Context(), e, 0, 1) // the others wait for it
			answered := ask(t.Context(), e, 1, c.waiting)
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
				t.Errorf("%s: %d faces failed, want %d", c.name, failed, c.failed)
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

// TestSplitBatchesStaySmall checks that a batch that had too little memory is the last
// of its size.
func TestSplitBatchesStaySmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{answers: make(chan error)}
		e := startTest(t, model{sound: 1, size: 96, batch: 4}, g.run)
		for i, answers := range [][]error{{nil, errFull, nil, nil}, {nil, nil, nil}} {
			first := ask(t.Context(), e, 10*i, 1)
			rest := ask(t.Context(), e, 10*i+1, 4)
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
		room  int // faces in a batch that there is memory for
		fixed bool
		want  int // faces in a batch; 0: it is refused
	}{{8, false, 8}, {3, false, 2}, {1, false, 1}, {0, false, 0}, {4, true, 0}} {
		e, err := start(t.Context(), inGo(model{sound: 1, size: 96, batch: 8, fixed: c.fixed, runs: 2}, func(_ context.Context, p *canvas) error {
			if len(p.inputs[1])/(bands*columns) > c.room {
				return errFull
			}
			return nil
		}), slog.New(slog.DiscardHandler))
		got := 0
		if err == nil {
			got = e.model.batch
			if want := 3 * c.want; e.Workers() != want {
				t.Errorf("room for %d: %d workers, want %d", c.room, e.Workers(), want)
			}
			err = e.Close()
		}
		if got != c.want || (c.want > 0) != (err == nil) || err != nil && !errors.Is(err, onnx.ErrMemory) {
			t.Errorf("room for %d: got batches of %d and %v, want %d", c.room, got, err, c.want)
		}
	}
}
