package worker_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
)

// signFunc is a Signer.
type signFunc func(path string, o order.Origin) error

func (f signFunc) Sign(_ context.Context, path string, o order.Origin) error { return f(path, o) }

func (signFunc) Check(context.Context) error { return nil }

// TestSign signs an output before it is stored. What happens if that isn't possible depends on whether all outputs must be signed.
func TestSign(t *testing.T) {
	appended := func(path string, o order.Origin) error {
		content, err := os.ReadFile(path)
		if err != nil || o.Engine != "warp" || o.At.IsZero() {
			t.Errorf("got %+v (%v)", o, err)
		}
		return os.WriteFile(path, append(content, " signed"...), 0o600)
	}
	broken := func(string, order.Origin) error { return errors.New("broken") }
	for _, c := range []struct {
		name     string
		sign     signFunc
		format   order.Format
		required bool
		signed   bool
		warnings order.Warnings
		want     lipsync.Status
	}{
		{"no signer", nil, order.MP4, false, false, "", lipsync.Completed},
		{"signed", appended, order.MP4, false, true, order.Signed, lipsync.Completed},
		{"signed, as it must be", appended, order.MOV, true, true, order.Signed, lipsync.Completed},
		{"WebM", appended, order.WebM, false, false, order.NotSigned, lipsync.Completed},
		{"broken", broken, order.MP4, false, false, order.NotSigned, lipsync.Completed},
		{"broken, and it must be signed", broken, order.MP4, true, false, "", lipsync.Processing}, // until its next attempt
	} {
		t.Run(c.name, func(t *testing.T) {
			f := setup(t, concatenate)
			if c.sign != nil {
				f.Config().Signer = c.sign
			}
			p := requests.Params{Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}}
			p.Output.Format = c.format
			id, err := f.Service.Generate(t.Context(), f.caller, p)
			if err != nil {
				t.Fatal(err)
			}
			f.Service.RequireProvenance = c.required
			f.Do(t.Context(), id)
			r, err := f.Service.Store.Requests.ByID(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != c.want || r.Warnings != c.warnings {
				t.Errorf("got %s, warnings %q, want %s, %q", r.Status, r.Warnings, c.want, c.warnings)
			}
			if c.want != lipsync.Completed {
				return
			}
			content, size, err := f.Service.Objects.Open(t.Context(), r.Output)
			if err != nil {
				t.Fatal(err)
			}
			defer content.Close()
			text := make([]byte, size)
			if _, err := content.Read(text); err != nil || strings.HasSuffix(string(text), " signed") != c.signed || r.Size != size {
				t.Errorf("got %q of %d bytes (%v), want signed %t", text, r.Size, err, c.signed)
			}
		})
	}
}

// TestOlderThanProvenance does a request and an estimate of outputs in WebM that wait when the operator requires manifests. The request must fail at
// once, with the sentence that refuses new ones, and the estimate must tell that. It makes no difference that no output can be signed then.
func TestOlderThanProvenance(t *testing.T) {
	f := setup(t, func(context.Context, render.Job) error {
		t.Error("it was rendered")
		return nil
	})
	f.Config().Signer = &unableSigner{unable: true}
	p := requests.Params{Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}}
	p.Output.Format = order.WebM
	id, err := f.Service.Generate(t.Context(), f.caller, p)
	if err != nil {
		t.Fatal(err)
	}
	estimate, err := f.Service.Estimate(t.Context(), f.caller, p)
	if err != nil {
		t.Fatal(err)
	}
	f.Service.RequireProvenance = true
	_, refused := f.Service.Generate(t.Context(), f.caller, p)
	f.Do(t.Context(), id)
	f.want(t, id, lipsync.Failed, failure.MessageOf(refused), 1)
	f.Do(t.Context(), estimate)
	e, err := f.Service.Estimated(t.Context(), f.caller, estimate)
	if want := []order.Problem{{Code: failure.NotSignable, Message: failure.MessageOf(refused)}}; err != nil || !slices.Equal(e.Problems, want) {
		t.Errorf("got the problems %v (%v), want %v", e.Problems, err, want)
	}
}

