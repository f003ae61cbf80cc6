package worker_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/render"
	"lipsync/internal/test/optiontest"
	"lipsync/internal/work/worker"
)

func TestDo(t *testing.T) {
	f := setup(t, concatenate)
	id := f.request(t, "video", "audio")
	if !f.Do(t.Context(), id) {
		t.Error("got nothing to do, want the request")
	}
	f.want(t, id, lipsync.Completed, "", 1)
	if got := f.output(t, id); got != "videoaudio" {
		t.Errorf("output: got %q, want %q", got, "videoaudio")
	}
	for _, again := range []string{id, "", uuid.NewString()} {
		if f.Do(t.Context(), again) {
			t.Errorf("%q: got something to do, want nothing", again)
		}
	}
}

// TestWishes checks that the render job has the request's options.
func TestWishes(t *testing.T) {
	var got render.Job
	f := setup(t, func(ctx context.Context, j render.Job) error {
		got = j
		return concatenate(ctx, j)
	})
	f.Service.Engines = []string{"warp", "wav2lip"}
	all := []requests.Params{{}, {Order: order.Order{LargestFace: true}}, {Order: order.Order{Engine: "wav2lip"}}}
	for _, j := range optiontest.Texts() {
		wishes := j.Wishes(t)
		p := requests.Params{Order: order.Order{Options: wishes, Output: wishes.Output}, Segments: wishes.Segments}
		if len(j.Audios) > 1 {
			p.Audios = []requests.Track{{Ref: "ana", Source: requests.Source{URL: "http://web/more"}}}
		}
		all = append(all, p)
	}
	for _, n := range all {
		n.Video = requests.Source{URL: "http://web/video"}
		n.Audios = append([]requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}, n.Audios...)
		if _, err := f.Service.Generate(t.Context(), f.caller, n); err != nil {
			t.Fatal(err)
		}
		f.Do(t.Context(), "")
		if want := cmp.Or(n.Engine, "warp"); got.LargestFace != n.LargestFace || got.Engine != want {
			t.Errorf("got largest face %t, engine %q, want %t, %q", got.LargestFace, got.Engine, n.LargestFace, want)
		}
		wanted := n.Options
		wanted.Output, wanted.Segments = n.Output, n.Segments
		if !reflect.DeepEqual(got.Options, wanted) || !reflect.DeepEqual(got.Segments, n.Segments) {
			t.Errorf("got %+v and segments %+v, want %+v and %+v", got.Options, got.Segments, wanted, n.Segments)
		}
	}
}

// TestAnalysis analyses a video, and one that can't be analysed.
func TestAnalysis(t *testing.T) {
	for video, c := range map[string]struct {
		frames  int
		length  time.Duration
		failure string
	}{"video": {5, 2 * time.Second, ""}, "missing": {0, 0, "video URL is not accessible"}, "unusable": {0, 2 * time.Second, "video has no picture"}} {
		f := setup(t, nil)
		id, err := f.Service.Analyze(t.Context(), f.caller, requests.Source{URL: "http://web/" + video})
		if err != nil {
			t.Fatal(err)
		}
		if !f.Do(t.Context(), "") {
			t.Error("the analysis doesn't wait for a worker")
		}
		r, a, err := f.Service.Analysis(t.Context(), f.caller, id)
		if err != nil || r.Failure.Sentence() != c.failure || (a != nil) != (c.failure == "") || a != nil && a.Video.Frames != c.frames || r.VideoLength != c.length {
			t.Errorf("%s: got %+v, %+v, %v, want %+v", video, r, a, err, c)
		}
	}
}

