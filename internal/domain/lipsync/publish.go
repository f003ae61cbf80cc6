package lipsync

import (
	"context"
	"slices"
	"time"
)

// publishedAtOnce is the number of changes whose events Publish gives to the bus at once. If that fails, these are published again.
const publishedAtOnce = 10

// Change is a change of a request or of a batch, as a store's log of changes has it.
type Change struct {
	Was     Status  // status of the request before the change
	Request Request // after the change; zero if it is one of a batch
	Batch   Batch   // after the change; zero if it is one of a request
}

// BusEvent is an event for a Bus.
type BusEvent struct {
	ID   string // see Delivery.ID
	Type EventType
	At   time.Time // when it happened
	Body []byte    // JSON
}

// event returns the event of the change, and what it is about. ok is false if it has none.
func (c Change) event() (d Delivery, about Subject, ok bool) {
	if c.Batch.ID != "" {
		d, ok = c.Batch.event()
		return d, Subject{Batch: c.Batch}, ok
	}
	if c.Request.Kind != ToRender {
		return Delivery{}, Subject{}, false
	}
	d, ok = c.Request.event(c.Was)
	return d, Subject{Request: c.Request}, ok
}

// Publish gives the Bus the events of changes of all accounts, in the order of the changes. It returns how many of the first changes
// are done: all of them, or fewer and an error. The caller publishes the others again, so an event may come twice.
func (s *Service) Publish(ctx context.Context, changes []Change) (done int, err error) {
	for part := range slices.Chunk(changes, publishedAtOnce) {
		if err := s.publish(ctx, part); err != nil {
			return done, err
		}
		done += len(part)
	}
	return done, nil
}

func (s *Service) publish(ctx context.Context, changes []Change) error {
	var all []BusEvent
	for _, c := range changes {
		d, about, ok := c.event()
		if !ok {
			continue
		}
		var err error
		if about.Request.Output != "" {
			about.Output, err = s.outputURL(ctx, about.Request)
		}
		if err != nil {
			return err
		}
		body, err := s.EventBody(d, about)
		if err != nil {
			return err
		}
		all = append(all, BusEvent{ID: d.ID, Type: d.Type, At: d.CreatedAt, Body: body})
	}
	if len(all) == 0 {
		return nil
	}
	refused, err := s.Bus.Put(ctx, all)
	for _, i := range refused {
		s.Log.ErrorContext(ctx, "the bus refuses what is in an event", "event", all[i].ID)
		s.Watcher.Refused(all[i])
	}
	return err
}
