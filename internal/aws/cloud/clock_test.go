package cloud

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/lipsynctest"
)

// machineOff returns the service on a machine whose clock is wrong by d.
func machineOff(t *testing.T, e *awstest.Emulator, table string, d time.Duration) *service.Service {
	c := &clock{machine: func() time.Time { return time.Now().Add(d) }}
	cfg := e.Config()
	cfg.APIOptions = append(cfg.APIOptions, c.listen)
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	s := lipsynctest.NewService(t, base.Config{Engines: []string{"warp"}}, base.Ports{
		Store:   dynamodb.New(cfg, table).Store,
		Objects: objects,
		Hints:   noQueue{},
		Now:     c.now,
	})
	if _, err := s.Store.Keys.List(t.Context(), "account"); err != nil { // the answer to any call has the time
		t.Fatal(err)
	}
	if off := time.Until(c.now()).Abs(); off > tolerance+time.Second {
		t.Errorf("a clock that was wrong by %s still is by %s", d, off)
	}
	return s
}

type noQueue struct{}

func (noQueue) Send(context.Context, lipsync.Request) error { return nil }

// TestWrongClocks has machines of one deployment with clocks that are wrong by up to an hour. None
// may claim a request that another holds, and a released request must be claimable at once.
func TestWrongClocks(t *testing.T) {
	e := awstest.Shared(t)
	table := e.Table(t)
	var machines []*service.Service
	for _, d := range []time.Duration{-time.Hour, -15 * time.Minute, 0, 15 * time.Minute, time.Hour} {
		machines = append(machines, machineOff(t, e, table, d))
	}
	for i, s := range machines {
		id, err := s.Generate(t.Context(), lipsync.Caller{Account: "account"}, requests.Params{
			Video: requests.Source{URL: "https://example.com/video"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/audio"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Claim(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		for j, other := range machines {
			if stolen, err := other.Claim(t.Context(), id); failure.CodeOf(err) != failure.NotFound {
				t.Errorf("machine %d took what machine %d holds: %+v (%v)", j, i, stolen, err)
			}
		}
		if err := s.Release(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		next := machines[(i+1)%len(machines)]
		if r, err = next.Claim(t.Context(), ""); err != nil || r.Attempts != 1 {
			t.Fatalf("got %+v (%v), want the first attempt of the request", r, err)
		}
		if err := next.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}); err != nil {
			t.Error(err)
		}
	}
}

// TestCorrect checks that correct leaves a clock unchanged that is about right, and ignores a
// malformed time.
func TestCorrect(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := &clock{machine: func() time.Time { return now }}
	for _, step := range []struct {
		date string
		want time.Duration
	}{
		{"Sun, 22 Nov 2026 12:00:09 GMT", 0},
		{"Sun, 22 Nov 2026 13:00:00 GMT", time.Hour},
		{"", time.Hour},
		{"yesterday", time.Hour},
		{"Sun, 22 Nov 2026 11:45:00 GMT", -15 * time.Minute},
		{"Sun, 22 Nov 2026 11:59:55 GMT", 0},
	} {
		c.correct(step.date)
		if got := c.now().Sub(now); got != step.want {
			t.Errorf("told %q: got %s, want %s", step.date, got, step.want)
		}
	}
}

// TestDeploymentClock checks that the clients of a deployment correct its clock.
func TestDeploymentClock(t *testing.T) {
	h, err := New(aws.Config{}, func(string) string { return "x" }, t.Output(), Records)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Config.APIOptions) == 0 {
		t.Error("clients tell the clock nothing")
	}
}
