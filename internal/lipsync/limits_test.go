package lipsync_test

import (
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

func TestOpenLimit(t *testing.T) {
	h := newFixture(t)
	h.Limits.Open = 2
	first := h.generate(t, "")
	h.generate(t, "")
	_, err := h.Generate(t.Context(), h.caller, urls())
	wantError(t, "third", err, lipsync.OpenLimit, "account has as many open requests as it may have, 2; try again when one is finished")
	if e, ok := err.(*lipsync.Error); !ok || e.RetryAfter <= 0 {
		t.Errorf("got %#v, want when to try again", err)
	}
	media := h.media(t, "v", "a")
	_, err = h.Generate(t.Context(), h.caller, media)
	want(t, "code", lipsync.CodeOf(err), lipsync.OpenLimit)
	h.wantObject(t, media.Video.Object, false)
	_, other := h.newCaller(t, "b", 0)
	_, err = h.Generate(t.Context(), other, urls())
	must(t, err)
	h.complete(t, first)
	h.generate(t, "")
}

func TestStorageLimit(t *testing.T) {
	h := newFixture(t)
	h.Limits.Stored = 10
	const message = "account's uploads and outputs may take 10 bytes, and there is no room for more"
	h.upload(t, lipsync.Video, "fives")
	_, err := h.CreateUpload(t.Context(), h.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 6})
	wantError(t, "upload", err, lipsync.StorageLimit, message)
	h.upload(t, lipsync.Video, "fives")
	_, err = h.Generate(t.Context(), h.caller, urls())
	wantError(t, "request", err, lipsync.StorageLimit, message)
	h.clock.Advance(2 * lipsync.Retention{}.InputLife())
	must(t, h.Sweep(t.Context()))
	h.complete(t, h.generate(t, "")) // its output counts too
	_, err = h.CreateUpload(t.Context(), h.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 10})
	wantError(t, "upload beside an output", err, lipsync.StorageLimit, message)
}

func TestKeyLimit(t *testing.T) {
	h := newFixture(t)
	h.Limits.Keys = 2 // newFixture has made one
	_, k, err := h.CreateKey(t.Context(), "a", "second", 0)
	must(t, err)
	_, _, err = h.CreateKey(t.Context(), "a", "third", 0)
	wantError(t, "third", err, lipsync.KeyLimit, "account has as many active keys as it may have, 2; revoke one first")
	h.newCaller(t, "b", 0)
	must(t, h.RevokeKey(t.Context(), "a", k.ID))
	h.newCaller(t, "a", 0)
}

// TestRetention checks that uploads and outputs are kept for the set times.
func TestRetention(t *testing.T) {
	h := newFixture(t)
	h.Limits.Keep = lipsync.Retention{Inputs: 3 * time.Hour, Outputs: 5 * time.Hour}
	u := h.upload(t, lipsync.Video, "fives")
	want(t, "upload expires", u.ExpiresAt, h.clock.Now().Add(3*time.Hour))
	h.clock.Advance(time.Hour)
	n := urls()
	n.Video.URL = u.Source
	id, err := h.Generate(t.Context(), h.caller, n)
	must(t, err)
	used, err := h.Store.Uploads.ByID(t.Context(), u.ID)
	must(t, err)
	want(t, "used upload expires", used.ExpiresAt, h.clock.Now().Add(3*time.Hour))
	h.complete(t, id)
	r, output, err := h.Request(t.Context(), h.caller, id)
	must(t, err)
	want(t, "output expires", h.OutputExpires(r), r.FinishedAt.Add(5*time.Hour))
	want(t, "has an output", output != nil, true)

	h.clock.Advance(4*time.Hour + time.Second)
	must(t, h.Sweep(t.Context()))
	h.wantObject(t, u.Object, false)
	h.clock.Advance(time.Hour)
	_, output, err = h.Request(t.Context(), h.caller, id)
	must(t, err)
	want(t, "has an output after its time", output != nil, false)
	must(t, h.Tidy(t.Context(), lipsync.OrphanAge))
	h.wantObject(t, r.Output, true) // its last URL is valid for two hours
	h.clock.Advance(2 * time.Hour)
	must(t, h.Tidy(t.Context(), lipsync.OrphanAge))
	h.wantObject(t, r.Output, false)
}
