package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

// TestLargeRecords refuses requests of each kind, lines of batches and webhooks whose records would be too large, and stores nothing.
func TestLargeRecords(t *testing.T) {
	f := newFixture(t)
	n := urls()
	n.Output.UploadURL = order.UploadURL(long("upload"))
	n.Video.URL, n.Audios = long("video"), nil
	for i := range lipsync.MostTracks {
		ref := fmt.Sprint(i)
		n.Segments = append(n.Segments, order.Segment{Start: time.Duration(i) * time.Second, End: time.Duration(i+1) * time.Second, Ref: ref})
		n.Audios = append(n.Audios, requests.Track{Ref: ref, Source: requests.Source{URL: long("audio" + ref)}})
	}
	const message = "request takes 98948 bytes, and may take 65536: it has too many or too long URLs, names or segments"
	_, err := f.Generate(t.Context(), f.caller, n)
	check.Error(t, "request", err, failure.Invalid, message)
	_, err = f.Estimate(t.Context(), f.caller, n)
	check.Error(t, "estimate", err, failure.Invalid, message)
	n.Audios = n.Audios[:4]
	n.Segments = n.Segments[:4]
	_, err = f.Generate(t.Context(), f.caller, n)
	check.Error(t, "six long URLs", err, "", "")
	p := batches.Params{Lines: []batches.Variant{{Video: "https://example.com/v", Audio: "https://example.com/a"}, {Video: long("video"), Audio: long("audio")}}}
	p.Lines[1].Options.Face, p.Lines[1].Output.UploadURL = order.Face{By: order.FaceInBoxes, Boxes: long("boxes")}, n.Output.UploadURL
	_, _, err = f.CreateBatch(t.Context(), f.caller, p)
	check.Error(t, "lines with four long URLs", err, "", "")
	for i := range 7 {
		_, err := f.CreateWebhook(t.Context(), f.caller, long(fmt.Sprint("hook", i)), nil)
		check.Error(t, "webhook", err, "", "")
	}
	_, err = f.CreateWebhook(t.Context(), f.caller, long("another"), nil)
	check.Error(t, "eighth webhook", err, failure.Invalid, "list of the account's webhooks takes 66929 bytes, and may take 65536: it has too many or too long URLs")
}

// long returns one of the longest URLs.
func long(name string) string {
	url := "https://example.com/" + name + "?"
	return url + strings.Repeat("&", 8192-len(url))
}
