package worker_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
	"lipsync/internal/test/lipsynctest"
)

// stuck waits until ctx ends.
func stuck(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// stuckWeb has files that never arrive.
type stuckWeb struct{}

func (stuckWeb) Fetch(ctx context.Context, _ string, _ io.Writer, _ int64) error { return stuck(ctx) }

// stuckObjects stores the bytes of an output, but then does not return.
type stuckObjects struct{ lipsync.Objects }

func (o stuckObjects) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return errors.Join(o.Objects.Put(ctx, key, r, size), stuck(ctx))
}

// TestCancel cancels an attempt at every step. It must stop within two seconds and leave nothing
// behind.
func TestCancel(t *testing.T) {
	rendering := func(ctx context.Context, j render.Job) error {
		return errors.Join(concatenate(ctx, j), stuck(ctx))
	}
	for name, c := range map[string]struct {
		render  func(context.Context, render.Job) error
		prepare func(*fixture)
	}{
		"fetching":  {concatenate, func(f *fixture) { f.Config().Fetcher = stuckWeb{} }},
		"rendering": {rendering, func(*fixture) {}},
		"storing":   {concatenate, func(f *fixture) { f.Service.Objects = stuckObjects{f.Service.Objects} }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := setup(t, c.render)
				c.prepare(f)
				id := f.request(t, "video", "audio")
				stopped := make(chan error)
				go func() { _, err := f.Worker.Do(context.Background(), id); stopped <- err }()
				time.Sleep(90500 * time.Millisecond)
				if _, err := f.Service.Cancel(t.Context(), f.caller, id); err != nil {
					t.Fatal(err)
				}
				canceled := time.Now()
				if err := <-stopped; err != nil {
					t.Errorf("the worker logged %v, want nothing: a client may cancel", err)
				}
				if took := time.Since(canceled); took > 2*time.Second {
					t.Errorf("stopped after %v, want 2 s at most", took)
				}
				f.want(t, id, lipsync.Failed, "canceled by the client", 1)
				f.wantNoObjects(t)
			})
		})
	}
}

// wantNoObjects checks that no object is stored.
func (f *fixture) wantNoObjects(t *testing.T) {
	t.Helper()
	err := f.Service.Objects.List(t.Context(), "", func(key string, _ time.Time) error {
		t.Errorf("object %s is left", key)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCanceledUnseen cancels a request just before its render ends, so that the worker learns of the
// cancel only afterwards. The render ends with an error, since the inputs were deleted or the video
// is broken, or without one. None of these is a failure of the worker.
func TestCanceledUnseen(t *testing.T) {
	for name, said := range map[string]error{
		"media gone":  errors.New("no such object"),
		"bad media":   failure.Failure{Code: failure.NoFace}.Because(nil),
		"all is done": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var f *fixture
			f = setup(t, func(ctx context.Context, j render.Job) error {
				if _, err := f.Service.Cancel(ctx, f.caller, "doomed"); err != nil {
					return err
				}
				return errors.Join(concatenate(ctx, j), said)
			})
			n := requests.Params{ID: f.Service.NewRequestID(), Audios: make([]requests.Track, 1), Order: order.Order{ReferenceID: new("doomed")}}
			for kind, source := range map[failure.MediaKind]*requests.Source{failure.Video: &n.Video, failure.Audio: &n.Audios[0].Source} {
				var err error
				if *source, err = f.Service.StoreMedia(t.Context(), n.ID, kind, strings.NewReader("stored")); err != nil {
					t.Fatal(err)
				}
			}
			id, err := f.Service.Generate(t.Context(), f.caller, n)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := f.Worker.Do(t.Context(), id); !found || err != nil {
				t.Errorf("got %t and %v, want true and no error", found, err)
			}
			f.want(t, id, lipsync.Failed, "canceled by the client", 1)
			f.wantNoObjects(t)
		})
	}
}

// TestNextAfterCanceled checks that the worker goes on with the next request.
func TestNextAfterCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if err := concatenate(ctx, j); err != nil || !strings.Contains(readAll(t, j.Video), "endless") {
				return err
			}
			return stuck(ctx)
		})
		endless, queued, next := f.request(t, "endless", ""), f.request(t, "queued", ""), f.request(t, "next", "")
		ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
		defer stop()
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx, 1, nil) }()
		time.Sleep(3500 * time.Millisecond) // between two checks, a second apart: the worker then sees both cancels at once
		for _, id := range []string{endless, queued} {
			if _, err := f.Service.Cancel(t.Context(), f.caller, id); err != nil {
				t.Fatal(err)
			}
		}
		<-done
		f.want(t, endless, lipsync.Failed, "canceled by the client", 1)
		f.want(t, queued, lipsync.Failed, "canceled by the client", 0)
		f.want(t, next, lipsync.Completed, "", 1)
	})
}

// lateCancel cancels each request just before it is finished.
type lateCancel struct {
	lipsync.Leases
	cancel func()
}

func (s lateCancel) Change(ctx context.Context, id string, t lipsync.Transition) (lipsync.Request, error) {
	s.cancel()
	return s.Leases.Change(ctx, id, t)
}

// TestCanceledLast cancels between the worker's last check and its report.
func TestCanceledLast(t *testing.T) {
	f := setup(t, func(context.Context, render.Job) error {
		return failure.Failure{Code: failure.NoFace}.Because(nil)
	})
	id := f.request(t, "video", "audio")
	f.Service.Store.Leases = lateCancel{f.Service.Store.Leases, func() {
		if _, err := lipsynctest.Cancel(t.Context(), f.Service.Store.Leases.(lateCancel).Leases, id, time.Now()); err != nil {
			t.Error(err)
		}
	}}
	if found, err := f.Worker.Do(t.Context(), id); !found || err != nil {
		t.Errorf("got %t and %v, want true and no error", found, err)
	}
	f.want(t, id, lipsync.Failed, "canceled by the client", 1)
}
