package dynamodb_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestPendingReads counts the pending deliveries of a webhook that has more than the limit. It must not read
// as many entries of each shard as the limit.
func TestPendingReads(t *testing.T) {
	var w wire
	store := openWire(t, &w)
	const limit, deliveries = 2000, 4000
	for n := range deliveries {
		err := store.Webhooks.Add(t.Context(), lipsync.Delivery{
			ID: fmt.Sprintf("msg_%d", n), Webhook: "w", Account: "a", State: lipsync.DeliveryWaiting, Due: time.Unix(1, 0), Version: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var read atomic.Int64
	w.spoil = func(int, string) fault {
		return func(r *http.Request) (*http.Response, error) {
			answer, err := send(r)
			if err != nil {
				return nil, err
			}
			body, err := io.ReadAll(answer.Body)
			var page struct{ Count int64 }
			if err == nil {
				err = json.Unmarshal(body, &page)
			}
			read.Add(page.Count)
			answer.Body = io.NopCloser(bytes.NewReader(body))
			return answer, err
		}
	}
	n, err := store.Webhooks.Pending(t.Context(), "w", limit)
	if err != nil || n != limit {
		t.Errorf("got %d pending deliveries, %v, want %d", n, err, limit)
	}
	if got := read.Load(); got < limit || got > limit*5/4 {
		t.Errorf("read %d entries, want about %d", got, limit)
	}
}
