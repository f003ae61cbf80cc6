package main

import (
	"crypto/rand"
	"flag"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/batchtest"
)

// batchLines is set by make batch.
var batchLines = flag.Int("lines", 4, "number of lines of the batch of TestBatch_long")

// TestBatch_long takes the table away from the function that makes a batch, as if it died, and kills the runner that does the batch's requests, and the
// function that publishes the first event. In the end each line has one completed request, the webhook has got one event, and the bus all events.
func TestBatch_long(t *testing.T) {
	d, host, began := faulty(t), batchtest.NewHost(t, fixtures.video, fixtures.speech), time.Now()
	j := job{testDeployment: d, account: rand.Text()}
	var err error
	if j.token, _, err = d.service.CreateKey(t.Context(), j.account, "batch", 0); err != nil {
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
	var made struct {
		ID     string
		Counts lipsync.Counts
	}
	j.call(t, http.MethodPost, "/v1/lipsync/batches", "application/json", strings.NewReader(host.Body(*batchLines)), &made)
	var published, publishersKilled atomic.Int32
	d.between.set(func(operation string, w http.ResponseWriter, _ *http.Request, pass func(http.ResponseWriter)) {
		if operation == "PutEvents" && published.Add(1) == 1 {
			publishersKilled.Store(int32(d.killPublisher(t)))
			drop()
		}
		pass(w)
	})
	if made.Counts.Waiting == 0 {
		t.Errorf("the function made %+v, want some lines to wait", made.Counts)
	}
	first, fetched := j.requests(t), host.Hold()
	await(t, "a runner that does a request", func() bool {
		select {
		case <-fetched:
			return true
		default:
			if d.Batch.Idle() { // no message of the requests came
				d.invoke(t, "Sweep")
			}
			return false
		}
	})
	d.kill(t)
	d.endWaits(t)
	time.Sleep(time.Until(began.Add(30 * time.Second))) // sweeps leave the lines of younger batches to the call
	var b lipsync.Batch
	for deadline := time.Now().Add(patience + time.Duration(*batchLines)*5*time.Second); b.FinishedAt.IsZero(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("the batch is %+v after %.0f s", b.Counts(), time.Since(began).Seconds())
		}
		if b, err = d.service.Store.Batches.ByID(t.Context(), made.ID); err != nil {
			t.Fatal(err)
		}
		if idle := d.Batch.Idle(); idle || len(d.open(t)) == 0 {
			if idle {
				d.endWaits(t)
			}
			d.invoke(t, "Sweep")
		}
	}
	if c := b.Counts(); c.Completed != *batchLines || j.requests(t) != *batchLines {
		t.Errorf("got %+v and %d requests, want %d completed ones", c, j.requests(t), *batchLines)
	}
	host.WantEvent(t, b.ID, *batchLines)
	var deliveries struct{ Data []struct{ ID string } }
	j.call(t, http.MethodGet, "/v1/webhooks/"+hook.ID+"/deliveries", "", http.NoBody, &deliveries)
	if len(deliveries.Data) != 1 {
		t.Errorf("there are the deliveries %v, want one", deliveries.Data)
	}
	if publishersKilled.Load() == 0 {
		t.Error("no process of publish was killed")
	}
	bus.want(t, j.account, map[string]int{"lipsync.processing": *batchLines, "lipsync.completed": *batchLines, "batch.completed": 1})
	for id, e := range bus.events {
		if sent := host.Got(id); sent != (e.Type == "batch.completed") {
			t.Errorf("the webhook got %s: %t, of %+v", id, sent, e)
		}
	}
	t.Logf("%d lines took %.0f s; the function made %d requests before it lost the table", *batchLines, time.Since(began).Seconds(), first)
}

// open returns the requests that aren't final.
func (d *testDeployment) open(t *testing.T) []lipsync.Request {
	t.Helper()
	open, err := d.service.Store.Leases.Open(t.Context(), time.Now().Add(2*lipsync.Lease), 1000)
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// endWaits ends the leases of dead workers.
func (d *testDeployment) endWaits(t *testing.T) {
	t.Helper()
	for _, r := range d.open(t) {
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
