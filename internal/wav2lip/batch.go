package wav2lip

import (
	"context"
	"errors"
	"fmt"
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

// lane has faces painted, batch after batch. There are two: while one has the
// turn, which is the network, the other gathers.
type lane struct {
	*Engine
	group    []*brush        // that goes through the network together
	bindings map[int]binding // by the faces that they hold
}

func (l *lane) work() {
	for {
		turn, ok := l.gather()
		if !ok {
			return
		}
		bound, err := l.load()
		if !turn && !l.take(l.turn) {
			return
		}
		if err == nil {
			err = bound.Run(l.ctx)
		}
		<-l.turn
		l.deliver(bound, err)
	}
}

// gather waits for faces until there is a batch, or some and the turn, and makes
// them the group. It returns false when the engine is closed.
func (l *lane) gather() (turn, ok bool) {
	if !l.take(l.asks) {
		return false, false
	}
	defer func() { <-l.asks }()
	for !turn && len(l.waiting) < l.model.batch {
		network := l.turn
		if len(l.waiting) == 0 {
			network = nil
		}
		select {
		case b := <-l.queue:
			l.waiting = append(l.waiting, b)
		case network <- struct{}{}:
			turn = true
			l.drain()
		case <-l.ctx.Done():
			return false, false
		}
	}
	n := l.model.together(len(l.waiting))
	l.group = append(l.group[:0], l.waiting[:n]...)
	l.waiting = append(l.waiting[:0], l.waiting[n:]...)
	return turn, true
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
	bound, err := l.bind(len(l.group))
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

// deliver gives each brush of the group its face, or all of them the error.
func (l *lane) deliver(bound binding, err error) {
	for i, b := range l.group {
		if err == nil {
			copy(b.output, bound.Output(0)[i*len(b.output):])
		}
		b.done <- err
	}
}

// bind returns the buffers for n faces. They are made once.
func (l *lane) bind(n int) (binding, error) {
	if l.model.fixed {
		n = l.model.batch
	}
	bound := l.bindings[n]
	if bound == nil {
		var err error
		if bound, err = l.model.bound(n); err != nil {
			return nil, fmt.Errorf("wav2lip: %w", err)
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