// TestEstimate makes estimates. Media that can't be fetched are problems, also if they might be fetched later.
func TestEstimate(t *testing.T) {
	const inaccessible = "URL is not accessible"
	for _, c := range []struct {
		video, audio, problems string
		frames                 int
	}{
		{"video", "sound", "", 10},
		{"missing", "sound", "video " + inaccessible, 0},
		{"nohost", "unreachable", "video " + inaccessible + ", audio " + inaccessible, 0},
		{"slow", "huge", "video " + inaccessible + ", audio is larger than 500 MiB", 0},
		{"missing", "9ms/missing", "video " + inaccessible + ", audio " + inaccessible, 0},
	} {
		f := setup(t, nil)
		f.Config().Fetcher = fetchFunc(delayed)
		id, err := f.Service.Estimate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{URL: "http://web/" + c.video}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/" + c.audio}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Estimate(t.Context(), lipsync.Request{ID: "unknown"})
		f.Estimate(t.Context(), lipsync.Request{ID: id})
		e, err := f.Service.Estimated(t.Context(), f.caller, id)
		if err != nil || e.Status != lipsync.Completed || e.Estimate == nil {
			t.Fatalf("%s, %s: got %+v (%v), want it completed", c.video, c.audio, e, err)
		}
		var problems []string
		for _, p := range e.Problems {
			problems = append(problems, p.Message)
		}
		if got := strings.Join(problems, ", "); got != c.problems || e.Estimate.Frames != c.frames {
			t.Errorf("%s, %s: got the problems %q and %d frames, want %q and %d", c.video, c.audio, got, e.Estimate.Frames, c.problems, c.frames)
		}
	}
}

// TestBoxes fetches a file of boxes for the renderer, and refuses one that can't be fetched.
func TestBoxes(t *testing.T) {
	for _, c := range []struct{ boxes, failure string }{
		{"boxes.json", ""}, {"missing", "boxes file URL is not accessible"}, {"huge", "boxes file is larger than 32 MiB"},
	} {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if got, err := os.ReadFile(j.Boxes); string(got) != c.boxes {
				t.Errorf("got boxes %q, %v, want %q", got, err, c.boxes)
			}
			return concatenate(ctx, j)
		})
		n := requests.Params{Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}}
		n.Options.Face = order.Face{By: order.FaceInBoxes, Boxes: "http://web/" + c.boxes}
		id, err := f.Service.Generate(t.Context(), f.caller, n)
		if err != nil {
			t.Fatal(err)
		}
		f.Do(t.Context(), id)
		f.want(t, id, map[bool]lipsync.Status{true: lipsync.Completed, false: lipsync.Failed}[c.failure == ""], c.failure, 1)
	}
}

func TestDoStoredMedia(t *testing.T) {
	f := setup(t, concatenate)
	n := requests.Params{ID: f.Service.NewRequestID(), Audios: make([]requests.Track, 1)}
	for kind, source := range map[failure.MediaKind]*requests.Source{failure.Video: &n.Video, failure.Audio: &n.Audios[0].Source} {
		var err error
		if *source, err = f.Service.StoreMedia(t.Context(), n.ID, kind, strings.NewReader("stored "+string(kind)+".")); err != nil {
			t.Fatal(err)
		}
	}
	id, err := f.Service.Generate(t.Context(), f.caller, n)
	if err != nil {
		t.Fatal(err)
	}
	f.Do(t.Context(), "")
	f.want(t, id, lipsync.Completed, "", 1)
	if got, want := f.output(t, id), "stored video.stored audio."; got != want {
		t.Errorf("output: got %q, want %q", got, want)
	}
}

// TestDoSegments renders segments with two speech tracks, of which one came with a form.
func TestDoSegments(t *testing.T) {
	var got []string
	var segments order.Segments
	f := setup(t, func(ctx context.Context, j render.Job) error {
		for _, ref := range []string{"", "ana"} {
			text, err := os.ReadFile(j.Audios[ref])
			got = append(got, string(text), fmt.Sprint(err))
		}
		segments, j.Audio = j.Segments, j.Audios["ana"]
		return concatenate(ctx, j)
	})
	n := requests.Params{ID: f.Service.NewRequestID(), Video: requests.Source{URL: "http://web/video"}}
	n.Segments = order.Segments{{End: time.Second}, {Start: time.Second, End: 2500 * time.Millisecond, Ref: "ana"}}
	ana, err := f.Service.StoreMedia(t.Context(), n.ID, failure.Audio, strings.NewReader("of ana"))
	if err != nil {
		t.Fatal(err)
	}
	track, err := f.Service.StoreTrack(t.Context(), n.ID, 1, strings.NewReader("other"))
	if err != nil {
		t.Fatal(err)
	}
	n.Audios = []requests.Track{{Ref: "ana", Source: ana}, {Source: track}}
	id, err := f.Service.Generate(t.Context(), f.caller, n)
	if err != nil {
		t.Fatal(err)
	}
	f.Do(t.Context(), id)
	f.want(t, id, lipsync.Completed, "", 1)
	if !slices.Equal(got, []string{"other", "<nil>", "of ana", "<nil>"}) || len(segments) != 2 || segments[1].Ref != "ana" {
		t.Errorf("got the audios %q and the segments %+v", got, segments)
	}
	for _, key := range []string{ana.Object, track.Object} {
		if _, _, err := f.Service.Objects.Open(t.Context(), key); failure.CodeOf(err) != failure.NotFound {
			t.Errorf("the input %s is still there (%v)", key, err)
		}
	}
}

