package lipsynctest

import (
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
)

// GoOn checks stored data with the present program, a moment after their Live. All data are as
// before, and the work goes on.
func (p *Past) GoOn(t *testing.T) {
	p.ids, p.now = lastPastID, p.now.Add(2*time.Hour)
	p.wantKeys(t)
	p.wantRequests(t)
	p.wantReplay(t)

	if err := p.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	for _, id := range []int{processingID, queuedID} {
		r, err := p.Claim(t.Context(), "")
		if err != nil || r.ID != pastID(id) || r.Engine != "warp" || !r.LargestFace {
			t.Errorf("got %+v (%v), want request %d", r, err, id)
		}
		if id == queuedID {
			if _, size, err := p.OpenMedia(t.Context(), r.Video); err != nil || size != 5 {
				t.Errorf("its upload has %d bytes (%v), want 5", size, err)
			}
		}
		if err := p.Complete(t.Context(), r, strings.NewReader("output"), 6); err != nil {
			t.Error(err)
		}
	}
	id, err := p.Generate(t.Context(), p.caller(), requests.Params{
		Video: requests.Source{URL: "https://video.invalid/"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://audio.invalid/"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Cancel(t.Context(), p.caller(), id); err != nil || r.ID != id {
		t.Errorf("got %+v (%v), want it canceled", r, err)
	}
	if page, err := p.RequestPage(t.Context(), p.caller(), service.ListQuery{Limit: 1}); err != nil || page.Total != 5 || page.Requests[0].ID != id {
		t.Errorf("got %+v (%v), want the new request as the first of five", page, err)
	}
	days, err := p.Usage(t.Context(), p.caller(), p.now, 1)
	if err != nil || days[0].Requests != 5 || days[0].Failed != 1 {
		t.Errorf("got %+v (%v), want 5 requests of which one failed, since the other was canceled", days, err)
	}
	keys, err := p.Keys(t.Context(), pastAccount)
	if err != nil || len(keys) != 2 || keys[0].Used != 5 || keys[0].Limit != 10 {
		t.Errorf("got %+v (%v), want two keys, the first used five times", keys, err)
	}
	for _, id := range []int{completedID, queuedID} { // requests of files and of an upload
		r, err := p.DeleteMedia(t.Context(), p.caller(), pastID(id))
		if err != nil || r.Output != "" || r.MediaDeletedAt != p.now {
			t.Errorf("got %+v (%v), want its media deleted", r, err)
		}
		if err := p.Objects.List(t.Context(), "outputs/"+pastID(id)+"/", func(key string, _ time.Time) error { return errors.New(key) }); err != nil {
			t.Errorf("object %v is left", err)
		}
	}
	p.now = p.now.Add(26 * time.Hour)
	if err := errors.Join(p.Sweep(t.Context()), p.Tidy(t.Context(), 0)); err != nil {
		t.Error(err)
	}
}

func (p *Past) wantKeys(t *testing.T) {
	t.Helper()
	if c, err := p.Authenticate(t.Context(), PastToken); err != nil || c != p.caller() {
		t.Errorf("got %+v (%v), want the key of before", c, err)
	}
	if _, err := p.Authenticate(t.Context(), revokedToken); failure.CodeOf(err) != failure.Unauthorized {
		t.Errorf("revoked key: got %v", err)
	}
	if k, err := p.Store.Keys.ByHash(t.Context(), sha256.Sum256([]byte(revokedToken))); err != nil || k.RevokedAt.IsZero() {
		t.Errorf("got %+v (%v), want it revoked", k, err)
	}
}

func (p *Past) wantRequests(t *testing.T) {
	t.Helper()
	type row struct {
		id     int
		status lipsync.Status
		ref    string
		err    string
	}
	want := []row{
		{queuedID, lipsync.Queued, "", ""},
		{processingID, lipsync.Processing, "film", ""},
		{failedID, lipsync.Failed, "film", "no face found in the video"},
		{completedID, lipsync.Completed, "film", ""},
	}
	page, err := p.RequestPage(t.Context(), p.caller(), service.ListQuery{Limit: 10})
	if err != nil || len(page.Requests) != len(want) {
		t.Fatalf("got %+v (%v), want %d requests", page, err, len(want))
	}
	for i, r := range page.Requests {
		w := want[i]
		if r.ID != pastID(w.id) || r.Status != w.status || r.ReferenceID != w.ref || r.Failure.Sentence() != w.err {
			t.Errorf("got %+v, want %+v", r, w)
		}
		q := lipsync.StatusQuery{Account: pastAccount, Status: w.status, Limit: 10, Count: 10}
		if found, _, err := p.Store.Requests.ListByStatus(t.Context(), q); err != nil || len(found) != 1 || found[0].ID != r.ID {
			t.Errorf("%s: got %+v (%v)", w.status, found, err)
		}
	}
	if r, _, err := p.Request(t.Context(), p.caller(), "film"); err != nil || r.ID != pastID(processingID) {
		t.Errorf("by reference id: got %+v (%v), want the newest", r, err)
	}
	output, _, err := p.Objects.Open(t.Context(), page.Requests[3].Output)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	if text, err := io.ReadAll(output); err != nil || string(text) != "output" || page.Outputs[3] == nil {
		t.Errorf("got the output %q (%v) at %v", text, err, page.Outputs[3])
	}
}

// wantReplay sends the first request again.
func (p *Past) wantReplay(t *testing.T) {
	t.Helper()
	n, err := p.film(t.Context(), p.NewRequestID())
	if err != nil {
		t.Fatal(err)
	}
	if id, err := p.Generate(t.Context(), p.caller(), n); err != nil || id != pastID(completedID) {
		t.Errorf("got %s (%v), want the request of before", id, err)
	}
}
