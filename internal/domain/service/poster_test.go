package service_test

import (
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// claimed makes a request for an output and claims it, and stores a poster for it.
func (f *fixture) claimed(t *testing.T, o order.Output) lipsync.Request {
	t.Helper()
	n := urls()
	n.Output = o
	id, err := f.Generate(t.Context(), f.caller, n)
	check.Must(t, err)
	r, err := f.Claim(t.Context(), id)
	check.Must(t, err)
	check.Must(t, f.StorePoster(t.Context(), &r, []byte("jpeg")))
	return r
}

func (f *fixture) wantPoster(t *testing.T, id string, shown bool) {
	t.Helper()
	r, err := f.Details(t.Context(), f.caller, id)
	check.Must(t, err)
	u, err := f.PosterURL(t.Context(), r)
	check.Must(t, err)
	check.Want(t, "poster is shown", u != nil, shown)
	if u != nil {
		_, body := f.get(u)
		check.Want(t, "poster", body, "jpeg")
	}
}

// TestPoster keeps the poster of an output as long as the output.
func TestPoster(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, order.Output{})
	check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantPoster(t, r.ID, true)
	f.clock.Advance(30 * 24 * time.Hour)
	f.wantPoster(t, r.ID, false)
	f.clock.Advance(3 * time.Hour)
	check.Must(t, f.Tidy(t.Context(), 0))
	f.wantEmpty(t)

	old := f.generate(t, "")
	f.complete(t, old)
	f.wantPoster(t, old, false)
}

// TestPosterStays keeps the poster of an output that is stored only by the second call.
func TestPosterStays(t *testing.T) {
	f := newFixture(t)
	r := f.claimed(t, order.Output{})
	if f.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
		t.Error("an output of another size was stored")
	}
	check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
	f.wantPoster(t, r.ID, true)
}

// TestPosterGoes deletes the poster with the output, whenever that goes.
func TestPosterGoes(t *testing.T) {
	for name, end := range map[string]func(*fixture, lipsync.Request){
		"media deleted": func(f *fixture, r lipsync.Request) {
			check.Must(t, f.Complete(t.Context(), r, strings.NewReader("output"), 6))
			got, err := f.DeleteMedia(t.Context(), f.caller, r.ID)
			check.Must(t, err)
			check.Want(t, "has a poster", got.Poster, false)
		},
		"output not stored": func(f *fixture, r lipsync.Request) {
			if f.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
				t.Error("an output of another size was stored")
			}
			check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.InternalFault}))
		},
		"output not sent": func(f *fixture, r lipsync.Request) {
			check.Must(t, f.StoreOutput(t.Context(), r, strings.NewReader("output"), 6))
			f.DropOutput(t.Context(), r)
		},
		"canceled": func(f *fixture, r lipsync.Request) {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			check.Must(t, err)
			err = f.Complete(t.Context(), r, strings.NewReader("output"), 6)
			check.Want(t, "complete", failure.CodeOf(err), failure.Conflict)
		},
		"worker died": func(f *fixture, r lipsync.Request) {
			f.clock.Advance(lipsync.Lease)
			next, err := f.Claim(t.Context(), r.ID)
			check.Must(t, err)
			check.Must(t, f.Fail(t.Context(), next, failure.Failure{Code: failure.NoFace}))
		},
		"stored after the media were deleted": func(f *fixture, r lipsync.Request) {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			check.Must(t, err)
			_, err = f.DeleteMedia(t.Context(), f.caller, r.ID)
			check.Must(t, err)
			check.Must(t, f.StorePoster(t.Context(), &r, []byte("late")))
			f.clock.Advance(time.Hour + time.Second)
			check.Must(t, f.Sweep(t.Context()))
		},
	} {
		for _, o := range []order.Output{{}, {Format: order.WebM}} {
			t.Run(name+o.Extension(), func(t *testing.T) {
				f := newFixture(t)
				r := f.claimed(t, o)
				end(f, r)
				f.wantEmpty(t)
				f.wantPoster(t, r.ID, false)
			})
		}
	}
}
