package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// session renders and measures takes.
type session struct {
	*lab
	programs []program
	passages []string
	progress io.Writer
	blind    map[string]string // by names of sheets, the program that X is

	mu   sync.Mutex
	done int
}

// do renders and measures takes, some of them at once. It returns the rows of each
// program in the order of the takes.
func (s *session) do(ctx context.Context, all []take, jobs int) (map[string][]row, error) {
	s.blind = map[string]string{}
	tables := map[string][]row{}
	for _, p := range s.programs {
		tables[p.name] = make([]row, len(all))
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(jobs)
	for i, t := range all {
		workers.Go(func() error {
			if err := s.take(ctx, t, len(all), func(name string, r row) { tables[name][i] = r }); err != nil {
				return fmt.Errorf("%s: %w", t.name(), err)
			}
			return nil
		})
	}
	return tables, workers.Wait()
}

// take renders and measures one take with each program, and draws its sheets.
func (s *session) take(ctx context.Context, t take, of int, keep func(program string, r row)) error {
	start := time.Now()
	for _, p := range s.programs {
		if err := s.render(ctx, t, p); err != nil {
			return err
		}
		r, err := s.row(ctx, t, p)
		if err != nil {
			return err
		}
		keep(p.name, r)
	}
	key := map[string]string{}
	if !t.silent() && len(s.passages) > 0 {
		var err error
		if key, err = s.drawSheets(ctx, t, s.programs, s.passages); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.blind, key)
	s.done++
	fmt.Fprintf(s.progress, "%d/%d %s: %.0f s\n", s.done, of, t.name(), time.Since(start).Seconds())
	return nil
}
