package render

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// group is an errgroup.Group in which a panic becomes an error: a panic that the media of one job cause must not end other jobs.
type group struct{ *errgroup.Group }

func newGroup(ctx context.Context) (group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	return group{g}, ctx
}

// Go calls f in a goroutine.
func (g group) Go(f func() error) { g.Group.Go(func() error { return Guard(f) }) }

// Guard calls f and returns its error. If f panics, Guard returns the panic as an error.
func Guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
