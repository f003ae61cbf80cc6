package worker_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/render"
)

// noPosters are objects that take no poster.
type noPosters struct{ lipsync.Objects }

func (o noPosters) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if strings.HasSuffix(key, ".jpg") {
		return errors.New("no posters here")
	}
	return o.Objects.Put(ctx, key, r, size)
}

// TestPoster stores the poster beside the output. A request completes without one, too.
func TestPoster(t *testing.T) {
	for name, c := range map[string]struct {
		jpeg   []byte
		err    error
		refuse bool // to store it
		want   bool
	}{
		"made":       {jpeg: []byte("jpeg"), want: true},
		"not made":   {err: errors.New("no picture came")},
		"not stored": {jpeg: []byte("jpeg"), refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
				if !j.Poster {
					t.Error("the job asks for no poster")
				}
				return render.Result{Poster: c.jpeg, NoPoster: c.err}, concatenate(ctx, j)
			})
			if c.refuse {
				f.Service.Objects = noPosters{f.Service.Objects}
			}
			id := f.request(t, "video", "audio")
			f.Do(t.Context(), id)
			f.want(t, id, lipsync.Completed, "", 1)
			r, err := f.Service.Details(t.Context(), f.caller, id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Service.PosterURL(t.Context(), r)
			if err != nil || (got != nil) != c.want {
				t.Errorf("got the address %v (%v), want one: %t", got, err, c.want)
			}
			if _, err := f.Service.Objects.Size(t.Context(), strings.TrimSuffix(r.Output, ".mp4")+".jpg"); (err == nil) != c.want {
				t.Errorf("the object: got %v, want one: %t", err, c.want)
			}
		})
	}
}
