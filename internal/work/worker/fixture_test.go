package worker_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/render"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/work/worker"
)

// fixture is a service with a key, and a worker for it.
type fixture struct {
	*worker.Worker
	Service *service.Service
	caller  lipsync.Caller
}

// setup returns a fixture with a renderer that tells nothing. In a synctest bubble it uses the bubble's clock.
func setup(t *testing.T, f func(context.Context, render.Job) error) *fixture {
	t.Helper()
	return setupTelling(t, untold(f))
}

// untold returns a renderer that tells nothing.
func untold(f func(context.Context, render.Job) error) renderFunc {
	return func(ctx context.Context, j render.Job, _ render.Observer) (render.Result, error) {
		return render.Result{}, f(ctx, j)
	}
}

// setupTelling is setup with a renderer that tells its observer and the caller about the job.
func setupTelling(t *testing.T, f renderFunc) *fixture {
	t.Helper()
	// t.Context would end before the clean-up, which still needs the store.
	ctx, dir := context.Background(), t.TempDir()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	store, err := sqlite.Open(ctx, filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := disk.Open(filepath.Join(dir, "objects"), time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(objects.Close(), store.Close()); err != nil {
			t.Error(err)
		}
	})
	s := lipsynctest.NewService(t, base.Config{GenerateRate: 1000, ReadRate: 1000, Engines: []string{"warp"}}, base.Ports{
		Store:   store.Store,
		Objects: objects,
		Hints:   noQueue{},
	})
	_, key, err := s.CreateKey(ctx, "account", "name", 0)
	if err != nil {
		t.Fatal(err)
	}
	scratch := filepath.Join(dir, "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Config{Work: s.Work, Renderer: f, Fetcher: web{}, Sender: new(sender), Scratch: scratch, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{
		Worker: w, Service: s, caller: lipsync.Caller{Account: key.Account, KeyID: key.ID, KeyName: key.Name},
	}
}

// Do reports whether there was a request to do.
func (f *fixture) Do(ctx context.Context, id string) bool {
	found, _ := f.Worker.Do(ctx, id)
	return found
}

type noQueue struct{}

func (noQueue) Send(context.Context, lipsync.Request) error { return nil }

// renderFunc is a Renderer.
type renderFunc func(context.Context, render.Job, render.Observer) (render.Result, error)

func (f renderFunc) Render(ctx context.Context, j render.Job, o render.Observer) (render.Result, error) {
	return f(ctx, j, o)
}

// Estimate tells of an output with as many frames as both files have bytes.
func (f renderFunc) Estimate(_ context.Context, j render.Job) (e order.Estimate, err error) {
	for _, path := range []string{j.Video, j.Audio} {
		content, readErr := os.ReadFile(path)
		e.Frames, err = e.Frames+len(content), errors.Join(err, readErr)
	}
	return e, err
}

// FindPeople tells of a video of 2 s with as many frames as its file has bytes.
func (f renderFunc) FindPeople(_ context.Context, path string, _ render.Observer) (a order.Analysis, stated time.Duration, err error) {
	video, err := os.ReadFile(path)
	if string(video) == "unusable" {
		err = failure.Failure{Code: failure.NoPicture}.Because(nil)
	}
	a.Video.Frames = len(video)
	return a, 2 * time.Second, err
}

// concatenate is a renderer whose output is both inputs, one after the other.
func concatenate(_ context.Context, j render.Job) error {
	video, err := os.ReadFile(j.Video)
	if err != nil {
		return err
	}
	audio, err := os.ReadFile(j.Audio)
	if err != nil {
		return err
	}
	return os.WriteFile(j.Output, append(video, audio...), 0o600)
}

// web is a Fetcher. The file at a URL contains the URL's path; some paths give errors.
type web struct{}

func (web) Fetch(_ context.Context, url string, w io.Writer, limit int64) error {
	path := strings.TrimPrefix(url, "http://web/")
	switch {
	case path == "missing":
		return &failure.Error{Code: failure.NotFound, Message: "URL is not accessible"}
	case path == "private":
		return &failure.Error{Code: failure.PrivateHost, Message: "URL is in a private network"}
	case path == "nohost":
		return &failure.Error{Code: failure.NoHost, Message: "host does not exist"}
	case path == "slow":
		return &failure.Error{Code: failure.TooSlow, Message: "file comes too slowly"}
	case path == "unreachable":
		return &failure.Error{Code: failure.Unavailable, Message: "server is not reachable"}
	case path == "huge", int64(len(path)) > limit:
		return &failure.Error{Code: failure.TooLarge, Message: "file is too large"}
	}
	_, err := io.WriteString(w, path)
	return err
}

// request makes a request with inputs at paths of the web.
func (f *fixture) request(t *testing.T, video, audio string) string {
	t.Helper()
	id, err := f.Service.Generate(context.Background(), f.caller, requests.Params{
		Video:  requests.Source{URL: "http://web/" + video},
		Audios: []requests.Track{{Source: requests.Source{URL: "http://web/" + audio}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// get returns a request as the service has it.
func (f *fixture) get(t *testing.T, id string) lipsync.Request {
	t.Helper()
	r, _, err := f.Service.Request(context.Background(), f.caller, id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// want checks the state of a request, and that the worker left no file.
func (f *fixture) want(t *testing.T, id string, status lipsync.Status, sentence string, attempts int) {
	t.Helper()
	r := f.get(t, id)
	if r.Status != status || r.Failure.Sentence() != sentence || r.Attempts != attempts {
		t.Errorf("got %s %q after %d attempts, want %s %q after %d", r.Status, r.Failure.Sentence(), r.Attempts, status, sentence, attempts)
	}
	left, err := os.ReadDir(f.Config().Scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("scratch holds %v (error %v), want nothing", left, err)
	}
}

// output returns the bytes of a request's output.
func (f *fixture) output(t *testing.T, id string) string {
	t.Helper()
	output, _, err := f.Service.Objects.Open(context.Background(), f.get(t, id).Output)
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	b, err := io.ReadAll(output)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func readAll(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}
