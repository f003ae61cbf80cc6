package lipsync_test

import (
	"testing"

	"lipsync/internal/lipsync"
)

func TestOpenLimit(t *testing.T) {
	h := newHome(t)
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
	h := newHome(t)
	h.Limits.Stored = 10
	const message = "account's uploads and outputs may take 10 bytes, and there is no room for more"
	h.upload(t, lipsync.Video, "fives")
	_, err := h.CreateUpload(t.Context(), h.caller, lipsync.Video, 6, "")
	wantError(t, "upload", err, lipsync.StorageLimit, message)
	h.upload(t, lipsync.Video, "fives")
	_, err = h.Generate(t.Context(), h.caller, urls())
	wantError(t, "request", err, lipsync.StorageLimit, message)
	h.clock.Advance(lipsync.UploadLife * 2)
	must(t, h.Sweep(t.Context()))
	h.complete(t, h.generate(t, "")) // its output counts too
	_, err = h.CreateUpload(t.Context(), h.caller, lipsync.Video, 10, "")
	wantError(t, "upload beside an output", err, lipsync.StorageLimit, message)
}

func TestKeyLimit(t *testing.T) {
	h := newHome(t)
	h.Limits.Keys = 2 // the home has made one
	_, k, err := h.CreateKey(t.Context(), "a", "second", 0)
	must(t, err)
	_, _, err = h.CreateKey(t.Context(), "a", "third", 0)
	wantError(t, "third", err, lipsync.KeyLimit, "account has as many active keys as it may have, 2; revoke one first")
	h.newCaller(t, "b", 0)
	must(t, h.RevokeKey(t.Context(), "a", k.ID))
	h.newCaller(t, "a", 0)
}
