package main

import (
	"flag"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/batchtest"
)

// batchLines is set by make batch.
var batchLines = flag.Int("lines", 8, "number of lines of the batch of TestBatchKilled_long")

// batchAnswer has the fields of a batch that tests read.
type batchAnswer struct {
	ID         string `json:"id"`
	Status     string `json:"status"`
	FinishedAt string `json:"finished_at"`
	Counts     struct{ Lines, Waiting, Queued, Completed int }
	Lines      []struct {
		RequestID string `json:"request_id"`
		Status    string `json:"status"`
	} `json:"lines"`
}

// TestBatchKilled_long kills a server while it makes the requests of a batch, and again while it does them. In the end each line has one
// completed request, and the webhook has got one event.
func TestBatchKilled_long(t *testing.T) {
	host, data, began := batchtest.NewHost(t, fixtures.video, fixtures.speech), t.TempDir(), time.Now()
	s := startServer(t, data, "--allow-private-networks", "--read-rate", "100000")
	address := strings.TrimPrefix(s.url, "http://")
	var atKill []int64 // numbers of requests when the server was killed
	restart := func() {
		s.kill()
		atKill = append(atKill, requestsIn(t, data))
		s = startServer(t, data, "--allow-private-networks", "--read-rate", "100000", "--addr", address)
	}
	key := newKey(t, data)
	client := testClient{s.url, key}
	var hook struct{ ID string }
	if err := persistent(t.Context(), key, "", s.url+"/api/v1/webhooks", `{"url":"`+host.URL+`/hook","events":["batch.completed"]}`, &hook); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	var b batchAnswer
	go func() {
		made <- persistent(t.Context(), key, "once", s.url+"/api/v1/lipsync/batches", host.Body(*batchLines), &b)
	}()
	client.awaitRequests(t, 1)
	restart()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	client.awaitBatch(t, b.ID, func(b batchAnswer) bool { return b.Counts.Completed > *batchLines/3 })
	restart()
	client.awaitBatch(t, b.ID, func(b batchAnswer) bool { return b.Counts.Completed == *batchLines })
	restart() // its first sweep finds that the batch is finished
	last := client.awaitBatch(t, b.ID, func(b batchAnswer) bool { return b.FinishedAt != "" })
	if last.Counts.Lines != *batchLines || last.Counts.Completed != *batchLines {
		t.Errorf("got %+v, want %d completed lines", last.Counts, *batchLines)
	}
	if n := client.requests(t); n != *batchLines {
		t.Errorf("got %d requests, want %d", n, *batchLines)
	}
	host.WantEvent(t, b.ID, *batchLines)
	client.wantDeliveries(t, hook.ID, 1)
	t.Logf("%d lines took %.0f s; there were %d requests when the server was killed", *batchLines, time.Since(began).Seconds(), atKill)
	if left, err := filepath.Glob(filepath.Join(data, "objects", "batches", "*")); err != nil || len(left) > 0 {
		t.Errorf("the lines are left: %q (%v)", left, err)
	}
}

// requestsIn returns the number of requests in a data folder without a server.
func requestsIn(t *testing.T, data string) int64 {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(data, datafolder.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, total, err := store.Requests.List(t.Context(), defaultAccount, "", 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// requests returns the number of requests of the account.
func (c testClient) requests(t *testing.T) int {
	t.Helper()
	var page struct{ Pagination struct{ Total int } }
	if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests?limit=1", "", nil, &page); err != nil {
		t.Fatal(err)
	}
	return page.Pagination.Total
}

// wantDeliveries checks the number of events that a webhook gets or got.
func (c testClient) wantDeliveries(t *testing.T, webhook string, n int) {
	t.Helper()
	var page struct{ Data []struct{ ID string } }
	if err := c.call(t.Context(), http.MethodGet, "/api/v1/webhooks/"+webhook+"/deliveries", "", nil, &page); err != nil {
		t.Fatal(err)
	}
	if len(page.Data) != n {
		t.Errorf("there are the deliveries %v, want %d", page.Data, n)
	}
}

// awaitRequests waits until the account has n requests or more.
func (c testClient) awaitRequests(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); c.requests(t) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there are not %d requests after a minute", n)
		}
	}
}

// awaitBatch waits until the batch is as it should be.
func (c testClient) awaitBatch(t *testing.T, id string, right func(batchAnswer) bool) (b batchAnswer) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		b = batchAnswer{}
		if err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/batches/"+id, "", nil, &b); err != nil {
			t.Fatal(err)
		}
		if right(b) {
			return b
		}
	}
	t.Fatalf("the batch is %+v after ten minutes", b.Counts)
	return b
}
