package lipsync

import (
	"slices"

	"lipsync/internal/domain/failure"
)

// Targets has the webhooks that get the events of a request, as they were when the request was made. Before a store has resolved it, it has
// only the URL that the client named, if any.
type Targets []target

// target is one webhook of Targets.
type target struct {
	Webhook string      `json:"webhook,omitempty"` // id
	URL     string      `json:"url,omitempty"`     // the webhook_url of the request, in place of the webhook's own URL
	Events  []EventType `json:"events"`            // as Webhook.Events; nil is all
}

// NewTargets returns the unresolved Targets of a new request with the webhook_url, which may be "".
func NewTargets(webhookURL string) Targets {
	if webhookURL == "" {
		return nil
	}
	return Targets{{URL: webhookURL}}
}

// Text returns the targets as stores keep them: as JSON, or "" for none.
func (t Targets) Text() string { return listText(t) }

// ParseTargets parses the result of Text.
func ParseTargets(text string) (Targets, error) { return parseList[target]("targets", text) }

// URL returns the webhook_url of the request, or "".
func (t Targets) URL() string {
	for _, target := range t {
		if target.URL != "" {
			return target.URL
		}
	}
	return ""
}

// Resolve returns the Targets of a new request with unresolved Targets, in the transaction that makes
// it: the webhooks that ask for events of each request, and the one that the client named by its URL,
// with any query. That one gets all events of the request. Disabled webhooks get none. Resolve returns
// NotFound if the account has no webhook with the URL, Finished if that one is disabled, and EventLimit
// if the account is Full.
func (t Targets) Resolve(a AccountWebhooks) (Targets, error) {
	named := t.URL()
	var list Targets
	found := named == ""
	for _, w := range a.List {
		same := named != "" && w.Has(named)
		switch {
		case same && !w.DisabledAt.IsZero():
			return nil, failure.New(failure.Finished, "the webhook with the URL is disabled")
		case !w.DisabledAt.IsZero():
		case same:
			found = true
			list = append(list, target{Webhook: w.ID, URL: named})
		case w.Events == nil || len(w.Events) > 0:
			list = append(list, target{Webhook: w.ID, Events: w.Events})
		}
	}
	switch {
	case !found:
		return nil, failure.New(failure.NotFound, "no webhook has the URL")
	case len(list) > 0 && a.Full:
		return nil, failure.New(failure.EventLimit, "too many undelivered events")
	}
	return list, nil
}

// deliveries returns the deliveries of an event to those targets that want its type. event has the
// fields that are the same for all.
func (t Targets) deliveries(event Delivery) (all []Delivery) {
	for _, target := range t {
		if target.Events == nil || slices.Contains(target.Events, event.Type) {
			d := event
			d.Webhook, d.URL = target.Webhook, target.URL
			all = append(all, d)
		}
	}
	return all
}
