package worker_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
	"lipsync/internal/test/lipsynctest"
)

// TestPieces makes three attempts at a request. Each finds the pieces of those before it, the newest first, and keeps its own.
func TestPieces(t *testing.T) {
	var found [][]string
	f := setup(t, func(ctx context.Context, j render.Job) error {
		if want := [][sha256.Size]byte{sha256.Sum256([]byte("video")), sha256.Sum256([]byte("audio"))}; !slices.Equal(j.Sums, want) {
			t.Errorf("got the digests %x of the media, want %x", j.Sums, want)
		}
		for n := range 2 {
			var contents []string
			err := j.Pieces.Find(ctx, n, func(r io.Reader) error {
				content, err := io.ReadAll(r)
				contents = append(contents, string(content))
				if err == nil && string(content) == "bad" {
					err = errors.New("bad")
				}
				return err
			})
			if len(contents) > 0 && contents[len(contents)-1] != "bad" == (err != nil) {
				t.Errorf("got error %v after %q", err, contents)
			}
			found = append(found, contents)
		}
		attempt := len(found)/2 - 1
		keep := []map[int]string{{0: "good", 1: "one"}, {0: "bad"}, {}}[attempt]
		for n, content := range keep {
			if err := j.Pieces.Keep(ctx, n, strings.NewReader(content), int64(len(content))); err != nil {
				t.Error(err)
			}
		}
		if attempt < 2 {
			return failure.Failure{Code: failure.HostFailing}.Because(nil)
		}
		return concatenate(ctx, j)
	})
	id, err := f.Service.Generate(t.Context(), f.caller, requests.Params{
		Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		f.Do(t.Context(), id)
		r, err := f.Service.Store.Requests.ByID(t.Context(), id)
		if err == nil && !r.Status.Final() {
			err = lipsynctest.EndPause(t.Context(), f.Service.Store.Leases, r, f.Service.Now())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	want := [][]string{nil, nil, {"good"}, {"one"}, {"bad", "good"}, {"one"}}
	if len(found) != len(want) {
		t.Fatalf("got %q, want %q", found, want)
	}
	for i := range want {
		if strings.Join(found[i], " ") != strings.Join(want[i], " ") {
			t.Errorf("%d: got %q, want %q", i, found[i], want[i])
		}
	}
}
