package lipsynctest

import (
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
)

// TestCrashes makes three requests. Two complete, and one of these then has its media deleted; the
// third is canceled while a worker holds it. It repeats this with a fault at every call of a port:
// before or after the call, with the process going on or ending. In each case each request ends
// once, counts once, and leaves only its output or nothing. open returns empty ports.
func TestCrashes(t *testing.T, open func(t *testing.T) (lipsync.Store, lipsync.Objects)) {
	calls := crash(t, open, &faults{})
	if calls < 20 {
		t.Fatalf("got %d calls of ports: too few for the story that is told", calls)
	}
	for at := 1; at <= calls; at++ {
		for _, f := range []*faults{
			{at: at}, {at: at, executed: true}, {at: at, fatal: true}, {at: at, executed: true, fatal: true},
		} {
			name := fmt.Sprintf("call=%d/executed=%t/fatal=%t", at, f.executed, f.fatal)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				crash(t, open, f)
			})
		}
	}
	t.Logf("%d calls of ports, %d cases", calls, 4*calls)
}

// story is one run of two clients and a worker.
type story struct {
	t       *testing.T
	clock   *Clock
	service *service.Service
	caller  lipsync.Caller
	renders map[string]int // how often each request was made final
	cancel  error          // result of the last cancel
	forget  error          // result of the last deletion of media
}

// crash runs the story with the faults, and then again without them, as clients and workers do
// after a failure or a restart.
func crash(t *testing.T, open func(t *testing.T) (lipsync.Store, lipsync.Objects), f *faults) (calls int) {
	store, objects := open(t)
	clock := NewClock()
	s := &story{t: t, clock: clock, renders: make(map[string]int)}
	s.service = NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, Engines: []string{"warp"}}, base.Ports{
		Store:   faulty(store, f),
		Objects: faultyObjects{objects, f},
		Hints:   faultyQueue{f},
		Now:     clock.Now,
	})
	_, k, err := s.service.CreateKey(t.Context(), "a", "test", 3)
	must(t, err)
	s.caller = lipsync.Caller{Account: "a", KeyID: k.ID, KeyName: k.Name}
	s.tell()
	calls = f.calls

	s.service.Store, s.service.Objects, s.service.Hints = store, objects, faultyQueue{&faults{}}
	if f.fatal {
		must(t, s.service.Recover(t.Context()))
	}
	clock.Advance(lipsync.Lease)
	must(t, s.service.Sweep(t.Context()))
	s.tell()
	s.check(store, objects)
	return calls
}

// tell makes the requests, again if necessary, and works until none is open. It goes on after a
// step fails.
func (s *story) tell() {
	_ = s.sendMedia("doomed")
	_ = s.sendMedia("media")
	_ = s.sendUpload()
	for range 7 {
		_ = s.work()
	}
	s.cancelDoomed()
	_, s.forget = s.service.DeleteMedia(s.t.Context(), s.caller, "upload")
}

// cancelDoomed cancels the third request.
func (s *story) cancelDoomed() {
	_, s.cancel = s.service.Cancel(s.t.Context(), s.caller, "doomed")
}

// sendMedia generates from a multipart form and tries again after an error.
func (s *story) sendMedia(name string) error {
	id := s.service.NewRequestID()
	video, err := s.service.StoreMedia(s.t.Context(), id, failure.Video, strings.NewReader("video of "+name))
	if err != nil {
		return err
	}
	audio, err := s.service.StoreMedia(s.t.Context(), id, failure.Audio, strings.NewReader("audio"))
	if err != nil {
		return err
	}
	_, err = s.service.Generate(s.t.Context(), s.caller, requests.Params{
		ID: id, Video: video, Audios: []requests.Track{{Source: audio}}, Order: order.Order{ReferenceID: new(name)},
		IdempotencyKey: new(name),
	})
	return err
}

// sendUpload generates from an upload and a URL that is the same at each try. The upload of the
// first try may not exist.
func (s *story) sendUpload() error {
	if r, _, err := s.service.Request(s.t.Context(), s.caller, "upload"); err == nil && r.ID != "" {
		return nil
	}
	u, err := s.service.CreateUpload(s.t.Context(), s.caller, requests.UploadParams{Kind: failure.Video, Size: 15})
	if err != nil {
		return err
	}
	if err := s.service.Objects.Put(s.t.Context(), u.Object, strings.NewReader("video of upload"), 15); err != nil {
		return err
	}
	_, err = s.service.Generate(s.t.Context(), s.caller, requests.Params{
		Video: requests.Source{URL: u.Source}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/audio.wav"}}},
		Order: order.Order{ReferenceID: new("upload"), Output: order.Output{Format: order.WebM}},
	})
	return err
}

