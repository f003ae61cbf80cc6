package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// undoTime bounds the removal of everything.
const undoTime = time.Minute

// undo has the things that must be removed at the end, in the order of their creation.
type undo []step

type step struct {
	what string
	gone func(context.Context) error // removes it
}

func (u *undo) add(what string, gone func(context.Context) error) {
	*u = append(*u, step{what, gone})
}

// after removes everything after work that ended with err. The interrupt that ended the work is
// not an error, but anything that could not be removed is.
func (u undo) after(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, u.run())
}

// run removes everything, the last first. Its error names what can't be removed.
func (u undo) run() error {
	ctx, cancel := context.WithTimeout(context.Background(), undoTime)
	defer cancel()
	var errs []error
	for _, s := range slices.Backward(u) {
		if err := s.gone(ctx); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", s.what, err))
		}
	}
	return errors.Join(errs...)
}
