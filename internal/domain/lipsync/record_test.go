package lipsync

import (
	"testing"

	"lipsync/internal/domain/order"
)

// TestRestOfRecord has the largest result of a render. With 1 KiB for times, names and places it fits in what a record counts beside the client's part.
func TestRestOfRecord(t *testing.T) {
	var gaps []order.Gap
	for i := range 1000 {
		gaps = append(gaps, order.Gap{Start: 80000.111 + 2*float64(i), End: 80001.111 + 2*float64(i), Reason: order.OutOfPicture})
	}
	part := order.Part{All: 1e6, Good: 1e5}
	for range order.MostMissed {
		part.Miss(86399.9)
	}
	sync := order.SyncScore{Known: true, Confidence: .999, Offset: -10, Closures: part, Vowels: part, Spoken: part}
	if n := len(order.NewUnsynced(gaps).Text()) + len(sync.Text()) + 1<<10; n > restOfRecord {
		t.Errorf("the rest takes %d bytes, and counts as %d", n, restOfRecord)
	}
}