// work claims one request and completes it, with its video as the output. It postpones one request
// first.
func (s *story) work() error {
	ctx := s.t.Context()
	r, err := s.service.Claim(ctx, "")
	if err != nil {
		return err
	}
	if r.ReferenceID == "upload" && r.Delays == 0 {
		_, _, err := s.service.Fault(ctx, r, &failure.Error{Code: failure.Unavailable}, 0) // the network fails
		s.clock.Advance(time.Minute)
		return err
	}
	if err := s.render(r); err != nil {
		// A worker that fails itself releases the request.
		return s.service.Release(ctx, r)
	}
	return nil
}

func (s *story) render(r lipsync.Request) error {
	video, size, err := s.service.OpenMedia(s.t.Context(), r.Video)
	if err != nil {
		return err
	}
	defer video.Close()
	if err := s.service.Renew(s.t.Context(), r); err != nil {
		return err
	}
	_ = s.service.Report(s.t.Context(), r, half()) // never a reason to stop
	if r.ReferenceID == "doomed" {
		s.cancelDoomed()
	}
	_ = s.service.StorePoster(s.t.Context(), &r, []byte("poster")) // nor is this
	if err := s.service.Complete(s.t.Context(), r, video, size); err != nil {
		return err
	}
	s.renders[r.ID]++
	return nil
}

// check checks the requests and objects after the story.
func (s *story) check(store lipsync.Store, objects lipsync.Objects) {
	t := s.t
	_, total, err := store.Requests.List(t.Context(), "a", "", 0, 10)
	must(t, err)
	want(t, "requests", total, 3)
	wantUsed(t, store, "a", 3)
	s.refuse()

	var named []string
	for _, reference := range []string{"media", "upload"} {
		r, err := store.Requests.ByReference(t.Context(), "a", reference)
		must(t, err)
		want(t, reference+" status", r.Status, lipsync.Completed)
		want(t, reference+" completed more than once", s.renders[r.ID] > 1, false)
		if reference == "media" {
			wantObject(t, objects, r.Output, "video of media")
			named = append(named, outputs(r)...)
		} else {
			s.checkForgotten(objects, r)
		}
	}
	named = append(named, s.checkDoomed(store, objects)...)
	// After the uploads have expired, only the outputs remain.
	s.clock.Advance(lipsync.Retention{}.InputLife() + 2*time.Hour)
	must(t, s.service.Sweep(t.Context()))
	must(t, s.service.Tidy(t.Context(), 0))
	wantSet(t, objects, named)
}

// checkForgotten checks the request whose media were deleted.
func (s *story) checkForgotten(objects lipsync.Objects, r lipsync.Request) {
	must(s.t, s.forget)
	want(s.t, "its output", r.Output, "")
	want(s.t, "its media are deleted", r.MediaDeletedAt.IsZero(), false)
	wantKeys(s.t, objects, "outputs/"+r.ID+"/")
	_, err := objects.Size(s.t.Context(), r.Video.Object)
	wantCode(s.t, err, failure.NotFound)
}

// checkDoomed checks the third request and returns the key of its output. It has one if the worker
// finished it before the cancel; then the client got an error.
func (s *story) checkDoomed(store lipsync.Store, objects lipsync.Objects) []string {
	r, err := store.Requests.ByReference(s.t.Context(), "a", "doomed")
	must(s.t, err)
	if failure.CodeOf(s.cancel) == failure.Finished {
		want(s.t, "doomed status", r.Status, lipsync.Completed)
		wantObject(s.t, objects, r.Output, "video of doomed")
		return outputs(r)
	}
	must(s.t, s.cancel)
	want(s.t, "doomed failure", r.Failure, canceledFailure())
	want(s.t, "doomed completed", s.renders[r.ID], 0)
	return nil
}

// outputs returns the keys of the request's output and of the poster, if there is one.
func outputs(r lipsync.Request) []string {
	if !r.Poster {
		return []string{r.Output}
	}
	return []string{r.Output, strings.TrimSuffix(r.Output, path.Ext(r.Output)) + ".jpg"}
}

// refuse sends a fourth request with a key that may make three. It leaves nothing.
func (s *story) refuse() {
	id := s.service.NewRequestID()
	video, err := s.service.StoreMedia(s.t.Context(), id, failure.Video, strings.NewReader("refused"))
	must(s.t, err)
	_, err = s.service.Generate(s.t.Context(), s.caller, requests.Params{ID: id, Video: video, Audios: []requests.Track{{Source: video}}})
	wantCode(s.t, err, failure.TokenLimit)
	_, err = s.service.Objects.Size(s.t.Context(), video.Object)
	wantCode(s.t, err, failure.NotFound)
	wantUsed(s.t, s.service.Store, "a", 3)
}

// wantSet checks that exactly the objects with the keys exist, in any order.
func wantSet(t *testing.T, objects lipsync.Objects, keys []string) {
	t.Helper()
	left := make(map[string]bool)
	for _, key := range keys {
		left[key] = true
	}
	must(t, objects.List(t.Context(), "", func(key string, _ time.Time) error {
		if !left[key] {
			t.Errorf("object %s is left, and no record names it", key)
		}
		delete(left, key)
		return nil
	}))
	for key := range left {
		t.Errorf("object %s is gone", key)
	}
}
