package service_test

import (
	"errors"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
)

// TestNew checks which configurations and ports are refused, and which defaults a service has.
func TestNew(t *testing.T) {
	body := func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return nil, errors.New("no body") }
	p := &pool{}
	for name, c := range map[string]struct {
		config lipsync.Config
		ports  lipsync.Ports
		fails  string
	}{
		"nothing":              {},
		"a negative rate":      {config: lipsync.Config{ReadRate: -1}, fails: "ReadRate is -1"},
		"two faults":           {config: lipsync.Config{MaxVideo: -1, Limits: lipsync.Limits{Keys: -2}}, fails: "Limits.Keys is -2\nMaxVideo is -1"},
		"an engine, no name":   {config: lipsync.Config{Engines: []string{"warp", ""}}, fails: "an engine has no name"},
		"a bus, no body":       {ports: lipsync.Ports{Bus: &bus{}}, fails: "events have no body"},
		"a bus and a body":     {ports: lipsync.Ports{Bus: &bus{}, EventBody: body}},
		"a pool, no demand":    {config: lipsync.Config{Pooled: true}, ports: lipsync.Ports{Pool: p}, fails: "a Pool needs Demand and Pooled"},
		"a pool, not used":     {ports: lipsync.Ports{Pool: p, Demand: p}, fails: "a Pool needs Demand and Pooled"},
		"a pool and its needs": {config: lipsync.Config{Pooled: true}, ports: lipsync.Ports{Pool: p, Demand: p}},
	} {
		_, err := service.New(c.config, c.ports)
		if (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: got %v, want %q", name, err, c.fails)
		}
	}
	s, err := service.New(lipsync.Config{Limits: lipsync.Limits{Open: 7}}, lipsync.Ports{})
	check.Must(t, err)
	limits := lipsync.DefaultLimits()
	limits.Open = 7
	check.Want(t, "limits", s.Limits, limits)
	check.Want(t, "largest video", s.MaxSize(failure.Video), 5<<30)
	check.Want(t, "largest audio", s.MaxSize(failure.Audio), 500<<20)
	check.Want(t, "leases can be compared", s.Settled(), true)
	check.Must(t, s.Room(1<<62))
	if since := time.Since(s.Now()); since < 0 || since > time.Minute {
		t.Errorf("the clock is %s late", since)
	}
}
