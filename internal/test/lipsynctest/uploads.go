package lipsynctest

import (
	"fmt"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// newUpload returns an upload that expires at the second.
func newUpload(id string, second int) lipsync.Upload {
	return lipsync.Upload{
		ID: id, Account: "a", Kind: failure.Audio, Size: 5 << 30, ContentType: "audio/wav", Name: "a.wav",
		Object: "uploads/" + id, CreatedAt: at(0), ExpiresAt: at(second),
	}
}

func testUploads(t *testing.T, store lipsync.Store) {
	u := newUpload("u", 9)
	must(t, store.Uploads.Create(t.Context(), u, lipsync.Limits{}))
	got, err := store.Uploads.ByID(t.Context(), "u")
	must(t, err)
	want(t, "upload", got, u)
	for range 2 {
		must(t, store.Uploads.Delete(t.Context(), u))
		_, err = store.Uploads.ByID(t.Context(), "u")
		wantCode(t, err, failure.NotFound)
	}
}

func testExpiredUploads(t *testing.T, store lipsync.Store) {
	all := make(map[string]lipsync.Upload)
	for id, second := range map[string]int{"c": 10, "a": 11, "d": 11, "b": 12} {
		all[id] = newUpload(id, second)
		must(t, store.Uploads.Create(t.Context(), all[id], lipsync.Limits{}))
	}
	for _, c := range []struct {
		second int
		after  string
		limit  int
		want   string
	}{
		{10, "", 9, "[]"}, {11, "", 9, "[c]"}, {12, "", 9, "[c a d]"}, {99, "", 9, "[c a d b]"},
		{99, "", 2, "[c a]"}, {99, "a", 2, "[d b]"}, {99, "b", 2, "[]"},
	} {
		expired, err := store.Uploads.Expired(t.Context(), at(c.second), all[c.after], c.limit)
		must(t, err)
		got := []string{}
		for _, u := range expired {
			got = append(got, u.ID)
		}
		want(t, "expired", fmt.Sprint(got), c.want)
	}
}

func testCreateUsesUploads(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	var uploads []lipsync.Upload
	for _, id := range []string{"u", "v", "w"} {
		uploads = append(uploads, newUpload(id, 10))
		must(t, store.Uploads.Create(t.Context(), newUpload(id, 10), lipsync.Limits{}))
	}
	for second, life := range []time.Duration{24 * time.Hour, 90 * time.Minute} { // a second request takes them over
		r := newRequest("a", "")
		r.CreatedAt = at(second)
		limits := lipsync.Limits{Keep: lipsync.Retention{Inputs: life % (24 * time.Hour)}} // 0 is a day
		_, _, err := store.Requests.Create(t.Context(), r, []string{"u", "v"}, nil, limits)
		must(t, err)
		for i := range 2 {
			uploads[i].RequestID, uploads[i].ExpiresAt = r.ID, r.CreatedAt.Add(life)
		}
		for _, u := range uploads {
			got, err := store.Uploads.ByID(t.Context(), u.ID)
			must(t, err)
			want(t, "upload", got, u)
		}
	}
}
