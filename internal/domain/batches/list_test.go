package batches

import (
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// FuzzList parses lists of a batch.
func FuzzList(f *testing.F) {
	f.Add("audio,reference_id\nhttps://example.com/a.wav,one\n")
	f.Add(`{"audio":"https://example.com/a.wav","options":{"sync_mode":"loop"}}`)
	f.Add("\"\n,\"")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := ParseList(text, "upload://v", order.Order{})
		if len(lines) > lipsync.MostLines {
			t.Errorf("got %d lines", len(lines))
		}
		if err == nil {
			for _, l := range lines {
				if l.Video == "" {
					t.Error("a line has no video")
				}
			}
		}
	})
}
