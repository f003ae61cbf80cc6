package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// batchLines is set by make batch.
var batchLines = flag.Int("lines", 6, "number of lines of the batch of TestBatch")

// batchHost serves one video and the speech of each line, and keeps the events that it gets, by their ids.
type batchHost struct {
	*httptest.Server
	events sync.Map
}

func newBatchHost(t *testing.T) *batchHost {
	h := new(batchHost)
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			if body, err := io.ReadAll(r.Body); err == nil {
				h.events.Store(r.Header.Get("webhook-id"), string(body))
			}
		case strings.HasPrefix(r.URL.Path, "/video"):
			http.ServeFile(w, r, fixtures.video)
		default:
			http.ServeFile(w, r, fixtures.speech)
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *batchHost) arrived() (bodies []string) {
	h.events.Range(func(_, body any) bool {
		bodies = append(bodies, body.(string))
		return true
	})
	return bodies
}

// TestBatch takes the table away from the function that makes a batch, as if it died, and kills the runner that does the batch's requests, and the
// function that publishes the first event. In the end each line has one completed request, the webhook has got one event, and the bus all events.
func TestBatch(t *testing.T) {
	d, host, began := faulty(t), newBatchHost(t), time.Now()
	j := job{testDeployment: d, account: rand.Text()}
	var err error
	if j.token, _, err = d.service().CreateKey(t.Context(), j.account, "batch", 0); err != nil {
		t.Fatal(err)
	}
	var hook struct{ ID string }
	j.call(t, http.MethodPost, "/v1/webhooks", "application/json", strings.NewReader(`{"url":"`+host.URL+`/hook","events":["batch.completed"]}`), &hook)
	bus := d.watchBus(t, j.account)
	d.setVariable(t, "Publish", publisherProxy, d.between.URL)
	d.setVariable(t, "CreateBatch", "AWS_ENDPOINT_URL_DYNAMODB", d.between.URL)
	var writes atomic.Int32
	d.between.set(func(operation string, w http.ResponseWriter, _ *http.Request, pass func(http.ResponseWriter)) {
		// The first transaction makes the batch, and the others its requests.
		if operation == "TransactWriteItems" && writes.Add(1) > int32(1+*batchLines/2) {
			drop()
		}
		pass(w)
	})
	type variant struct {
		Audio string `json:"audio"`
	}
	var variants []variant
	for n := range *batchLines {
		variants = append(variants, variant{fmt.Sprintf("%s/%d.wav", host.URL, n)})
	}
	body, err := json.Marshal(map[string]any{"video": host.URL + "/video.mp4", "variants": variants})
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		ID     string
		Counts lipsync.Counts
	}
	j.call(t, http.MethodPost, "/v1/lipsync/batches", "application/json", bytes.NewReader(body), &made)
	var published, publishersKilled atomic.Int32
	d.between.set(func(operation string, w http.ResponseWriter, _ *http.Request, pass func(http.ResponseWriter)) {
		if operation == "PutEvents" && published.Add(1) == 1 {
			publishersKilled.Store(int32(d.killPublisher(t)))
			drop()
		}
		pass(w)
	})
	if made.Counts.Waiting == 0 || made.Counts.Waiting == *batchLines && *batchLines > 16 {
		t.Errorf("the function made %+v, want some requests, and not all", made.Counts)
	}
	first, killed := j.requests(t), false
	var b lipsync.Batch
	for deadline := time.Now().Add(patience + time.Duration(*batchLines)*5*time.Second); b.FinishedAt.IsZero(); time.Sleep(500 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the batch is %+v after %.0f s", b.Counts(), time.Since(began).Seconds())
		}
		if b, err = d.service().Store.Batches.ByID(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if !killed && d.renders() {
			d.kill(t)
			killed = true
		}
		if d.Batch.Idle() {
			d.endWaits(t)
			d.invoke(t, "Sweep")
		}
	}
	if c := b.Counts(); c.Completed != *batchLines || j.requests(t) != *batchLines {
		t.Errorf("got %+v and %d requests, want %d completed ones", c, j.requests(t), *batchLines)
	}
	await(t, "the event of the batch", func() bool { return len(host.arrived()) > 0 })
	if events := host.arrived(); len(events) != 1 || !strings.Contains(events[0], `"batch.completed"`) || !strings.Contains(events[0], made.ID) {
		t.Errorf("got the events %q, want one of the batch", events)
	}
	if !killed || publishersKilled.Load() == 0 {
		t.Errorf("a runner was killed: %t; %d processes of publish", killed, publishersKilled.Load())
	}
	bus.want(t, j.account, map[string]int{"lipsync.processing": *batchLines, "lipsync.completed": *batchLines, "batch.completed": 1})
	for id := range bus.events {
		if _, sent := host.events.Load(id); sent != (bus.events[id].Type == "batch.completed") {
			t.Errorf("the webhook got %s: %t, of %+v", id, sent, bus.events[id])
		}
	}
	t.Logf("%d lines took %.0f s; the function made %d requests before it lost the table", *batchLines, time.Since(began).Seconds(), first)
}

// endWaits ends the leases of dead workers.
func (d *testDeployment) endWaits(t *testing.T) {
	t.Helper()
	open, err := d.service().Store.Leases.Open(t.Context(), time.Now().Add(2*lipsync.Lease), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range open {
		if err := d.endWait(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
}

// requests returns the number of requests of the account.
func (j job) requests(t *testing.T) int {
	t.Helper()
	var page struct{ Pagination struct{ Total int } }
	j.call(t, http.MethodGet, "/v1/lipsync/requests", "", http.NoBody, &page)
	return page.Pagination.Total
}
