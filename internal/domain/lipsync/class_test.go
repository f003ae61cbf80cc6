package lipsync_test

import (
	"fmt"
	"testing"

	"lipsync/internal/domain/lipsync"
)

func TestClassOf(t *testing.T) {
	for name, c := range map[string]struct {
		request lipsync.Request
		sizes   []int64
		want    lipsync.Class
	}{
		"unknown sizes":              {lipsync.Request{Engine: "warp"}, []int64{0, 0}, lipsync.Small},
		"256 MiB in all":             {lipsync.Request{Engine: "warp"}, []int64{255 << 20, 1 << 20}, lipsync.Small},
		"one byte more":              {lipsync.Request{Engine: "warp"}, []int64{255 << 20, 1<<20 + 1}, lipsync.Large},
		"more in further tracks":     {lipsync.Request{Engine: "warp"}, []int64{100 << 20, 100 << 20, 57 << 20}, lipsync.Large},
		"a network":                  {lipsync.Request{Engine: "wav2lip"}, []int64{1, 1}, lipsync.Neural},
		"an estimate for a network":  {lipsync.Request{Kind: lipsync.ToEstimate, Engine: "musetalk"}, []int64{1, 1}, lipsync.Neural},
		"an estimate":                {lipsync.Request{Kind: lipsync.ToEstimate, Engine: "warp"}, []int64{1, 1}, lipsync.Small},
		"an analysis":                {lipsync.Request{Kind: lipsync.ToAnalyze}, []int64{256 << 20}, lipsync.Small},
		"an analysis of a large one": {lipsync.Request{Kind: lipsync.ToAnalyze}, []int64{257 << 20}, lipsync.Large},
	} {
		if got := lipsync.ClassOf(c.request, c.sizes...); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestDuties checks which classes the workers of each duty do, and that an unknown duty does none.
func TestDuties(t *testing.T) {
	for duty, want := range map[lipsync.Duty]string{
		lipsync.DoesAll: "true true true", lipsync.DoesSmall: "true false false", lipsync.DoesPlain: "true true false", lipsync.DoesNeural: "false false true",
		"plane": "false false false",
	} {
		if got := fmt.Sprint(duty.Does(lipsync.Small), duty.Does(lipsync.Large), duty.Does(lipsync.Neural)); got != want {
			t.Errorf("%q: got %s, want %s", duty, got, want)
		}
	}
}

func TestClassOfWork(t *testing.T) {
	const second = 2 * 25 * 1280 * 720 / 1000 // of 720p, in both passes
	for seconds, want := range map[int64]lipsync.Class{30: lipsync.Small, 480: lipsync.Small, 481: lipsync.Large, 3600: lipsync.Large} {
		if got := lipsync.ClassOfWork(seconds * second); got != want {
			t.Errorf("%d s: got %q, want %q", seconds, got, want)
		}
	}
}
