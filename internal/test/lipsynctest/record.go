package lipsynctest

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// testLargest makes requests as large as they may be, of an account with as many and as large webhooks as it may have. Each reads back,
// and lists have what is Listed of it.
func testLargest(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	hooks := lipsync.AccountWebhooks{Account: "a"}
	for range lipsync.DefaultLimits().Webhooks {
		url := "https://webhook.invalid/?" + strings.Repeat("&", 6<<10)
		hooks.List = append(hooks.List, lipsync.Webhook{ID: NewClock().Now().String(), URL: url, Events: lipsync.EventTypes()})
	}
	must(t, hooks.CheckSize())
	must(t, store.Webhooks.Put(t.Context(), hooks))
	var made []lipsync.Request
	for n := range 3 {
		r := newRequest("a", "largest")
		r.CreatedAt = at(n)
		r.Video = lipsync.Input{URL: "https://video.invalid/?" + strings.Repeat("&<>", 2000), Name: "video.mp4"}
		r.Options = order.Options{
			Segments: order.Segments{{End: time.Second, Ref: "ben", Options: order.Options{Silence: order.KeepSilent}}},
			Output:   order.Output{FileName: "a & b", UploadURL: order.UploadURL("https://upload.invalid/?" + strings.Repeat("&", 8000))},
		}
		for r.Tracks = (lipsync.Tracks{{}, {Ref: "ben"}}); r.CheckSize() == nil; {
			r.Tracks[1].URL += strings.Repeat("&", 1000)
		}
		r.Tracks[1].URL = r.Tracks[1].URL[1000:]
		must(t, r.CheckSize())
		r, _, err := store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
		must(t, err)
		got, err := store.Requests.ByID(t.Context(), r.ID)
		must(t, err)
		want(t, "the largest request is read", reflect.DeepEqual(got, r), true)
		made = append([]lipsync.Request{listed(r)}, made...)
	}
	if made[0].Tracks != nil || made[0].Targets != nil || made[0].Options.Segments != nil || made[0].Options.Output.FileName != "a & b" {
		t.Errorf("got %+v in lists, want the name of the file and no other options", made[0])
	}
	for _, reference := range []string{"", "largest"} {
		page, _, err := store.Requests.List(t.Context(), "a", reference, 0, 9)
		must(t, err)
		want(t, "the list is as made", reflect.DeepEqual(page, made), true)
		page, _, err = store.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Queued, ReferenceID: reference, Limit: 9, Count: 9})
		must(t, err)
		want(t, "the list by status is as made", reflect.DeepEqual(page, made), true)
	}
	page, err := store.Requests.Several(t.Context(), []string{made[1].ID})
	must(t, err)
	want(t, "several are as made", reflect.DeepEqual(page, made[1:2]), true)
}

// listed returns the request as lists have it: see lipsync.Requests.
func listed(r lipsync.Request) lipsync.Request {
	r.Tracks, r.Targets, r.Unsynced = nil, nil, order.Unsynced{}
	r.Options = order.Options{Output: order.Output{FileName: r.Options.Output.FileName}}
	return r
}
