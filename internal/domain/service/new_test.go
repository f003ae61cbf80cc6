package service_test

import (
	"errors"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/test/check"
	"lipsync/internal/test/lipsynctest"
)

// TestNew checks which configurations and ports are refused, and which defaults a service has.
func TestNew(t *testing.T) {
	body := func(lipsync.Delivery, lipsync.Subject) ([]byte, error) { return nil, errors.New("no body") }
	partial, objects := ports(t, lipsynctest.NewClock())
	partial.Calls = nil
	p, one, all := &pool{}, base.Config{Pooled: true, Workers: 1}, base.Config{Pooled: true, Workers: 1, SmallWorkers: 2, NeuralWorkers: 3}
	for name, c := range map[string]struct {
		config base.Config
		ports  base.Ports
		fails  string
	}{
		"nothing":              {},
		"a negative rate":      {config: base.Config{ReadRate: -1}, fails: "ReadRate is -1"},
		"two faults":           {config: base.Config{MaxVideo: -1, Limits: lipsync.Limits{Keys: -2}}, fails: "Limits.Keys is -2\nMaxVideo is -1"},
		"an engine, no name":   {config: base.Config{Engines: []string{"warp", ""}}, fails: "an engine has no name"},
		"calls, no ports":      {config: base.Config{GenerateRate: 1, ReadRate: 1}, fails: "GenerateRate needs Store\nGenerateRate needs Objects\nGenerateRate needs Hints\nReadRate needs Store"},
		"a part of a store":    {config: base.Config{ReadRate: 1}, ports: base.Ports{Store: partial}, fails: "ReadRate needs Store"},
		"webhooks, no ports":   {ports: base.Ports{Poster: &receiver{}}, fails: "Poster needs Store\nPoster needs Objects\nPoster needs EventBody"},
		"a bus, no body":       {ports: base.Ports{Bus: &bus{}}, fails: "Bus needs Objects\nBus needs EventBody"},
		"a bus and its needs":  {ports: base.Ports{Bus: &bus{}, EventBody: body, Objects: objects}},
		"a pool, no needs":     {config: base.Config{Workers: 1}, ports: base.Ports{Pool: p}, fails: "Pool needs Demand\nPool needs Pooled"},
		"a pool and its needs": {config: one, ports: base.Ports{Pool: p, Demand: p}},
		"all pools":            {config: all, ports: base.Ports{Pool: p, SmallPool: p, NeuralPool: p, Demand: p}},
		"no pool, workers":     {config: all},
		"no small pool":        {config: all, ports: base.Ports{Pool: p, NeuralPool: p, Demand: p}, fails: "SmallWorkers is 2, but SmallPool is missing"},
		"no neural pool":       {config: all, ports: base.Ports{Pool: p, SmallPool: p, Demand: p}, fails: "NeuralWorkers is 3, but NeuralPool is missing"},
		"no workers":           {config: base.Config{Pooled: true}, ports: base.Ports{Pool: p, Demand: p}, fails: "the service has a Pool, but no workers: Workers is 0"},
		"only runners":         {config: one, ports: base.Ports{Pool: p, SmallPool: p, NeuralPool: p, Demand: p}, fails: "the service has a SmallPool, but no workers: SmallWorkers is 0\nthe service has a NeuralPool, but no workers: NeuralWorkers is 0"},
		"no runners":           {config: all, ports: base.Ports{SmallPool: p, NeuralPool: p}, fails: "SmallPool needs Pool\nNeuralPool needs Pool"},
	} {
		_, err := service.New(c.config, c.ports)
		if (err == nil) != (c.fails == "") || err != nil && err.Error() != c.fails {
			t.Errorf("%s: got %v, want %q", name, err, c.fails)
		}
	}
	s, err := service.New(base.Config{Limits: lipsync.Limits{Open: 7}}, base.Ports{})
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
