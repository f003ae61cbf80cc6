package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/http/fetch"
	"lipsync/internal/render"
)

// outage is a web that can't be reached for a while.
type outage struct {
	web
	from, to time.Time
}

func (o outage) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	if now := time.Now(); now.Before(o.from) || !now.Before(o.to) {
		return o.web.Fetch(ctx, url, w, limit)
	}
	return &failure.Error{Code: failure.Unavailable, Message: "server is not reachable", Err: syscall.ENETUNREACH}
}

// TestOutage does a queue of requests by URL without a network for a while. All must complete soon
// after, and none may lose an attempt.
func TestOutage(t *testing.T) {
	for _, length := range []time.Duration{30 * time.Second, 30 * time.Minute, 5 * time.Hour} {
		t.Run(length.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n, workers = 10, 2
				f := setup(t, func(ctx context.Context, j render.Job) error {
					time.Sleep(10 * time.Second)
					return concatenate(ctx, j)
				})
				ends := time.Now().Add(20*time.Second + length)
				f.Config().Fetcher = outage{from: time.Now().Add(20 * time.Second), to: ends}
				var ids []string
				for i := range n {
					ids = append(ids, f.request(t, fmt.Sprint("video ", i), " audio"))
				}
				// The longest pause, and the time for the remaining work.
				ctx, stop := context.WithDeadline(context.Background(), ends.Add(min(length, 10*time.Minute)+2*time.Minute))
				defer stop()
				f.Run(ctx, workers, nil)
				for i, id := range ids {
					f.want(t, id, lipsync.Completed, "", 1)
					if r := f.get(t, id); (i < 2*workers) != (r.Delays == 0) {
						t.Errorf("request %d was postponed %d times", i, r.Delays)
					}
				}
			})
		})
	}
}

// dripping is a server that sends a byte from time to time, and resets the connection just before
// the time limit of a fetch.
type dripping struct{}

func (dripping) Fetch(context.Context, string, io.Writer, int64) error {
	time.Sleep(19 * time.Minute)
	return &failure.Error{Code: failure.Unavailable, Message: "server is not reachable", Err: syscall.ECONNRESET}
}

// TestDrippingServer has a server that keeps a worker busy at each attempt. The request must fail
// after an hour of that, and before hours have passed.
func TestDrippingServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		f.Config().Fetcher = dripping{}
		id, began := f.request(t, "video", "audio"), time.Now()
		held := time.Duration(0)
		for !f.get(t, id).Status.Final() && time.Since(began) < 24*time.Hour {
			started := time.Now()
			f.Do(t.Context(), "")
			held += time.Since(started)
			time.Sleep(time.Minute)
		}
		f.want(t, id, lipsync.Failed, "video URL is not accessible", 1)
		if held > 80*time.Minute || f.get(t, id).Failure.Code != failure.MediaTooSlow {
			t.Errorf("held a worker for %s, and then got %q", held, f.get(t, id).Failure.Code)
		}
	})
}

// trickling is a Fetcher whose files arrive in 19 minutes each.
type trickling struct{}

func (trickling) Fetch(ctx context.Context, url string, w io.Writer, limit int64) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(19 * time.Minute):
		return web{}.Fetch(ctx, url, w, limit)
	}
}

// TestTricklingServer has requests with files that arrive slowly, each in time. They keep a worker as long as one file for each four of them.
func TestTricklingServer(t *testing.T) {
	for n, want := range map[int]time.Duration{1: 19 * time.Minute, 5: 38 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			f := setup(t, makeNothing)
			f.Config().Fetcher = trickling{}
			id, err := f.Service.Generate(t.Context(), f.caller, tracks(t, "video", "audio", n))
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			f.Do(t.Context(), id)
			f.want(t, id, lipsync.Completed, "", 1)
			if took := time.Since(began).Round(time.Minute); took != want {
				t.Errorf("%d speech tracks: held for %v, want %v", n, took, want)
			}
		})
	}
}