func TestFailures(t *testing.T) {
	invalid := failure.Failure{Code: failure.NoFace}.Because(errors.New("detail"))
	tests := []struct {
		video, audio string
		render       error
		want         string
	}{
		{"missing", "audio", nil, "video URL is not accessible"},
		{"video", "missing", nil, "audio URL is not accessible"},
		{"private", "audio", nil, "video URL is not accessible"},
		{"huge", "audio", nil, "video is larger than 5 GiB"},
		{"video", "huge", nil, "audio is larger than 500 MiB"},
		{"video", "audio", invalid, "no face found in the video"},
		{"video", "audio", fmt.Errorf("render: %w", invalid), "no face found in the video"},
	}
	for _, test := range tests {
		f := setup(t, func(context.Context, render.Job) error { return test.render })
		id := f.request(t, test.video, test.audio)
		f.Do(t.Context(), id)
		f.want(t, id, lipsync.Failed, test.want, 1)
	}
}

// TestPostpone ends attempts with faults for which the media are not to blame. None may count, and
// the worker must go on.
func TestPostpone(t *testing.T) {
	for name, c := range map[string]struct {
		video, audio string
		render       error
	}{
		"video unreachable": {"unreachable", "audio", nil},
		"audio unreachable": {"video", "unreachable", nil},
		"no host":           {"nohost", "audio", nil},
		"too slow":          {"video", "slow", nil},
		"no open files":     {"video", "audio", fmt.Errorf("start ffmpeg: %w", syscall.EMFILE)},
		"storage":           {"video", "audio", &net.OpError{Op: "dial", Err: syscall.ENETUNREACH}},
	} {
		f := setup(t, func(context.Context, render.Job) error { return c.render })
		id := f.request(t, c.video, c.audio)
		if found, err := f.Worker.Do(t.Context(), id); !found || err != nil {
			t.Errorf("%s: got %t and %v, want true and no error", name, found, err)
		}
		f.want(t, id, lipsync.Processing, "", 0)
		if r := f.get(t, id); r.Delays != 1 || !r.LeaseUntil.After(time.Now()) {
			t.Errorf("%s: got %d delays and %s, want 1 and a pause", name, r.Delays, r.LeaseUntil)
		}
	}
}

func TestLimits(t *testing.T) {
	f := setup(t, concatenate)
	f.Service.MaxVideo = 5
	for video, want := range map[string]lipsync.Status{"video": lipsync.Completed, "videos": lipsync.Failed} {
		id := f.request(t, video, "audio")
		f.Do(t.Context(), id)
		if got := f.get(t, id); got.Status != want || want == lipsync.Failed && got.Failure.Sentence() != "video is larger than 5 bytes" {
			t.Errorf("%s: got %s %q, want %s", video, got.Status, got.Failure.Code, want)
		}
	}
}

// TestAttempts makes every attempt fail for a reason that is not the client's fault.
func TestAttempts(t *testing.T) {
	for name, f := range map[string]func(context.Context, render.Job) error{
		"error":     func(context.Context, render.Job) error { return errors.New("disk full") },
		"panic":     func(context.Context, render.Job) error { panic("index out of range") },
		"no output": func(context.Context, render.Job) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := setup(t, f)
				id := f.request(t, "video", "audio")
				for attempt := range lipsync.MaxAttempts {
					if attempt > 0 {
						f.want(t, id, lipsync.Processing, "", attempt)
						time.Sleep(lipsync.Lease + time.Second)
					}
					f.Do(t.Context(), "")
				}
				f.want(t, id, lipsync.Failed, "processing failed", lipsync.MaxAttempts)
			})
		})
	}
}