// stuckSigner signs until its context ends.
type stuckSigner struct{}

func (stuckSigner) Sign(ctx context.Context, _ string, _ order.Origin) error { return stuck(ctx) }

func (stuckSigner) Check(context.Context) error { return nil }

// unableSigner can't sign for a while.
type unableSigner struct {
	unable bool
	hangs  bool // it does nothing then, until the context ends
}

func (s *unableSigner) Sign(ctx context.Context, _ string, _ order.Origin) error {
	switch {
	case !s.unable:
		return nil
	case s.hangs:
		return stuck(ctx)
	default:
		return errors.New("broken")
	}
}

func (s *unableSigner) Check(ctx context.Context) error {
	if err := s.Sign(ctx, "", order.Origin{}); err != nil {
		return &failure.Error{Code: failure.Unavailable, Message: "outputs can't be signed", Err: err}
	}
	return nil
}

// TestUnableSigner does a request while no output can be signed, for a day. It is not rendered, and completes when outputs can be signed again.
func TestUnableSigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signer, renders := &unableSigner{unable: true}, 0
		f := setup(t, func(ctx context.Context, j render.Job) error {
			renders++
			return concatenate(ctx, j)
		})
		f.Config().Signer, f.Service.RequireProvenance = signer, true
		id := f.request(t, "video", "audio")
		for range 24 {
			f.Do(t.Context(), id)
			time.Sleep(time.Hour + time.Minute)
		}
		r, err := f.Service.Store.Requests.ByID(t.Context(), id)
		if err != nil || r.Status.Final() || r.Attempts > 0 || renders > 0 {
			t.Errorf("after a day: got %s after %d attempts (%v), rendered %d times", r.Status, r.Attempts, err, renders)
		}
		signer.unable = false
		f.Do(t.Context(), id)
		f.want(t, id, lipsync.Completed, "", 1)
	})
}

// TestSignerBreaks has a signer that breaks while a request is rendered. That costs the request no attempt.
func TestSignerBreaks(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			signer := &unableSigner{hangs: hangs}
			f := setup(t, func(ctx context.Context, j render.Job) error {
				signer.unable = true
				return concatenate(ctx, j)
			})
			f.Config().Signer, f.Service.RequireProvenance = signer, true
			id := f.request(t, "video", "audio")
			f.Do(t.Context(), id)
			f.want(t, id, lipsync.Processing, "", 0)
		})
	}
}

// TestStuckSigner bounds the signing. Then the output is stored without a signature, unless all must be signed.
func TestStuckSigner(t *testing.T) {
	for _, required := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, concatenate)
			f.Config().Signer = stuckSigner{}
			id, began := f.request(t, "video", "audio"), time.Now()
			f.Service.RequireProvenance = required
			f.Do(t.Context(), id)
			r, err := f.Service.Store.Requests.ByID(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began).Round(time.Minute); took != 10*time.Minute || r.Status.Final() == required || (r.Warnings == order.NotSigned) == required {
				t.Errorf("required %t: got %s, warnings %q, after %v", required, r.Status, r.Warnings, took)
			}
		})
	}
}

// TestSlowSigner gives the signing of an output of 400 MiB 32 s more than that of a small one, since it reads and writes 3,200 MiB.
func TestSlowSigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(_ context.Context, j render.Job) error {
			if !j.Signed {
				t.Error("the renderer doesn't know that the output must be signed")
			}
			return errors.Join(os.WriteFile(j.Output, nil, 0o600), os.Truncate(j.Output, 400<<20))
		})
		f.Config().Signer = stuckSigner{}
		id, began := f.request(t, "video", "audio"), time.Now()
		f.Service.RequireProvenance = true
		f.Do(t.Context(), id)
		if took := time.Since(began).Round(time.Second); took != 10*time.Minute+32*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}
