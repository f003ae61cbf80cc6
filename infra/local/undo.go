package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// undoTime bounds how long it takes to take everything away again.
const undoTime = time.Minute

// undo has what is to be taken away at the end, in the order in which it was made.
type undo []step

type step struct {
	what string
	gone func(context.Context) error // takes it away
}

func (u *undo) add(what string, gone func(context.Context) error) {
	*u = append(*u, step{what, gone})
}

// after takes everything away after work that ended with err. What an interrupt
// cuts off is no failure, but what stays for it is.
func (u undo) after(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, u.run())
}

// run takes everything away, the last first. What can't be taken away stays, and
// the error says so.
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