// TestSlow has a render that never ends. Once the length of the media is known, a request that
// takes too long for it must fail at the first attempt. Before, it must be tried again.
func TestSlow(t *testing.T) {
	for _, c := range []struct {
		length  time.Duration // 0 if it never becomes known
		bound   time.Duration
		status  lipsync.Status
		failure string
	}{
		{0, 80 * time.Minute, lipsync.Processing, ""},
		{2 * time.Second, 15*time.Minute + 48*time.Second, lipsync.Failed, "media take too long to process"},
		{time.Hour, 24*time.Hour + 15*time.Minute, lipsync.Failed, "media take too long to process"},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
				if c.length > 0 {
					o.Measured(c.length, time.Second, 0)
				}
				<-ctx.Done()
				return made, fmt.Errorf("decode: %w", ctx.Err()) // an error that only follows from the cancellation
			})
			var log strings.Builder
			f.Config().Log = slog.New(slog.NewTextHandler(&log, nil))
			id, started := f.request(t, "video", "audio"), time.Now()
			requests := f.Service.Store.Requests
			f.Service.Store.Requests = &still{Requests: requests}
			f.Do(t.Context(), id)
			f.Service.Store.Requests = requests
			if got := time.Since(started); got != c.bound {
				t.Errorf("%s of media: cut off after %s, want %s", c.length, got, c.bound)
			}
			f.want(t, id, c.status, c.failure, 1)
			if said := log.String(); !strings.Contains(said, cmp.Or(c.failure, "not done in time")+": decode: context canceled") {
				t.Errorf("got the log %s, want the reason and the step", said)
			}
		})
	}
}

// TestFairWorker has one worker and 30 long jobs of one account. A job of another account must
// start as soon as the first of them is done.
func TestFairWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done []string
		f := setup(t, func(ctx context.Context, j render.Job) error {
			time.Sleep(10 * time.Minute)
			video, err := os.ReadFile(j.Video)
			done = append(done, string(video))
			return errors.Join(err, os.WriteFile(j.Output, nil, 0o600))
		})
		other := *f
		_, key, err := f.Service.CreateKey(context.Background(), "other", "name", 0)
		if err != nil {
			t.Fatal(err)
		}
		other.caller = lipsync.Caller{Account: "other", KeyID: key.ID}
		for range 30 {
			f.request(t, "long", "audio")
		}
		ctx, stop := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { f.Run(ctx, 1, nil) })
		time.Sleep(time.Minute)
		other.request(t, "quick", "audio")
		time.Sleep(25 * time.Minute)
		stop()
		running.Wait()
		if got, want := fmt.Sprint(done[:2]), "[long quick]"; got != want {
			t.Errorf("got %s done first, want %s", got, want)
		}
	})
}

// still is a store that reads a request only once and then repeats the answer, since the worker
// reads it many times in a simulated day.
type still struct {
	lipsync.Requests
	r lipsync.Request
}

func (s *still) ByID(ctx context.Context, id string) (_ lipsync.Request, err error) {
	if s.r.ID != id {
		s.r, err = s.Requests.ByID(ctx, id)
	}
	return s.r, err
}

// TestCrashes claims a request as often as it has attempts, and lets each lease end as if the worker
// had died.
func TestCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		id := f.request(t, "video", "audio")
		for range lipsync.MaxAttempts {
			if _, err := f.Service.Claim(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			time.Sleep(lipsync.Lease + time.Second)
		}
		if f.Do(t.Context(), id) {
			t.Error("got a fourth attempt")
		}
		if r := f.get(t, id); r.Status != lipsync.Failed || r.Failure.Code != failure.InternalFault {
			t.Errorf("got %s %q, want failed", r.Status, r.Failure.Code)
		}
	})
}

// TestLongWork renders for many leases. No other worker may get the request.
func TestLongWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			time.Sleep(20 * lipsync.Lease)
			return errors.Join(ctx.Err(), concatenate(ctx, j))
		})
		id := f.request(t, "video", "audio")
		done := make(chan struct{})
		go func() { defer close(done); f.Do(context.Background(), id) }()
		for range 19 {
			time.Sleep(lipsync.Lease)
			if _, err := f.Service.Claim(t.Context(), id); failure.CodeOf(err) != failure.NotFound {
				t.Errorf("a second claim: got %v, want NotFound", err)
			}
		}
		<-done
		f.want(t, id, lipsync.Completed, "", 1)
	})
}

