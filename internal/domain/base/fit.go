package base

import (
	"fmt"
	"reflect"

	"lipsync/internal/domain/lipsync"
)

// fit returns an error for each port that is missing though the Config or another port needs it, and for each pool that doesn't fit its workers in the
// Config.
func (p Ports) fit(c Config) (errs []error) {
	type part struct {
		name  string
		given bool
	}
	store, objects, hints := part{"Store", full(p.Store)}, part{"Objects", p.Objects != nil}, part{"Hints", p.Hints != nil}
	demand, body, pool := part{"Demand", p.Demand != nil}, part{"EventBody", p.EventBody != nil}, part{"Pool", p.Pool != nil}
	small, neural := part{"SmallPool", p.SmallPool != nil}, part{"NeuralPool", p.NeuralPool != nil}
	for _, of := range []struct {
		part
		needs []part
	}{
		{part{"GenerateRate", c.GenerateRate > 0}, []part{store, objects, hints}},
		{part{"ReadRate", c.ReadRate > 0}, []part{store}},
		{part{"Poster", p.Poster != nil}, []part{store, objects, body}},
		{part{"Bus", p.Bus != nil}, []part{objects, body}},
		{pool, []part{demand, {"Pooled", c.Pooled}}},
		{small, []part{pool}},
		{neural, []part{pool}},
	} {
		for _, need := range of.needs {
			if of.given && !need.given {
				errs = append(errs, fmt.Errorf("%s needs %s", of.name, need.name))
			}
		}
	}
	for _, of := range []struct {
		part
		workers string
		most    int
	}{{pool, "Workers", c.Workers}, {small, "SmallWorkers", c.SmallWorkers}, {neural, "NeuralWorkers", c.NeuralWorkers}} {
		switch {
		case !pool.given: // another process starts workers
		case of.given && of.most <= 0:
			errs = append(errs, fmt.Errorf("the service has a %s, but no workers: %s is %d", of.name, of.workers, of.most))
		case !of.given && of.most > 0:
			errs = append(errs, fmt.Errorf("%s is %d, but %s is missing", of.workers, of.most, of.name))
		}
	}
	return errs
}

// full reports whether a store has all its parts.
func full(s lipsync.Store) bool {
	for _, part := range reflect.ValueOf(s).Fields() {
		if part.IsNil() {
			return false
		}
	}
	return true
}
