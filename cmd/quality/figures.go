package main

import "math"

// figures are the measured values of a trial, by the keys of columns. Those that could not be measured are missing.
type figures map[string]float64

// column is one kind of figure in the table.
type column struct {
	key, title string
	mark       string // value that the engine has to reach
	decimals   int
	mean       func([]float64) float64
}

var columns = []column{
	{"closed", "closed", "≥ .97", 2, average},
	{"held_open", "held", "≤ .02", 2, average},
	{"height", "height", "", 2, average},
	{"rounded_d", "d'", "≥ 2.5", 2, average},
	{"teeth", "teeth", "≥ .80", 2, average},
	{"step", "step", "≤ .73", 2, average},
	{"hold", "hold", "", 2, farthest},
	{"articulation", "artic.", "≥ .77", 2, average},
	{"envelope", "env.", "", 2, average},
	{"far", "far", "< .25", 2, average},
	{"wrong", "wrong", "< .20", 2, average},
	{"lag", "lag", "±1", 0, farthest},
	{"untouched", "kept", "≥ -.5", 1, average},
	{"silence", "silence", "≤ .30", 2, average},
	{"synced", "synced", "≥ .99", 3, average},
}

func average(values []float64) float64 {
	sum := 0.
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// farthest returns the value farthest from 0.
func farthest(values []float64) float64 {
	most := 0.
	for _, v := range values {
		if math.Abs(v) > math.Abs(most) {
			most = v
		}
	}
	return most
}

// score is the output of syncscore.
type score struct {
	Opening struct{ SD float64 }
	// Curves of correlation over the lag, in frames of 40 ms.
	Envelope, Articulation struct {
		At0 float64 `json:"at_0"`
		Far float64
		Lag int
	}
	Untouched *struct {
		Output float64 `json:"output_db"`
		Once   float64 `json:"encoded_once_db"`
	}
}

// visemes is the output of visemes.
type visemes struct {
	Closed struct {
		Under15 *float64 `json:"under_15"`
	}
	HeldOpen struct {
		Closed *float64 `json:"closed_throughout"`
		High   *float64 `json:"mean_high"`
	} `json:"held_open"`
	Rounded struct{ D *float64 }
	Teeth   struct {
		Under35 *float64 `json:"under_35"`
	}
	Step *float64
}

// measured returns the figures of a trial with speech.
func measured(s score, v visemes) figures {
	f := figures{
		"articulation": s.Articulation.At0, "envelope": s.Envelope.At0,
		"far": max(s.Articulation.Far, s.Envelope.Far), "lag": float64(s.Articulation.Lag),
	}
	if s.Untouched != nil {
		f["untouched"] = s.Untouched.Output - s.Untouched.Once
	}
	for key, value := range map[string]*float64{
		"closed": v.Closed.Under15, "held_open": v.HeldOpen.Closed, "height": v.HeldOpen.High, "rounded_d": v.Rounded.D, "teeth": v.Teeth.Under35, "step": v.Step,
	} {
		if value != nil {
			f[key] = *value
		}
	}
	return f
}