// TestLostLease takes a request away from the worker while it renders.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, j render.Job) error {
			if err := concatenate(ctx, j); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		})
		id := f.request(t, "video", "audio")
		done := make(chan struct{})
		go func() { defer close(done); f.Do(context.Background(), id) }()
		time.Sleep(time.Second)
		if err := f.Service.Release(t.Context(), f.get(t, id)); err != nil {
			t.Fatal(err)
		}
		other, err := f.Service.Claim(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		<-done
		f.want(t, id, lipsync.Processing, "", 1)
		if got := f.get(t, id).Lease; got != other.Lease {
			t.Errorf("lease: got %q, want the other worker's %q", got, other.Lease)
		}
	})
}

// TestSilentStore has a store that stops answering. The attempt must end with an error before
// another worker may claim the request.
func TestSilentStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, _ render.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		id := f.request(t, "video", "audio")
		leases := f.Service.Store.Leases
		f.Service.Store.Leases = silent{leases}
		started := time.Now()
		found, err := f.Worker.Do(context.Background(), id)
		if !found || err == nil || time.Since(started) > lipsync.Lease {
			t.Errorf("got %t and error %v after %s, want true and an error within the lease", found, err, time.Since(started))
		}
		f.Service.Store.Leases = leases
		f.want(t, id, lipsync.Processing, "", 1)
	})
}

// silent is a store that can't renew leases.
type silent struct{ lipsync.Leases }

func (silent) Renew(context.Context, string, string, time.Time) error {
	return errors.New("no answer")
}

// TestEnd has a process that is killed before the attempt is done. The attempt must count.
func TestEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, func(ctx context.Context, _ render.Job) error {
			<-ctx.Done()
			return ctx.Err()
		})
		id := f.request(t, "video", "audio")
		f.Config().End = time.Now().Add(time.Hour)
		if _, err := f.Worker.Do(context.Background(), id); err == nil {
			t.Error("got no error")
		}
		if now := time.Now(); !now.Equal(f.Config().End) {
			t.Errorf("ended at %s, want %s", now, f.Config().End)
		}
		f.want(t, id, lipsync.Processing, "", 1)
	})
}

// TestLateClaim tells the worker to stop while it claims. It must release the request.
func TestLateClaim(t *testing.T) {
	f := setup(t, concatenate)
	id := f.request(t, "video", "audio")
	ctx, stop := context.WithCancel(context.Background())
	f.Service.Store.Leases = stopping{f.Service.Store.Leases, stop}
	if found, err := f.Worker.Do(ctx, id); found || err != nil {
		t.Errorf("got %t and error %v, want false and none", found, err)
	}
	f.want(t, id, lipsync.Processing, "", 0)
	if lease := f.get(t, id).Lease; lease != "" {
		t.Errorf("the request is held by %s", lease)
	}
}

// stopping is a store that tells its worker to stop at each claim.
type stopping struct {
	lipsync.Leases
	stop func()
}

func (s stopping) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration, from lipsync.Choice) (lipsync.Request, error) {
	r, err := s.Leases.Claim(ctx, id, token, now, lease, from)
	s.stop()
	return r, err
}

