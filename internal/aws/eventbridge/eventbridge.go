// Package eventbridge puts events on a bus of EventBridge.
package eventbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"lipsync/internal/domain/lipsync"
)

// source is the source of all events.
const source = "lipsync"

// Bounds of a call of PutEvents, from the API reference. Newer accounts may send 1 MiB.
const (
	maxEntries = 10
	maxBytes   = 256 << 10
	timeBytes  = 14 // as which the time of an entry counts
)

// An event is tried for 12.7 s and the time of the calls: the first pause is firstPause, and each one is twice as long as the one
// before. So a bus that is broken costs few calls of the function.
const (
	tries      = 8
	firstPause = 100 * time.Millisecond
)

// Bus is a bus of EventBridge.
type Bus struct {
	client *eventbridge.Client
	name   string
}

// New returns the bus with the name or the ARN.
func New(cfg aws.Config, name string) *Bus {
	return &Bus{client: eventbridge.NewFromConfig(cfg), name: name}
}

var _ lipsync.Bus = (*Bus)(nil)

func (b *Bus) Put(ctx context.Context, all []lipsync.BusEvent) (refused []int, err error) {
	waiting := make([]int, len(all)) // indexes of events
	for i := range all {
		waiting[i] = i
	}
	for pause, n := firstPause, 1; ; pause, n = 2*pause, n+1 {
		var left []int
		for len(waiting) > 0 {
			part := first(all, waiting)
			waiting = waiting[len(part):]
			missing, never, failed := b.put(ctx, all, part)
			left, refused = append(left, missing...), append(refused, never...)
			if failed != nil {
				err = failed
			}
		}
		if len(left) == 0 {
			slices.Sort(refused)
			return refused, nil
		}
		if n == tries {
			return refused, fmt.Errorf("the bus did not take %d of %d events: %w", len(left), len(all), err)
		}
		select {
		case <-ctx.Done():
			return refused, errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
		waiting = left
	}
}

// first returns the first of the events that one call takes, at least one.
func first(all []lipsync.BusEvent, waiting []int) []int {
	size := 0
	for n, i := range waiting {
		size += len(all[i].Body) + len(source) + len(all[i].Type) + timeBytes
		if n > 0 && (n == maxEntries || size > maxBytes) {
			return waiting[:n]
		}
	}
	return waiting
}

// put makes one call. It returns the events that the bus doesn't have, those that it will never take, and why.
func (b *Bus) put(ctx context.Context, all []lipsync.BusEvent, part []int) (missing, refused []int, err error) {
	entries := make([]types.PutEventsRequestEntry, len(part))
	for n, i := range part {
		entries[n] = types.PutEventsRequestEntry{
			EventBusName: &b.name, Source: aws.String(source), DetailType: aws.String(string(all[i].Type)), Time: &all[i].At,
			Detail: aws.String(string(all[i].Body)),
		}
	}
	out, err := b.client.PutEvents(ctx, &eventbridge.PutEventsInput{Entries: entries})
	if err == nil && len(out.Entries) != len(part) {
		err = fmt.Errorf("got %d answers for %d events", len(out.Entries), len(part))
	}
	if err != nil {
		return part, nil, err
	}
	for n, e := range out.Entries {
		switch code := aws.ToString(e.ErrorCode); code {
		case "":
		case "MalformedDetail", "RedactionFailure":
			refused = append(refused, part[n])
		default:
			missing, err = append(missing, part[n]), fmt.Errorf("%s: %s", code, aws.ToString(e.ErrorMessage))
		}
	}
	return missing, refused, err
}
