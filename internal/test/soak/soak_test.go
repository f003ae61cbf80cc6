package soak

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
)

// TestCheck checks a service without faults, and then with each fault that Check must find.
func TestCheck(t *testing.T) {
	l, service := newLoad(t)
	if err := l.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	completed := 1
	check := func() [7]int {
		t.Helper()
		r, err := l.Check(t.Context(), service, func(string) int { return completed })
		if err != nil {
			t.Fatal(err)
		}
		return [7]int{r.Completed, len(r.Lost), len(r.Twice), len(r.NoRecord), len(r.Uses), len(r.Replies), r.Spare}
	}
	if got, want := check(), [7]int{4}; got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
	caller, err := service.Authenticate(t.Context(), l.Tokens[0])
	must(t, err)
	source := requests.Source{URL: "https://example.com/a"}
	for _, c := range []struct {
		name  string
		spoil func() error
		want  [7]int
	}{
		{"a second end", func() error { completed = 2; return nil }, [7]int{4, 0, 4}},
		{"another end", func() error { completed = 1; l.jobs[0].end.FinishedAt = time.Now(); return nil }, [7]int{4, 0, 1}},
		{"no output", func() error { return service.Objects.Delete(t.Context(), output(l.jobs[1].id)) }, [7]int{4, 1, 1}},
		{"another output", func() error { return put(t, service, output(l.jobs[2].id), "cut off") }, [7]int{4, 2, 1}},
		{"no record", func() error { return put(t, service, output(uuid.NewString()), "x") }, [7]int{4, 2, 1, 1}},
		{"no use", func() error { return put(t, service, "inputs/"+l.jobs[3].id+"/video", "x") }, [7]int{4, 2, 1, 1, 0, 0, 1}},
		{"another request", func() error {
			_, err := service.Generate(t.Context(), caller, requests.Params{Video: source, Audios: []requests.Track{{Source: source}}})
			return err
		}, [7]int{4, 2, 1, 1, 1, 1, 1}},
		{"another reply", func() error {
			l.jobs[0].reply = "other"
			l.repeat(t.Context(), l.jobs[0])
			return nil
		}, [7]int{4, 2, 1, 1, 1, 2, 1}},
		{"not there", func() error { l.jobs[3].id = uuid.NewString(); return nil }, [7]int{3, 3, 1, 1, 1, 2, 0}},
	} {
		must(t, c.spoil())
		if got := check(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func output(id string) string { return "outputs/" + id + "/1.mp4" }

func put(t *testing.T, service *service.Service, key, content string) error {
	return service.Objects.Put(t.Context(), key, strings.NewReader(content), int64(len(content)))
}

// newLoad returns the load of a service whose worker only writes a word as output.
func newLoad(t *testing.T) (*Load, *service.Service) {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "db"))
	must(t, err)
	objects, err := disk.Open(filepath.Join(dir, "objects"), time.Now, slog.New(slog.DiscardHandler))
	must(t, err)
	service := lipsynctest.NewService(t, base.Config{Engines: []string{"warp"}, GenerateRate: 1000, ReadRate: 1000}, base.Ports{
		Store:   store.Store,
		Objects: objects,
		Hints:   deaf{},
	})
	token, _, err := service.CreateKey(t.Context(), "account", "soak", 0)
	must(t, err)
	api := httptest.NewServer(rest.New(service, rest.Options{Log: slog.New(slog.DiscardHandler)}))
	working, stop := context.WithCancel(t.Context())
	idle := make(chan struct{})
	go func() {
		defer close(idle)
		work(working, service)
	}()
	t.Cleanup(func() {
		stop()
		<-idle
		api.Close()
		_ = objects.Close()
		_ = store.Close()
	})
	return &Load{
		Base: func() string { return api.URL }, Tokens: []string{token}, Jobs: 4, Clients: 2,
		Video: []byte("video"), Audio: []byte("audio"), Poll: 10 * time.Millisecond, Seed: 1,
	}, service
}

// work completes all waiting requests.
func work(ctx context.Context, service *service.Service) {
	for pause(ctx, 5*time.Millisecond) {
		if r, err := service.Claim(ctx, ""); err == nil && r.Video.Object != "" {
			_ = service.Complete(ctx, r, strings.NewReader("output"), 6) // Check finds the error
		}
	}
}

// deaf is a queue that loses every message.
type deaf struct{}

func (deaf) Send(context.Context, lipsync.Request) error { return nil }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
