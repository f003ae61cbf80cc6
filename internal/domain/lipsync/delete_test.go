package lipsync_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

const unfinished = "lipsync request is not finished; cancel it first, or wait for its end"

// TestDeleteMedia deletes the media of requests in each state, twice.
func TestDeleteMedia(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, f *fixture, id string)
		code    lipsync.Code
		message string
	}{
		{"queued", func(*testing.T, *fixture, string) {}, lipsync.Unfinished, unfinished},
		{"processing", func(t *testing.T, f *fixture, id string) { _, err := f.Claim(t.Context(), id); must(t, err) }, lipsync.Unfinished, unfinished},
		{"canceled", func(t *testing.T, f *fixture, id string) { _, err := f.Cancel(t.Context(), f.caller, id); must(t, err) }, "", ""},
		{"completed", func(t *testing.T, f *fixture, id string) { f.complete(t, id) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			n := f.media(t, "v", "a")
			id, err := f.Generate(t.Context(), f.caller, n)
			must(t, err)
			c.prepare(t, f, id)
			// A worker that dies while it stores its output leaves these objects.
			orphan := "outputs/" + id + "/7.mp4"
			for _, key := range []string{orphan, "pieces/" + id + "/7/0", "pieces/" + id + "/7/1"} {
				must(t, f.Objects.Put(t.Context(), key, strings.NewReader("x"), 1))
			}
			before, _, err := f.Request(t.Context(), f.caller, id)
			must(t, err)
			now := f.clock.Now()
			for range 2 {
				got, err := f.DeleteMedia(t.Context(), f.caller, id)
				wantError(t, "delete", err, c.code, c.message)
				if c.code != "" {
					f.wantObject(t, n.Video.Object, true)
					f.wantObject(t, orphan, true)
					return
				}
				before.Output, before.MediaDeletedAt = "", now
				want(t, "answer", got, before)
				stored, output, err := f.Request(t.Context(), f.caller, id)
				must(t, err)
				want(t, "stored", stored, before)
				want(t, "has an output", output != nil, false)
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
	must(t, err)
	_, err = f.Cancel(t.Context(), f.caller, id)
	must(t, err)
	for range 2 {
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		must(t, err)
	}
	late := fmt.Sprintf("outputs/%s/%d.mp4", id, r.Claims)
	must(t, f.Objects.Put(t.Context(), late, strings.NewReader("x"), 1))
	f.clock.Advance(time.Hour + time.Second)
	left, err := f.Store.Uploads.Expired(t.Context(), f.clock.Now(), lipsync.Upload{}, 10)
	must(t, err)
	want(t, "outputs to delete", len(left), 1)
	_, err = f.Generate(t.Context(), f.caller, lipsync.RequestParams{Video: lipsync.Source{URL: "upload://" + left[0].ID}, Audio: urls().Audio})
	wantError(t, "use of it", err, lipsync.Invalid, "video upload does not exist")
	must(t, f.Sweep(t.Context()))
	f.wantObject(t, late, false)
	left, err = f.Store.Uploads.Expired(t.Context(), f.clock.Now(), lipsync.Upload{}, 10)
	must(t, err)
	want(t, "records that are left", len(left), 0)
}

// TestDeleteByName checks that a reference id names the newest request, as in reads.
func TestDeleteByName(t *testing.T) {
	f := newFixture(t)
	older, newer := f.generate(t, "x"), f.generate(t, "x")
	f.complete(t, older)
	f.complete(t, newer)
	got, err := f.DeleteMedia(t.Context(), f.caller, "x")
	must(t, err)
	want(t, "deleted", got.ID, newer)
	_, other := f.newCaller(t, "b", 0)
	for _, name := range []string{older, "x", "unknown", ""} {
		_, err := f.DeleteMedia(t.Context(), other, name)
		wantError(t, "other account, "+name, err, lipsync.NotFound, "lipsync request not found")
	}
	r, output, err := f.Request(t.Context(), f.caller, older)
	must(t, err)
	want(t, "the older has an output", output != nil && r.MediaDeletedAt.IsZero(), true)
}

// TestDeleteUpload deletes the media of a request whose upload other requests use too.
func TestDeleteUpload(t *testing.T) {
	const shared = "another lipsync request that is not finished uses the same upload; cancel it first, or wait for its end"
	f := newFixture(t)
	u := f.upload(t, lipsync.Video, "fives")
	n := urls()
	n.Video.URL = u.Source
	var ids []string
	for range 3 {
		id, err := f.Generate(t.Context(), f.caller, n)
		must(t, err)
		ids = append(ids, id)
	}
	refused := func(id string) {
		t.Helper()
		_, err := f.DeleteMedia(t.Context(), f.caller, id)
		wantError(t, "delete", err, lipsync.Unfinished, shared)
		f.wantObject(t, u.Object, true)
	}
	for _, id := range ids[1:] {
		_, err := f.Cancel(t.Context(), f.caller, id)
		must(t, err)
	}
	refused(ids[2]) // an older one than the newest user waits
	f.complete(t, ids[0])
	n.IdempotencyKey = new("k")
	last, err := f.Generate(t.Context(), f.caller, n)
	must(t, err)
	refused(ids[2])
	f.complete(t, last)

	_, err = f.DeleteMedia(t.Context(), f.caller, ids[2])
	must(t, err)
	f.wantObject(t, u.Object, false)
	again, err := f.Generate(t.Context(), f.caller, n)
	must(t, err)
	want(t, "replay", again, last)
	n.LargestFace = true
	_, err = f.Generate(t.Context(), f.caller, n)
	wantError(t, "other body", err, lipsync.Reused, "idempotency key was used with a different request")
	n.IdempotencyKey = new("new")
	_, err = f.Generate(t.Context(), f.caller, n)
	wantError(t, "use after the delete", err, lipsync.Invalid, "video upload does not exist")

	// The signed URL is still valid. A file sent to it counts, and is deleted too.
	must(t, f.Objects.Put(t.Context(), u.Object, strings.NewReader("again"), 5))
	f.Limits.Stored = 5 + 3*6 // with the outputs
	_, err = f.CreateUpload(t.Context(), f.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 10})
	want(t, "code", lipsync.CodeOf(err), lipsync.StorageLimit)
	f.clock.Advance(2*time.Hour + time.Second)
	must(t, f.Sweep(t.Context()))
	f.wantObject(t, u.Object, false)
	_, err = f.Store.Uploads.ByID(t.Context(), u.ID)
	want(t, "record", lipsync.CodeOf(err), lipsync.NotFound)
	for _, id := range ids { // also where the record of the upload is gone
		_, err = f.DeleteMedia(t.Context(), f.caller, id)
		must(t, err)
	}
}

// TestDeleteOldUpload deletes an upload whose signed URL has expired. Its bytes stop counting at
// once.
func TestDeleteOldUpload(t *testing.T) {
	f := newFixture(t)
	u := f.upload(t, lipsync.Video, "fives")
	n := urls()
	n.Video.URL = u.Source
	id, err := f.Generate(t.Context(), f.caller, n)
	must(t, err)
	f.complete(t, id)
	f.clock.Advance(time.Hour)
	_, err = f.DeleteMedia(t.Context(), f.caller, id)
	must(t, err)
	_, err = f.Store.Uploads.ByID(t.Context(), u.ID)
	want(t, "record", lipsync.CodeOf(err), lipsync.NotFound)
	f.Limits.Stored = 100
	_, err = f.CreateUpload(t.Context(), f.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 100})
	must(t, err)
}