// TestShutdown stops Run while it renders. The render may also fail then, since its child process
// was stopped too. Such a failure must not count.
func TestShutdown(t *testing.T) {
	for name, said := range map[string]error{
		"interrupted": context.Canceled,
		"misled":      failure.Failure{Code: failure.NoPicture}.Because(nil),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := setup(t, func(ctx context.Context, _ render.Job) error {
					<-ctx.Done()
					return said
				})
				id := f.request(t, "video", "audio")
				ctx, stop := context.WithTimeout(context.Background(), time.Second)
				defer stop()
				f.Run(ctx, 2, nil)
				f.want(t, id, lipsync.Processing, "", 0)
				if _, err := f.Service.Claim(t.Context(), id); err != nil {
					t.Errorf("a claim right after: got %v, want the request", err)
				}
			})
		})
	}
}

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, workers = 20, 3
		var mu sync.Mutex
		var now, most int
		count := func(change int) {
			mu.Lock()
			defer mu.Unlock()
			now += change
			most = max(most, now)
		}
		f := setup(t, func(ctx context.Context, j render.Job) error {
			count(1)
			defer count(-1)
			time.Sleep(time.Minute)
			return concatenate(ctx, j)
		})
		var ids []string
		for i := range n {
			ids = append(ids, f.request(t, fmt.Sprint("video ", i), " audio"))
		}
		ctx, stop := context.WithTimeout(context.Background(), (n/workers+1)*time.Minute+time.Second)
		defer stop()
		f.Run(ctx, workers, nil)
		for i, id := range ids {
			f.want(t, id, lipsync.Completed, "", 1)
			if got, want := f.output(t, id), fmt.Sprint("video ", i, " audio"); got != want {
				t.Errorf("output: got %q, want %q", got, want)
			}
		}
		if most != workers {
			t.Errorf("at once: got %d, want %d", most, workers)
		}
	})
}

// TestWake makes a request while the worker is idle. It must start when the worker is woken, or
// after worker.Poll.
func TestWake(t *testing.T) {
	for _, woken := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, concatenate)
			wake := make(chan struct{}, 1)
			ctx, stop := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() { defer close(done); f.Run(ctx, 1, wake) }()
			time.Sleep(worker.Poll / 2)
			id := f.request(t, "video", "audio")
			if woken {
				wake <- struct{}{}
			} else {
				time.Sleep(worker.Poll)
			}
			synctest.Wait()
			f.want(t, id, lipsync.Completed, "", 1)
			stop()
			<-done
		})
	}
}

// TestMeasured has a renderer that returns the lengths of the media, whether it fails or succeeds.
func TestMeasured(t *testing.T) {
	for _, fails := range []bool{false, true} {
		f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
			made.VideoLength, made.AudioLength = 1234567890*time.Nanosecond, 3*time.Second
			if fails {
				return made, failure.Failure{Code: failure.NoFace}.Because(nil)
			}
			return made, concatenate(ctx, j)
		})
		id := f.request(t, "video", "audio")
		f.Do(t.Context(), id)
		r, err := f.Service.Store.Requests.ByID(t.Context(), id)
		if err != nil || !r.Status.Final() || r.VideoLength != 1234567*time.Microsecond || r.AudioLength != 3*time.Second {
			t.Errorf("fails %t: got %s of %v and %v (%v), want 1.234567 s and 3 s", fails, r.Status, r.VideoLength, r.AudioLength, err)
		}
	}
}

// TestRendered passes the options of a request to the renderer, and stores what the renderer reports of
// the output.
func TestRendered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := order.Options{SyncMode: order.Loop, Silence: order.KeepSilent}
		frames, sync := order.Frames{Total: 50, Synced: 49}, order.SyncScore{Known: true, Confidence: .998, Offset: 1}
		f := setupTelling(t, func(ctx context.Context, j render.Job, o render.Observer) (made render.Result, err error) {
			time.Sleep(3 * time.Second)
			if !reflect.DeepEqual(j.Options, options) {
				t.Errorf("got the options %+v, want %+v", j.Options, options)
			}
			return render.Result{Length: 2 * time.Second, Frames: frames, Warnings: order.ConvertedHDR, Sync: sync}, concatenate(ctx, j)
		})
		var got []time.Duration
		f.Config().Rendered = func(length, took time.Duration) { got = append(got, length, took) }
		id, err := f.Service.Generate(context.Background(), f.caller, requests.Params{
			Video: requests.Source{URL: "http://web/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "http://web/audio"}}}, Order: order.Order{Options: options},
		})
		if err != nil {
			t.Fatal(err)
		}
		f.Do(context.Background(), id)
		if r := f.get(t, id); !reflect.DeepEqual(r.Options, options) || r.Frames != frames || r.Warnings != order.ConvertedHDR || !reflect.DeepEqual(r.Sync, sync) {
			t.Errorf("got %+v, want its options, %+v, %+v and a warning", r, frames, sync)
		}
		if want := []time.Duration{2 * time.Second, 3 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}
