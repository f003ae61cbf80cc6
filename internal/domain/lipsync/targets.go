package lipsync

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Targets has the webhooks that get the events of a request, as they were when the request was made.
// It is a list in JSON, and a string so that requests can be compared. It is "" if there are none.
// Before a store has resolved it, it has only the URL that the client named, if any.
type Targets string

// target is one webhook of Targets.
type target struct {
	Webhook string      `json:"webhook,omitempty"` // id
	URL     string      `json:"url,omitempty"`     // the webhook_url of the request, in place of the webhook's own URL
	Events  []EventType `json:"events"`            // as Webhook.Events; nil is all
}

// NewTargets returns the unresolved Targets of a new request with the webhook_url, which may be "".
func NewTargets(webhookURL string) Targets {
	if webhookURL == "" {
		return ""
	}
	return targetsOf([]target{{URL: webhookURL}})
}

// ParseTargets checks the Targets of a store.
func ParseTargets(text string) (Targets, error) {
	var list []target
	if text == "" {
		return "", nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list) == 0 {
		return "", fmt.Errorf("targets of a request: %.30q is no list", text)
	}
	return Targets(text), nil
}

func targetsOf(list []target) Targets {
	if len(list) == 0 {
		return ""
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // can't happen: strings always encode
	}
	return Targets(text)
}

func (t Targets) list() (list []target) {
	if t == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(t), &list); err != nil {
		panic(err) // can't happen: ParseTargets checked it
	}
	return list
}

// URL returns the webhook_url of the request, or "".
func (t Targets) URL() string {
	for _, target := range t.list() {
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
	var list []target
	found := named == ""
	for _, w := range a.List {
		same := named != "" && address(w.URL) == address(named)
		switch {
		case same && !w.DisabledAt.IsZero():
			return "", newError(Finished, "the webhook with the URL is disabled")
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
		return "", newError(NotFound, "no webhook has the URL")
	case len(list) > 0 && a.Full:
		return "", newError(EventLimit, "too many undelivered events")
	}
	return targetsOf(list), nil
}

// deliveries returns the deliveries of an event to those targets that want its type. event has the
// fields that are the same for all.
func (t Targets) deliveries(event Delivery) (all []Delivery) {
	for _, target := range t.list() {
		if target.Events == nil || slices.Contains(target.Events, event.Type) {
			d := event
			d.Webhook, d.URL = target.Webhook, target.URL
			all = append(all, d)
		}
	}
	return all
}
