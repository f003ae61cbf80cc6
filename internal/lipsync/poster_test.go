package lipsync_test

import (
	"strings"
	"testing"
	"time"

	"lipsync/internal/lipsync"
)

// claimed makes a request and claims it, and stores a poster for it.
func (h *fixture) claimed(t *testing.T) lipsync.Request {
	t.Helper()
	r, err := h.Claim(t.Context(), h.generate(t, ""))
	must(t, err)
	must(t, h.StorePoster(t.Context(), &r, []byte("jpeg")))
	return r
}

func (h *fixture) wantPoster(t *testing.T, id string, shown bool) {
	t.Helper()
	r, err := h.Details(t.Context(), h.caller, id)
	must(t, err)
	u, err := h.PosterURL(t.Context(), r)
	must(t, err)
	want(t, "poster is shown", u != nil, shown)
	if u != nil {
		_, body := h.get(u)
		want(t, "poster", body, "jpeg")
	}
}

// TestPoster keeps the poster of an output as long as the output.
func TestPoster(t *testing.T) {
	h := newFixture(t)
	r := h.claimed(t)
	must(t, h.Complete(t.Context(), r, strings.NewReader("output"), 6))
	must(t, h.Tidy(t.Context(), 0))
	h.wantPoster(t, r.ID, true)
	h.clock.Advance(30 * 24 * time.Hour)
	h.wantPoster(t, r.ID, false)
	h.clock.Advance(3 * time.Hour)
	must(t, h.Tidy(t.Context(), 0))
	h.wantEmpty(t)

	old := h.generate(t, "")
	h.complete(t, old)
	h.wantPoster(t, old, false)
}

// TestPosterStays keeps the poster of an output that is stored only by the second call.
func TestPosterStays(t *testing.T) {
	h := newFixture(t)
	r := h.claimed(t)
	if h.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
		t.Error("an output of another size was stored")
	}
	must(t, h.Complete(t.Context(), r, strings.NewReader("output"), 6))
	h.wantPoster(t, r.ID, true)
}

// TestPosterGoes deletes the poster with the output, whenever that goes.
func TestPosterGoes(t *testing.T) {
	for name, end := range map[string]func(*fixture, lipsync.Request){
		"media deleted": func(h *fixture, r lipsync.Request) {
			must(t, h.Complete(t.Context(), r, strings.NewReader("output"), 6))
			got, err := h.DeleteMedia(t.Context(), h.caller, r.ID)
			must(t, err)
			want(t, "has a poster", got.Poster, false)
		},
		"output not stored": func(h *fixture, r lipsync.Request) {
			if h.Complete(t.Context(), r, strings.NewReader("output"), 7) == nil {
				t.Error("an output of another size was stored")
			}
			must(t, h.Fail(t.Context(), r, lipsync.Failure{Code: lipsync.InternalFault}))
		},
		"canceled": func(h *fixture, r lipsync.Request) {
			_, err := h.Cancel(t.Context(), h.caller, r.ID)
			must(t, err)
			err = h.Complete(t.Context(), r, strings.NewReader("output"), 6)
			want(t, "complete", lipsync.CodeOf(err), lipsync.Conflict)
		},
		"worker died": func(h *fixture, r lipsync.Request) {
			h.clock.Advance(lipsync.Lease)
			next, err := h.Claim(t.Context(), r.ID)
			must(t, err)
			must(t, h.Fail(t.Context(), next, lipsync.Failure{Code: lipsync.NoFace}))
		},
		"stored after the media were deleted": func(h *fixture, r lipsync.Request) {
			_, err := h.Cancel(t.Context(), h.caller, r.ID)
			must(t, err)
			_, err = h.DeleteMedia(t.Context(), h.caller, r.ID)
			must(t, err)
			must(t, h.StorePoster(t.Context(), &r, []byte("late")))
			h.clock.Advance(time.Hour + time.Second)
			must(t, h.Sweep(t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			r := h.claimed(t)
			end(h, r)
			h.wantEmpty(t)
			h.wantPoster(t, r.ID, false)
		})
	}
}
