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

// measurement renders and measures trials.
type measurement struct {
	*layout
	programs []program
	passages []string
	progress io.Writer
	blind    map[string]string // the program that X is, by names of sheets

	mu   sync.Mutex
	done int
}

// do renders and measures trials, a number of jobs at once. It returns the rows of each program, in the order of the trials.
func (s *measurement) do(ctx context.Context, all []trial, jobs int) (map[string][]row, error) {
	s.blind = map[string]string{}
	tables := map[string][]row{}
	for _, p := range s.programs {
		tables[p.name] = make([]row, len(all))
	}
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(jobs)
	for i, t := range all {
		workers.Go(func() error {
			if err := s.trial(ctx, t, len(all), func(name string, r row) { tables[name][i] = r }); err != nil {
				return fmt.Errorf("%s: %w", t.name(), err)
			}
			return nil
		})
	}
	return tables, workers.Wait()
}

// trial renders and measures one trial with each program, and draws its sheets.
func (s *measurement) trial(ctx context.Context, t trial, of int, keep func(program string, r row)) error {
	start := time.Now()
	rows := make([]row, len(s.programs))
	for i, p := range s.programs {
		synced, err := s.render(ctx, t, p)
		if err != nil {
			return err
		}
		if rows[i], err = s.row(ctx, t, p); err != nil {
			return err
		}
		rows[i].Figures["synced"] = round(synced, 3)
	}
	key := map[string]string{}
	if !t.silent() {
		holds, blind, err := s.drawSheets(ctx, t, s.programs, s.passages)
		if err != nil {
			return err
		}
		for i, hold := range holds {
			rows[i].Figures["hold"] = round(hold, 3)
		}
		key = blind
	}
	for i, p := range s.programs {
		keep(p.name, rows[i])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(s.blind, key)
	s.done++
	fmt.Fprintf(s.progress, "%d/%d %s: %.0f s\n", s.done, of, t.name(), time.Since(start).Seconds())
	return nil
}
