package dynamodb_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// TestSweepComesLate runs a sweep after a year without one, in which DynamoDB deleted items by their
// TimeToLive. The sweep must still find the uploads and subtract their bytes from those that the
// account stores.
func TestSweepComesLate(t *testing.T) {
	t.Parallel()
	b := openTable(t)
	now := time.Unix(1_800_000_000, 0).UTC()
	limits := lipsync.Limits{Stored: 300, Keep: lipsync.Retention{Records: 24 * time.Hour}}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	announce := func(id string, now time.Time) error {
		return b.Uploads.Create(t.Context(), lipsync.Upload{ID: id, Account: "a", Size: 100, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}, limits)
	}
	for _, id := range []string{"announced", "used", "dropped"} {
		ok(announce(id, now))
	}
	_, _, err := b.Requests.Create(t.Context(), lipsync.Request{ID: "r", Account: "a", Status: lipsync.Queued, CreatedAt: now}, []string{"used", "dropped"}, nil, lipsync.Limits{})
	ok(err)
	ok(b.Uploads.Drop(t.Context(), lipsync.Upload{ID: "dropped", RequestID: "r"}, now.Add(time.Minute)))
	if code := failure.CodeOf(announce("too many", now)); code != failure.StorageLimit {
		t.Fatalf("got code %q, want the account's storage to be full", code)
	}

	later := now.AddDate(1, 0, 0)
	b.expire(t, later)
	expired, err := b.Uploads.Expired(t.Context(), later, lipsync.Upload{}, 10)
	if err != nil || len(expired) != 3 {
		t.Errorf("got %d uploads that expired (%v), want 3", len(expired), err)
	}
	for _, u := range expired {
		ok(b.Uploads.Delete(t.Context(), u))
	}
	for _, id := range []string{"x", "y", "z"} {
		if err := announce(id, later); err != nil {
			t.Errorf("upload %s after the sweep: %v", id, err)
		}
	}
}

// expire deletes the items that DynamoDB would have deleted by now.
func (b *both) expire(t *testing.T, now time.Time) {
	t.Helper()
	b.rewrite(t, func(i item) []item {
		if end, ok := i[table.TimeToLive].(*types.AttributeValueMemberN); ok {
			if seconds, err := strconv.ParseInt(end.Value, 10, 64); err != nil || seconds < now.Unix() {
				return nil
			}
		}
		return []item{i}
	})
}

// TestRecordsExpire has DynamoDB delete records some time after the end of their requests. Open requests stay, however old they are.
func TestRecordsExpire(t *testing.T) {
	t.Parallel()
	b := openTable(t)
	now := time.Unix(1_800_000_000, 0).UTC()
	limits := lipsync.Limits{Keep: lipsync.Retention{Records: 40 * 24 * time.Hour}}
	for _, id := range []string{"done", "open"} {
		_, _, err := b.Requests.Create(t.Context(), lipsync.Request{ID: id, Account: "a", ReferenceID: "x", Status: lipsync.Queued, CreatedAt: now}, nil, nil, limits)
		check.Must(t, err)
	}
	batch := lipsync.Batch{ID: "b", Account: "a", Lines: "w", CreatedAt: now, Version: 1}
	check.Must(t, b.Batches.Create(t.Context(), batch, limits))
	ended := now.Add(24 * time.Hour)
	_, err := lipsynctest.Cancel(t.Context(), b.Leases, "done", ended)
	check.Must(t, err)
	there := func(when string, id string, want bool) {
		t.Helper()
		_, err := b.Requests.ByID(t.Context(), id)
		check.Want(t, id+" is there "+when, failure.CodeOf(err) != failure.NotFound, want)
	}
	b.expire(t, ended.Add(limits.Keep.RecordLife()))
	there("in its time", "done", true)
	_, err = b.Batches.ByID(t.Context(), "b")
	check.Must(t, err)
	later := ended.Add(limits.Keep.RecordLife() + 2*time.Second)
	b.expire(t, later)
	there("after its time", "done", false)
	check.Want(t, "its place among those of the reference id is left", b.get(t, "request/done", "turn") != nil, false)
	b.expire(t, later.AddDate(1, 0, 0))
	there("after a year", "open", true)
	_, err = b.Batches.ByID(t.Context(), "b")
	check.Want(t, "batch", failure.CodeOf(err), failure.NotFound)
	page, _, err := b.Requests.List(t.Context(), "a", "", 0, 10)
	check.Must(t, err)
	check.Want(t, "listed", len(page), 1)
}