// segments returns n segments, each with a speech track of its own.
func segments(t *testing.T, n int) (all order.Segments) {
	var text []string
	for i := range n {
		text = append(text, fmt.Sprintf(`{"start": %d, "end": %d, "audio": {"ref": "%d"}}`, i, i+1, i))
	}
	if err := json.Unmarshal([]byte("["+strings.Join(text, ",")+"]"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestUnshared_long cuts off the network of a process for 20 s, with a queue of requests by URL. It
// uses the real client and a network namespace, if the host allows one.
func TestUnshared_long(t *testing.T) {
	const inside = "WORKER_TEST_UNSHARED"
	if os.Getenv(inside) != "" {
		testCutOff(t)
		return
	}
	t.Parallel()
	child := exec.Command(os.Args[0], "-test.run=^TestUnshared_long$", "-test.v")
	child.Env = append(os.Environ(), inside+"=1")
	child.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := child.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("this host allows no namespaces (%v): TestOutage has the same with a simulated network", err)
	}
	if err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "outage") {
			t.Log(line)
		}
	}
}

// testCutOff runs in a namespace whose only network is the loopback, which is down.
func testCutOff(t *testing.T) {
	const n, length = 12, 20 * time.Second
	if err := setLoopback(true); err != nil {
		t.Skipf("no outage here: the host allows no change of a namespace: %v", err)
	}
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.TrimPrefix(r.URL.Path, "/"))
	}))
	defer files.Close()
	f := setup(t, func(ctx context.Context, j render.Job) error {
		time.Sleep(200 * time.Millisecond)
		return concatenate(ctx, j)
	})
	f.Config().Fetcher = fetch.New(fetch.Options{AllowPrivate: true, Total: time.Minute, Stall: 10 * time.Second})
	var ids []string
	for i := range n {
		id, err := f.Service.Generate(t.Context(), f.caller, requests.Params{
			Video: requests.Source{URL: fmt.Sprintf("%s/video%d", files.URL, i)}, Audios: []requests.Track{{Source: requests.Source{URL: files.URL + "/audio"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	done := make(chan struct{})
	go func() { defer close(done); f.Run(ctx, 1, nil) }()
	time.Sleep(time.Second)
	if err := setLoopback(false); err != nil {
		t.Fatal(err)
	}
	time.Sleep(length)
	before := f.count(t, ids, lipsync.Completed)
	if err := setLoopback(true); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for f.count(t, ids, lipsync.Completed) < n && ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("%d of %d completed before the outage ended, all completed after %.0f s more", before, n, time.Since(began).Seconds())
	stop()
	<-done
	if before == 0 || before == n {
		t.Errorf("%d of %d requests completed before the outage ended, want some of them", before, n)
	}
	for _, id := range ids {
		f.want(t, id, lipsync.Completed, "", 1)
	}
}

// count returns how many of the requests have the status.
func (f *fixture) count(t *testing.T, ids []string, status lipsync.Status) (n int) {
	for _, id := range ids {
		if f.get(t, id).Status == status {
			n++
		}
	}
	return n
}

// setLoopback brings the loopback of this network namespace up or down.
func setLoopback(up bool) error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if up {
		lo.SetUint16(unix.IFF_UP)
	}
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

// hanging is a store that for a while does not answer changes of requests.
type hanging struct {
	lipsync.Leases
	until time.Time
}

func (s *hanging) Change(ctx context.Context, id string, t lipsync.Transition) (lipsync.Request, error) {
	if time.Now().Before(s.until) {
		<-ctx.Done()
		return lipsync.Request{}, ctx.Err()
	}
	return s.Leases.Change(ctx, id, t)
}

// TestHangingStore delays the last write of a request for longer than it may take. That must not
// cost an attempt.
func TestHangingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, concatenate)
		id := f.request(t, "video", "audio")
		f.Service.Store.Leases = &hanging{f.Service.Store.Leases, time.Now().Add(30 * time.Second)}
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
		defer stop()
		f.Run(ctx, 1, nil)
		f.want(t, id, lipsync.Completed, "", 1)
	})
}
