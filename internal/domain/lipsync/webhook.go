package lipsync

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"lipsync/internal/domain/order"
)

// EventType says what happened to the subject of an event.
type EventType string

// The types of events. TestEvent is sent by Service.TestWebhook only.
const (
	RequestProcessing EventType = "lipsync.processing"
	RequestCompleted  EventType = "lipsync.completed"
	RequestFailed     EventType = "lipsync.failed"
	RequestCanceled   EventType = "lipsync.canceled"
	BatchFinished     EventType = "batch.completed" // also of a canceled batch
	TestEvent         EventType = "webhook.test"
)

// EventTypes returns the types that a webhook can ask for.
func EventTypes() []EventType {
	return []EventType{RequestProcessing, RequestCompleted, RequestFailed, RequestCanceled, BatchFinished}
}

// Webhook is a URL of an account that gets its events.
type Webhook struct {
	ID  string `json:"id"` // UUID
	URL string `json:"url"`
	// Events has the types of events that the webhook gets of each request of the account. If nil, it
	// gets all types. If empty, it gets only the events of requests that name it by their webhook_url.
	Events     []EventType `json:"events"`
	CreatedAt  time.Time   `json:"created_at"`
	Secret     string      `json:"secret"`               // signs all calls
	OldSecret  string      `json:"old_secret,omitempty"` // also signs calls until OldUntil
	OldUntil   time.Time   `json:"old_until,omitzero"`
	DisabledAt time.Time   `json:"disabled_at,omitzero"` // when its URL answered 410; zero if it is enabled
	// FailingSince is the time of the first attempt that failed since one succeeded; zero if the last one did.
	FailingSince time.Time `json:"failing_since,omitzero"`
}

// AccountWebhooks has all webhooks of one account. A store replaces them as a whole.
type AccountWebhooks struct {
	Account string
	List    []Webhook // oldest first
	Full    bool      // at the last sweep the account had as many undelivered events as it may have
	Version int64     // grows with each change; 0 if the account never had a webhook
}

// Text returns the list as JSON, for a store: [] if it is empty.
func (a AccountWebhooks) Text() string {
	if len(a.List) == 0 {
		return "[]"
	}
	return order.Compact(a.List)
}

// ParseWebhooks reads the result of AccountWebhooks.Text. "" stands for no webhooks.
func ParseWebhooks(text string) (list []Webhook, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("webhooks of an account: %w", err)
	}
	return list, nil
}

// Has reports whether the URL is that of the webhook, with any query and fragment. Two webhooks of an account differ in
// their URLs without these.
func (w Webhook) Has(text string) bool { return address(w.URL) == address(text) }

// address returns the URL without its query and fragment.
func address(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = "", false, "", ""
	u.Host = strings.ToLower(u.Host)
	return u.String()
}

// Answer is the answer of a webhook to a call.
type Answer struct {
	Status     int
	RetryAfter time.Duration // as the webhook asks; 0 if it doesn't
}
