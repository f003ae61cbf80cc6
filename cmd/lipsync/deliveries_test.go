package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Flags of make deliveries. Without them TestDeliveries_long is a small sample.
var (
	deliveries    = flag.Int("deliveries", 300, "number of events that a webhook gets")
	deliveryKills = flag.Int("kills", 3, "number of times that the server is killed meanwhile")
)

// arrived is a receiver of events. It refuses the first call of some events, and then takes them.
type arrived struct {
	verifier atomic.Pointer[standardwebhooks.Webhook]

	mu       sync.Mutex
	calls    map[string]int      // by webhook-id, with those that it refused
	taken    map[string]bool     // webhook-ids
	requests map[string][]string // types of events in the order of their first arrival, by request
	problems []string
}

func (a *arrived) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was killed
	}
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusNotFound) // the media of all requests
		return
	}
	var event struct {
		Type string
		Data struct{ ID string }
	}
	err = errors.Join(a.verifier.Load().Verify(body, r.Header), json.Unmarshal(body, &event))
	id := r.Header.Get("webhook-id")
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		a.problems = append(a.problems, fmt.Sprintf("%s: %v", id, err))
	}
	a.calls[id]++
	h := fnv.New32()
	h.Write([]byte(id))
	if h.Sum32()%50 == 0 && a.calls[id] == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if !a.taken[id] {
		a.taken[id] = true
		a.requests[event.Data.ID] = append(a.requests[event.Data.ID], event.Type)
	}
}

func (a *arrived) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.taken)
}

// persistent makes a call of the API until it is answered with a success, by any server at the address.
func persistent(ctx context.Context, key, once, address, body string, out any) error {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("x-api-key", key)
		r.Header.Set("Content-Type", "application/json")
		if once != "" {
			r.Header.Set("Idempotency-Key", once)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			time.Sleep(20 * time.Millisecond) // the server is being started
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil: // killed
		case answer.StatusCode == http.StatusOK:
			return json.NewDecoder(bytes.NewReader(text)).Decode(out)
		default:
			return fmt.Errorf("%s: %s", answer.Status, text)
		}
	}
	return ctx.Err()
}

// TestDeliveries_long kills a server that makes requests, fails them and delivers their events, some times. No event may be lost, and those
// of one request must come in order.
func TestDeliveries_long(t *testing.T) {
	a := &arrived{calls: map[string]int{}, taken: map[string]bool{}, requests: map[string][]string{}}
	receiver := httptest.NewServer(a)
	defer receiver.Close()
	data := t.TempDir()
	args := []string{"--allow-private-networks", "--generate-rate", "1000000", "--read-rate", "1000000", "--max-open-requests", "1000000"}
	s := startServer(t, data, args...)
	key := newKey(t, data)
	var w struct{ Secret string }
	if err := persistent(t.Context(), key, "", s.url+"/api/v1/webhooks", `{"url":"`+receiver.URL+`"}`, &w); err != nil {
		t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(w.Secret)
	if err != nil {
		t.Fatal(err)
	}
	a.verifier.Store(verifier)

	requests, began := *deliveries/2, time.Now()
	made := make(map[string]bool)
	var mu sync.Mutex
	var clients sync.WaitGroup
	body := fmt.Sprintf(`{"inputs":[{"type":"video","url":"%[1]s/v"},{"type":"audio","url":"%[1]s/a"}]}`, receiver.URL)
	for client := range 4 {
		clients.Go(func() {
			for i := client; i < requests; i += 4 {
				var got struct {
					ID string `json:"request_id"`
				}
				if err := persistent(t.Context(), key, fmt.Sprint(i), s.url+"/api/v1/lipsync/generate", body, &got); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made[got.ID] = true
				mu.Unlock()
			}
		})
	}
	address := strings.TrimPrefix(s.url, "http://")
	for last, idle, kills := 0, 0, 0; last < 2*requests; {
		n := a.count()
		if idle++; n > last {
			last, idle = n, 0
		}
		if idle == soakPatience || t.Failed() {
			t.Fatalf("%d of %d events came", n, 2*requests)
		}
		if kills < *deliveryKills && n >= (kills+1)*2*requests/(*deliveryKills+1) {
			s.kill()
			kills++
			s = startServer(t, data, append(args, "--addr", address)...)
		}
		time.Sleep(10 * time.Millisecond)
	}
	clients.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	calls := 0
	for _, n := range a.calls {
		calls += n
	}
	t.Logf("%d requests, %d events, %d calls, %d kills, %s", len(made), len(a.taken), calls, *deliveryKills, time.Since(began).Round(time.Second))
	if len(made) != requests || len(a.taken) != 2*requests || len(a.requests) != requests || len(a.problems) > 0 {
		t.Errorf("got %d requests and %d events of %d, and the problems %q", len(made), len(a.taken), len(a.requests), a.problems)
	}
	for id, types := range a.requests {
		if got := strings.Join(types, " "); !made[id] || got != "lipsync.processing lipsync.failed" {
			t.Errorf("%s: got the events %s", id, got)
		}
	}
}
