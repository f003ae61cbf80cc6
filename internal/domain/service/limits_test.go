package service_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

func TestOpenLimit(t *testing.T) {
	f := newFixture(t)
	f.Limits.Open = 2
	first := f.generate(t, "")
	f.generate(t, "")
	_, err := f.Generate(t.Context(), f.caller, urls())
	check.Error(t, "third", err, failure.OpenLimit, "account has as many open requests as it may have, 2; try again when one is finished")
	if e, ok := err.(*failure.Error); !ok || e.RetryAfter <= 0 {
		t.Errorf("got %#v, want when to try again", err)
	}
	media := f.media(t, "v", "a")
	_, err = f.Generate(t.Context(), f.caller, media)
	check.Want(t, "code", failure.CodeOf(err), failure.OpenLimit)
	f.wantObject(t, media.Video.Object, false)
	_, other := f.newCaller(t, "b", 0)
	_, err = f.Generate(t.Context(), other, urls())
	check.Must(t, err)
	f.complete(t, first)
	f.generate(t, "")
}

func TestStorageLimit(t *testing.T) {
	f := newFixture(t)
	f.Limits.Stored = 10
	const message = "account's uploads, outputs and records may take 10 bytes, and there is no room for more"
	f.upload(t, failure.Video, "fives")
	_, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 6})
	check.Error(t, "upload", err, failure.StorageLimit, message)
	f.upload(t, failure.Video, "fives")
	_, err = f.Generate(t.Context(), f.caller, urls())
	check.Error(t, "request", err, failure.StorageLimit, message)
	f.clock.Advance(2 * lipsync.Retention{}.InputLife())
	check.Must(t, f.Sweep(t.Context()))
	f.complete(t, f.generate(t, "")) // its output counts too
	_, err = f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 10})
	check.Error(t, "upload beside an output", err, failure.StorageLimit, message)
}

func TestKeyLimit(t *testing.T) {
	f := newFixture(t)
	f.Limits.Keys = 2 // newFixture has made one
	_, k, err := f.CreateKey(t.Context(), "a", "second", 0)
	check.Must(t, err)
	_, _, err = f.CreateKey(t.Context(), "a", "third", 0)
	check.Error(t, "third", err, failure.KeyLimit, "account has as many active keys as it may have, 2; revoke one first")
	f.newCaller(t, "b", 0)
	check.Must(t, f.RevokeKey(t.Context(), "a", k.ID))
	f.newCaller(t, "a", 0)
}

// TestRetention checks that uploads and outputs are kept for the set times.
func TestRetention(t *testing.T) {
	f := newFixture(t)
	f.Limits.Keep = lipsync.Retention{Inputs: 3 * time.Hour, Outputs: 5 * time.Hour}
	u := f.upload(t, failure.Video, "fives")
	check.Want(t, "upload expires", u.ExpiresAt, f.clock.Now().Add(3*time.Hour))
	f.clock.Advance(time.Hour)
	n := urls()
	n.Video.URL = u.Source
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	used, err := f.Store.Uploads.ByID(t.Context(), u.ID)
	check.Must(t, err)
	check.Want(t, "used upload expires", used.ExpiresAt, f.clock.Now().Add(3*time.Hour))
	f.complete(t, id)
	r, output, err := f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "output expires", f.OutputExpires(r), r.FinishedAt.Add(5*time.Hour))
	check.Want(t, "has an output", output != nil, true)

	f.clock.Advance(4*time.Hour + time.Second)
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, false)
	f.clock.Advance(time.Hour)
	_, output, err = f.Request(t.Context(), f.caller, id)
	check.Must(t, err)
	check.Want(t, "has an output after its time", output != nil, false)
	check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
	f.wantObject(t, r.Output, true) // its last URL is valid for two hours
	f.clock.Advance(2 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
	f.wantObject(t, r.Output, false)
}
