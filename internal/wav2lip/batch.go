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

// lane gathers faces and has them painted, batch after batch. There are two:
// while one has the turn, which is the network, the other gathers.
type lane struct {
	*Engine
	waiting  []*brush
	bindings map[int]binding // by the faces that they hold
}

func (l *lane) work() {
	for {
		turn, ok := l.gather()
		if !ok {
			return
		}
		group := l.waiting[:l.model.together(len(l.waiting))]
		bound, err := l.load(group)
		if !turn && !l.take() {
			return
		}
		if err == nil {
			err = bound.Run(l.ctx)
		}
		<-l.turn
		l.deliver(group, bound, err)
		l.waiting = append(l.waiting[:0], l.waiting[len(group):]...)
	}
}

// gather waits for faces until it has a batch, or some and the turn. It returns
// false when the engine is closed.
func (l *lane) gather() (turn, ok bool) {
	for len(l.waiting) < l.model.batch {
		network := l.turn
		if len(l.waiting) == 0 {
			network = nil
		}
		select {
		case b := <-l.queue:
			l.waiting = append(l.waiting, b)
		case network <- struct{}{}:
			l.drain()
			return true, true
		case <-l.ctx.Done():
			return false, false
		}
	}
	return false, true
}

// drain takes what waits already, as much as fits in a batch.
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

// take waits for the turn. It returns false when the engine is closed.
func (l *lane) take() bool {
	select {
	case l.turn <- struct{}{}:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// load fills the network's inputs. In a model of a fixed batch, what is beyond
// the group is whatever was there.
func (l *lane) load(group []*brush) (binding, error) {
	bound, err := l.bind(len(group))
	if err != nil {
		return nil, err
	}
	faces, sound := bound.Input(l.model.faces), bound.Input(l.model.sound)
	for i, b := range group {
		copy(faces[i*len(b.faces):], b.faces)
		copy(sound[i*len(b.sound):], b.sound[:])
	}
	return bound, nil
}

// deliver gives each brush of the group its face, or all of them the error.
func (l *lane) deliver(group []*brush, bound binding, err error) {
	for i, b := range group {
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
