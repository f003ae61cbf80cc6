package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

const unfinished = "lipsync request is not finished; cancel it first, or wait for its end"

// TestDeleteMedia deletes the media of requests in each state, twice.
func TestDeleteMedia(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, f *fixture, id string)
		code    failure.Code
		message string
	}{
		{"queued", func(*testing.T, *fixture, string) {}, failure.Unfinished, unfinished},
		{"processing", func(t *testing.T, f *fixture, id string) { _, err := f.Claim(t.Context(), id); check.Must(t, err) }, failure.Unfinished, unfinished},
		{"canceled", func(t *testing.T, f *fixture, id string) {
			_, err := f.Cancel(t.Context(), f.caller, id)
			check.Must(t, err)
		}, "", ""},
		{"completed", func(t *testing.T, f *fixture, id string) { f.complete(t, id) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			n := f.media(t, "v", "a")
			id, err := f.Generate(t.Context(), f.caller, n)
			check.Must(t, err)
			c.prepare(t, f, id)
			// A worker that dies while it stores its output leaves these objects.
			orphan := "outputs/" + id + "/7.mp4"
			for _, key := range []string{orphan, "pieces/" + id + "/7/0", "pieces/" + id + "/7/1"} {
				check.Must(t, f.Objects.Put(t.Context(), key, strings.NewReader("x"), 1))
			}
			before, _, err := f.Request(t.Context(), f.caller, id)
			check.Must(t, err)
			now := f.clock.Now()
			for range 2 {
				got, err := f.DeleteMedia(t.Context(), f.caller, id)
				check.Error(t, "delete", err, c.code, c.message)
				if c.code != "" {
					f.wantObject(t, n.Video.Object, true)
					f.wantObject(t, orphan, true)
					return
				}
				before.Output, before.MediaDeletedAt = "", now
				check.Want(t, "answer", got, before)
				stored, output, err := f.Request(t.Context(), f.caller, id)
				check.Must(t, err)
				check.Want(t, "stored", stored, before)
				check.Want(t, "has an output", output != nil, false)
				f.wantEmpty(t)
				f.clock.Advance(time.Hour)
			}
		})
	}
}

// TestDeleteLate deletes the media of a canceled request. Its worker stores the output after that,
// and is killed before it learns that it lost the request.
func TestDeleteLate(t *testing.T) {
	f := newFixture(t)
	id := f.generate(t, "")
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	_, err = f.Cancel(t.Context(), f.caller, id)
	check.Must(t, err)
	for range 2 {
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		check.Must(t, err)
	}
	late := fmt.Sprintf("outputs/%s/%d.mp4", id, r.Claims)
	check.Must(t, f.Objects.Put(t.Context(), late, strings.NewReader("x"), 1))
	f.clock.Advance(time.Hour + time.Second)
	left, err := f.Store.Uploads.Expired(t.Context(), f.clock.Now(), lipsync.Upload{}, 10)
	check.Must(t, err)
	check.Want(t, "outputs to delete", len(left), 1)
	_, err = f.Generate(t.Context(), f.caller, requests.Params{Video: requests.Source{URL: "upload://" + left[0].ID}, Audios: urls().Audios})
	check.Error(t, "use of it", err, failure.Invalid, "video upload does not exist")
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, late, false)
	left, err = f.Store.Uploads.Expired(t.Context(), f.clock.Now(), lipsync.Upload{}, 10)
	check.Must(t, err)
	check.Want(t, "records that are left", len(left), 0)
}

// TestDeleteByName checks that a reference id names the newest request, as in reads.
func TestDeleteByName(t *testing.T) {
	f := newFixture(t)
	older, newer := f.generate(t, "x"), f.generate(t, "x")
	f.complete(t, older)
	f.complete(t, newer)
	got, err := f.DeleteMedia(t.Context(), f.caller, "x")
	check.Must(t, err)
	check.Want(t, "deleted", got.ID, newer)
	_, other := f.newCaller(t, "b", 0)
	for _, name := range []string{older, "x", "unknown", ""} {
		_, err := f.DeleteMedia(t.Context(), other, name)
		check.Error(t, "other account, "+name, err, failure.NotFound, "lipsync request not found")
	}
	r, output, err := f.Request(t.Context(), f.caller, older)
	check.Must(t, err)
	check.Want(t, "the older has an output", output != nil && r.MediaDeletedAt.IsZero(), true)
}

// TestDeleteUpload deletes the media of a request whose upload other requests use too.
func TestDeleteUpload(t *testing.T) {
	const shared = "another lipsync request that is not finished uses the same upload; cancel it first, or wait for its end"
	f := newFixture(t)
	u := f.upload(t, failure.Video, "fives")
	n := urls()
	n.Video.URL = u.Source
	var ids []string
	for range 3 {
		id, err := f.Generate(t.Context(), f.caller, n)
		check.Must(t, err)
		ids = append(ids, id)
	}
	refused := func(id string) {
		t.Helper()
		_, err := f.DeleteMedia(t.Context(), f.caller, id)
		check.Error(t, "delete", err, failure.Unfinished, shared)
		f.wantObject(t, u.Object, true)
	}
	for _, id := range ids[1:] {
		_, err := f.Cancel(t.Context(), f.caller, id)
		check.Must(t, err)
	}
	refused(ids[2]) // an older one than the newest user waits
	f.complete(t, ids[0])
	n.IdempotencyKey = new("k")
	last, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	refused(ids[2])
	f.complete(t, last)

	_, err = f.DeleteMedia(t.Context(), f.caller, ids[2])
	check.Must(t, err)
	f.wantObject(t, u.Object, false)
	again, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	check.Want(t, "replay", again, last)
	n.LargestFace = true
	_, err = f.Generate(t.Context(), f.caller, n)
	check.Error(t, "other body", err, failure.Reused, "idempotency key was used with a different request")
	n.IdempotencyKey = new("new")
	_, err = f.Generate(t.Context(), f.caller, n)
	check.Error(t, "use after the delete", err, failure.Invalid, "video upload does not exist")

	// The signed URL is still valid. A file sent to it counts, and is deleted too.
	check.Must(t, f.Objects.Put(t.Context(), u.Object, strings.NewReader("again"), 5))
	f.Limits.Stored = 5 + 3*6 // with the outputs
	_, err = f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 10})
	check.Want(t, "code", failure.CodeOf(err), failure.StorageLimit)
	f.clock.Advance(2*time.Hour + time.Second)
	check.Must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, false)
	_, err = f.Store.Uploads.ByID(t.Context(), u.ID)
	check.Want(t, "record", failure.CodeOf(err), failure.NotFound)
	for _, id := range ids { // also where the record of the upload is gone
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		check.Must(t, err)
	}
}

// TestDeleteOldUpload deletes an upload whose signed URL has expired. Its bytes stop counting at
// once.
func TestDeleteOldUpload(t *testing.T) {
	f := newFixture(t)
	u := f.upload(t, failure.Video, "fives")
	n := urls()
	n.Video.URL = u.Source
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	f.complete(t, id)
	f.clock.Advance(time.Hour)
	r, err := f.DeleteMedia(t.Context(), f.caller, id)
	check.Must(t, err)
	_, err = f.Store.Uploads.ByID(t.Context(), u.ID)
	check.Want(t, "record", failure.CodeOf(err), failure.NotFound)
	f.Limits.Stored = 100 + r.RecordSize()
	_, err = f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 100})
	check.Must(t, err)
}
