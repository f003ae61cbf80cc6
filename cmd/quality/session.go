package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// session renders and measures takes.
type session struct {
	*lab
	programs []program
	passages []string
	progress io.Writer
	blind    map[string]string // by prefixes of sheets, the program that X is

	mu   sync.Mutex
	done int
}

// do renders and measures takes, some of them at once. It returns the rows of each
// program in the order of the takes.
func (s *session) do(all []take, jobs int) (map[string][]row, error) {
	interrupted := s.ctx
	ctx, cancel := context.WithCancel(interrupted)
	defer cancel()
	s.ctx, s.blind = ctx, map[string]string{}
	tables := map[string][]row{}
	for _, p := range s.programs {
		tables[p.name] = make([]row, len(all))
	}
	indices := make(chan int)
	failed := make([]error, jobs)
	var workers sync.WaitGroup
	for w := range jobs {
		workers.Go(func() {
			for i := range indices {
				if err := s.take(all[i], len(all), func(name string, r row) { tables[name][i] = r }); err != nil {
					failed[w] = fmt.Errorf("%s: %w", all[i].name(), err)
					cancel()
				}
			}
		})
	}
	for i := range all {
		if ctx.Err() == nil {
			indices <- i
		}
	}
	close(indices)
	workers.Wait()
	return tables, errors.Join(append(failed, interrupted.Err())...)
}

// take renders and measures one take with each program, and draws its sheets.
func (s *session) take(t take, of int, keep func(program string, r row)) error {
	start := time.Now()
	for _, p := range s.programs {
		if err := s.render(t, p); err != nil {
			return err
		}
		r, err := s.row(t, p)
		if err != nil {
			return err
		}
		keep(p.name, r)
	}
	key := map[string]string{}
	if !t.silent() && len(s.passages) > 0 {
		var err error
		if key, err = s.drawSheets(t, s.programs, s.passages); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for prefix, name := range key {
		s.blind[prefix] = name
	}
	s.done++
	fmt.Fprintf(s.progress, "%d/%d %s: %.0f s\n", s.done, of, t.name(), time.Since(start).Seconds())
	return nil
}
