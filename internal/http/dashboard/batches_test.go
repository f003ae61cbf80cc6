package dashboard

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/lipsync"
)

// makeBatch makes a batch of n lines.
func (f *fixture) makeBatch(t testing.TB, c lipsync.Caller, n int) lipsync.Batch {
	t.Helper()
	var p batches.Params
	for i := range n {
		p.Lines = append(p.Lines, batches.Variant{Video: "https://example.com/v.mp4", Audio: fmt.Sprintf("https://example.com/%d.wav", i)})
	}
	b, _, err := f.service.CreateBatch(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// seedBatches makes batches in several states, and returns their pages by name.
func (f *fixture) seedBatches(t testing.TB, c lipsync.Caller) map[string]string {
	t.Helper()
	_, k, err := f.service.CreateKey(t.Context(), account, "batches", 100)
	if err != nil {
		t.Fatal(err)
	}
	b := f.makeBatch(t, lipsync.Caller{Account: account, KeyID: k.ID}, 110) // 10 lines are refused
	for n := range 40 {
		if state := b.State(n); state != lipsync.LineQueued {
			continue
		}
		if n%10 == 3 {
			if _, err := f.service.Cancel(t.Context(), c, b.RequestID(n)); err != nil {
				t.Fatal(err)
			}
		} else {
			f.complete(t, b.RequestID(n))
		}
	}
	canceled := f.makeBatch(t, c, 3)
	if _, err := f.service.CancelBatch(t.Context(), c, canceled.ID); err != nil {
		t.Fatal(err)
	}
	f.makeBatch(t, c, 5)
	f.clock.Advance(time.Minute)
	if err := f.service.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"batches": "/dashboard/batches", "batch": "/dashboard/batches/" + b.ID, "batch-more": "/dashboard/batches/" + b.ID + "?offset=100",
		"batch-canceled": "/dashboard/batches/" + canceled.ID,
	}
}

func TestBatches(t *testing.T) {
	f := newFixture(t)
	f.signIn(t)
	const path = "/dashboard/batches"
	f.get(t, path).must(t, http.StatusOK, "There is no batch yet")
	c := f.caller(t, account)
	b := f.makeBatch(t, c, 120)
	one := path + "/" + b.ID
	f.complete(t, b.RequestID(1))
	f.get(t, path).must(t, http.StatusOK, one, `120 queued of 120 lines`, "processing", "data-live")
	f.get(t, one).must(t, http.StatusOK, "1 completed, 119 queued of 120 lines", "/dashboard/requests/"+b.RequestID(1), "1–50 of 120", one+"?offset=50", "Cancel the batch", "data-live")
	f.get(t, one+"?offset=100").must(t, http.StatusOK, "101–120 of 120", b.RequestID(119), one+"?offset=50")
	some := f.get(t, one+"?status=completed")
	some.must(t, http.StatusOK, "/requests/"+b.RequestID(1), "v.mp4 with 1.wav")
	if strings.Contains(some.body, b.RequestID(0)) {
		t.Error("a line of another status is listed")
	}
	for _, odd := range []string{"-1", "120", "x", "99999999999999999999"} {
		f.get(t, one+"?offset="+odd).must(t, http.StatusOK, "1–50 of 120")
	}
	f.send(t, one+"/cancel", nil).mustLead(t, one)
	last := f.get(t, one)
	last.must(t, http.StatusOK, "1 completed, 119 canceled of 120 lines", "canceled")
	if strings.Contains(last.body, "data-live") || strings.Contains(last.body, "Cancel the batch") {
		t.Error("the page of a canceled batch can be canceled, or is read again")
	}
	f.send(t, one+"/cancel", nil).mustLead(t, one)

	other := f.makeBatch(t, f.caller(t, "other"), 1)
	f.get(t, path+"/"+other.ID).must(t, http.StatusNotFound, "batch not found")
	f.send(t, path+"/"+other.ID+"/cancel", nil).must(t, http.StatusNotFound, "batch not found")
	if list := f.get(t, path); strings.Contains(list.body, other.ID) {
		t.Error("the list has a batch of another account")
	}

	for range pageSize {
		f.clock.Advance(time.Second)
		f.makeBatch(t, c, 1)
	}
	first := f.get(t, path)
	first.must(t, http.StatusOK, path+"?before=")
	if strings.Contains(first.body, one) {
		t.Error("the first page has the oldest batch")
	}
	newest, err := f.service.Batches(t.Context(), c, "", pageSize)
	if err != nil {
		t.Fatal(err)
	}
	f.get(t, path+"?before="+newest[pageSize-1].ID).must(t, http.StatusOK, one, "Newest")
}
