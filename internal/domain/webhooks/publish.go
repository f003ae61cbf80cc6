package webhooks

import (
	"context"
	"slices"

	"lipsync/internal/domain/lipsync"
)

// publishedAtOnce is the number of changes whose events Publish gives to the bus at once. If that fails, these are published again.
const publishedAtOnce = 10

// Publish gives the Bus the events of changes of all accounts, in the order of the changes. It returns how many of the first changes
// are done: all of them, or fewer and an error. The caller publishes the others again, so an event may come twice.
func (s *Service) Publish(ctx context.Context, changes []lipsync.Change) (done int, err error) {
	for part := range slices.Chunk(changes, publishedAtOnce) {
		if err := s.publish(ctx, part); err != nil {
			return done, err
		}
		done += len(part)
	}
	return done, nil
}

func (s *Service) publish(ctx context.Context, changes []lipsync.Change) error {
	var all []lipsync.BusEvent
	for _, c := range changes {
		d, about, ok := c.Event()
		if !ok {
			continue
		}
		var err error
		if about.Request.Output != "" {
			about.Output, err = s.OutputURL(ctx, about.Request)
		}
		if err != nil {
			return err
		}
		body, err := s.EventBody(d, about)
		if err != nil {
			return err
		}
		all = append(all, lipsync.BusEvent{ID: d.ID, Type: d.Type, At: d.CreatedAt, Body: body})
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
