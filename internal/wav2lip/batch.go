package wav2lip

import (
	"context"
	"errors"
	"fmt"

	"lipsync/internal/render"
)

// infer has the network paint what the brush holds. If the context ends before,
// the brush still belongs to a lane and must not be used again.
func (e *Engine) infer(ctx context.Context, b *brush) error {
	select {
	case e.queue <- b:
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return errClosed
	}
	select {
	case err := <-b.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ctx.Done():
		return errClosed
	}
}

// lane has faces painted, batch after batch. There is one more than the runs of
// the network that may be at once: while the others have their turn, it gathers.
type lane struct {
	*Engine
	group    []*brush        // that goes through the network together
	bindings map[int]binding // by the faces that they hold
	holds    bool            // the turn
}

// work paints until the engine is closed. A fault that one group brings to light
// must not end what comes after it.
func (l *lane) work() {
	for l.gather() {
		err := render.Guard(l.paint)
		l.yield()
		for _, b := range l.group {
			b.done <- err
		}
	}
}

// paint has the network paint the group.
func (l *lane) paint() error {
	bound, err := l.load()
	if err != nil {
		return err
	}
	if l.holds = l.holds || l.take(l.turn); !l.holds {
		return errClosed
	}
	if err := bound.Run(l.ctx); err != nil {
		return err
	}
	l.yield()
	for i, b := range l.group {
		copy(b.output, bound.Output(0)[i*len(b.output):])
	}
	return nil
}

// yield leaves the turn to another lane.
func (l *lane) yield() {
	if l.holds {
		l.holds = false
		<-l.turn
	}
}

// try runs the network once.
func (l *lane) try(ctx context.Context) error {
	bound, err := l.bind(ctx, l.model.batch)
	if err == nil {
		err = bound.Run(ctx)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("wav2lip: the network can't be run: %w", err)
	}
	return nil
}

// gather waits for faces until there is a batch, or some and the turn, and makes
// them the group. It returns false when the engine is closed.
func (l *lane) gather() bool {
	if !l.take(l.asks) {
		return false
	}
	defer func() { <-l.asks }()
	for !l.holds && len(l.waiting) < l.model.batch {
		network := l.turn
		if len(l.waiting) == 0 {
			network = nil
		}
		select {
		case b := <-l.queue:
			l.waiting = append(l.waiting, b)
		case network <- struct{}{}:
			l.holds = true
			l.drain()
		case <-l.ctx.Done():
			return false
		}
	}
	n := l.model.together(len(l.waiting))
	l.group = append(l.group[:0], l.waiting[:n]...)
	l.waiting = append(l.waiting[:0], l.waiting[n:]...)
	return true
}

// drain takes what queues already, as much as fits in a batch.
func (l *lane) drain() {
	for len(l.waiting) < l.model.batch {
		select {
		case b := <-l.queue:
			l.waiting = append(l.waiting, b)
		default:
			return
		}
	}
}

// take waits for a token. It returns false when the engine is closed.
func (l *lane) take(token chan<- struct{}) bool {
	select {
	case token <- struct{}{}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// load fills the network's inputs. In a model of a fixed batch, what is beyond
// the group is whatever was there.
func (l *lane) load() (binding, error) {
	bound, err := l.bind(l.ctx, len(l.group))
	if err != nil {
		return nil, err
	}
	faces, sound := bound.Input(l.model.faces), bound.Input(l.model.sound)
	for i, b := range l.group {
		copy(faces[i*len(b.faces):], b.faces)
		copy(sound[i*len(b.sound):], b.sound[:])
	}
	return bound, nil
}

// bind returns the buffers for n faces. They are made once.
func (l *lane) bind(ctx context.Context, n int) (binding, error) {
	if l.model.fixed {
		n = l.model.batch
	}
	bound := l.bindings[n]
	if bound == nil {
		var err error
		if bound, err = l.model.bound(ctx, n); err != nil {
			return nil, fmt.Errorf("bind %d faces: %w", n, err)
		}
		l.bindings[n] = bound
	}
	return bound, nil
}

func (l *lane) close() (err error) {
	for _, b := range l.bindings {
		err = errors.Join(err, b.Close())
	}
	return err
}
