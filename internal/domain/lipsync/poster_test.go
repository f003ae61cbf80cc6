package lipsync_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// claimed makes a request for an output and claims it, and stores a poster for it.
func (f *fixture) claimed(t *testing.T, o lipsync.Output) lipsync.Request {
	t.Helper()
	n := urls()
	n.Output = o
	id, err := f.Generate(t.Context(), f.caller, n)
	must(t, err)
	r, err := f.Claim(t.Context(), id)
	must(t, err)
	must(t, f.StorePoster(t.Context(), &r, []byte("jpeg")))
	return r
}

func (f *fixture) wantPoster(t *testing.T, id string, shown bool) {
	t.Helper()
	r, err := f.Details(t.Context(), f.caller, id)
	must(t, err)
	u, err := f.PosterURL(t.Context(), r)
	must(t, err)
	want(t, "poster is shown", u != nil, shown)
	if u != nil {
		_, body := f.get(u)
		want(t, "poster", body, "jpeg")
	}
}

// TestPoster keeps the poster of an output as long as the output.
func TestPoster(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, lipsync.Output{})
	must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	must(t, f.Tidy(t.Context(), 0))
	f.wantPoster(t, r.ID, true)
	f.clock.Advance(30 * 24 * time.Hour)
	f.wantPoster(t, r.ID, false)
	f.clock.Advance(3 * time.Hour)
	must(t, f.Tidy(t.Context(), 0))
	f.wantEmpty(t)

	old := f.generate(t, "")
	f.complete(t, old)
	f.wantPoster(t, old, false)
}

// TestPosterStays keeps the poster of an output that is stored only by the second call.
func TestPosterStays(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, lipsync.Output{})
	if f.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
		t.Error("an output of another size was stored")
	}
	must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	f.wantPoster(t, r.ID, true)
}

// TestPosterGoes deletes the poster with the output, whenever that goes.
func TestPosterGoes(t *testing.T) {
	for name, end := range map[string]func(*fixture, lipsync.Request){
		"media deleted": func(f *fixture, r lipsync.Request) {
			must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
			got, err := f.DeleteMedia(t.Context(), f.caller, r.ID)
			must(t, err)
			want(t, "has a poster", got.Poster, false)
		},
		"output not stored": func(f *fixture, r lipsync.Request) {
			if f.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
				t.Error("an output of another size was stored")
			}
			must(t, f.Fail(t.Context(), r, lipsync.Failure{Code: lipsync.InternalFault}))
		},
		"output not sent": func(f *fixture, r lipsync.Request) {
			refused := errors.New("refused")
			err := f.CompleteAfter(t.Context(), r, strings.NewReader("output"), 6, func() error { return refused })
			want(t, "complete", err, refused)
		},
		"canceled": func(f *fixture, r lipsync.Request) {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			must(t, err)
			err = f.Complete(t.Context(), r, strings.NewReader("output"), 6)
			want(t, "complete", lipsync.CodeOf(err), lipsync.Conflict)
		},
		"worker died": func(f *fixture, r lipsync.Request) {
			f.clock.Advance(lipsync.Lease)
			next, err := f.Claim(t.Context(), r.ID)
			must(t, err)
			must(t, f.Fail(t.Context(), next, lipsync.Failure{Code: lipsync.NoFace}))
		},
		"stored after the media were deleted": func(f *fixture, r lipsync.Request) {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			must(t, err)
			_, err = f.DeleteMedia(t.Context(), f.caller, r.ID)
			must(t, err)
			must(t, f.StorePoster(t.Context(), &r, []byte("late")))
			f.clock.Advance(time.Hour + time.Second)
			must(t, f.Sweep(t.Context()))
		},
	} {
		for _, format := range []lipsync.Format{lipsync.MP4, lipsync.WebM} {
			t.Run(name+format.Extension(), func(t *testing.T) {
				f := newFixture(t)
				r := f.claimed(t, lipsync.Output{Format: format})
				end(f, r)
				f.wantEmpty(t)
				f.wantPoster(t, r.ID, false)
			})
		}
	}
}
