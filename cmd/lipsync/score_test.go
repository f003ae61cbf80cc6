package main

import (
	"encoding/json"
	"lipsync/internal/test/sharedtest"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScore_long syncs videos of people, who rest or speak, with a speech, and measures how well their lips
// follow its phonemes. The clips and the program that measures are in the folder that LIPSYNC_SHARED
// names, see docs/testing.md.
func TestScore_long(t *testing.T) {
	measure, speak := sharedtest.Path(t, "tools", "syncscore"), sharedtest.Path(t, "tools", "speak")
	python := tool(t, ".cache/venv/bin/python")
	const text = "Good morning. My name is Barbara, and I am happy to show you a map of the harbour before we leave."
	dir := t.TempDir()
	speech, events := filepath.Join(dir, "speech.wav"), filepath.Join(dir, "events.json")
	runPython(t, python, speak, text, speech, events)

	for _, clip := range []string{"woman", "talking_man"} {
		video, out := sharedtest.Path(t, "media", clip+".mp4"), filepath.Join(dir, clip+".mp4")
		if _, said, status := command(t, "sync", video, speech, "-o", out); status != ok {
			t.Fatalf("%s: status %d: %s", clip, status, said)
		}
		var score struct{ Articulation, Envelope curve }
		measured := runPython(t, python, measure, out, speech, "--events", events, "--json")
		t.Logf("%s: %s", clip, measured)
		if err := json.Unmarshal(measured, &score); err != nil {
			t.Fatal(err)
		}
		score.Articulation.want(t, clip+", articulation", .55)
		score.Envelope.want(t, clip+", envelope", .45)
	}
}

// curve is the correlation of mouth and speech, as a function of the lag between them, in frames of
// 40 ms.
type curve struct {
	At0  float64 `json:"at_0"`
	Lag  int     `json:"lag"` // of the peak
	Far  float64 `json:"far"` // the largest at a lag of 6 frames or more
	Peak float64 `json:"peak"`
}

func (c curve) want(t *testing.T, name string, least float64) {
	t.Helper()
	if c.At0 < least || c.Lag < -1 || c.Lag > 1 {
		t.Errorf("%s: got %+v, want at least %.2f at lag 0 and a peak within 1 frame of it", name, c, least)
	}
}

func runPython(t *testing.T, python string, args ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), python, args...)
	c.Stderr = t.Output()
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", args[0], err)
	}
	return out
}
