package main

import (
	"encoding/json"
	"fmt"
	"lipsync/internal/test/sharedtest"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScore_long syncs videos of people, who rest or speak, with sentences, and measures how well their lips
// follow the phonemes and the loudness. One sentence more or less suits a way to hear or to paint: the
// figures of one vary by .1, so the marks are for the mean of several. The clips and the programs that
// measure are in the folder that LIPSYNC_SHARED names, see docs/testing.md.
func TestScore_long(t *testing.T) {
	tools, python := sharedtest.Path(t, "tools"), tool(t, ".cache/venv/bin/python")
	sentences := []string{
		"Please put both maps back on top of the box, and call my mother before the party starts.",
		"Half of the farm was under water by morning, so Bob moved the animals up to the barn.",
		"We have a problem: every apple from that market is bad, and nobody warned the shop.",
	}
	clips := []string{"woman", "talking_man"}
	dir := t.TempDir()
	measure := []string{"testdata/follow.py", tools}
	for i, text := range sentences {
		name := filepath.Join(dir, fmt.Sprint(i))
		speech, events := name+".wav", name+".json"
		runPython(t, python, filepath.Join(tools, "speak"), text, speech, events)
		for _, clip := range clips {
			out := name + clip + ".mp4"
			if _, said, status := command(t, "sync", sharedtest.Path(t, "media", clip+".mp4"), speech, "-o", out); status != ok {
				t.Fatalf("%s: status %d: %s", clip, status, said)
			}
			measure = append(measure, out, speech, events)
		}
	}
	var scores []struct{ Articulation, Envelope curve }
	if err := json.Unmarshal(runPython(t, python, measure...), &scores); err != nil {
		t.Fatal(err)
	}
	if got, want := len(scores), len(sentences)*len(clips); got != want {
		t.Fatalf("got %d scores, want %d", got, want)
	}
	for i, clip := range clips {
		var articulation, envelope curves
		for j := i; j < len(scores); j += len(clips) {
			articulation, envelope = append(articulation, scores[j].Articulation), append(envelope, scores[j].Envelope)
		}
		articulation.want(t, clip+", articulation", .75)
		envelope.want(t, clip+", envelope", .64)
	}
}

// curve is the correlation of mouth and speech, as a function of the lag between them, in frames of
// 40 ms.
type curve struct {
	At0 float64 `json:"at_0"`
	Lag int     // of the peak
}

// curves has one curve for each sentence.
type curves []curve

// want checks the mean at lag 0, and the lag of each peak.
func (c curves) want(t *testing.T, name string, least float64) {
	t.Helper()
	mean := 0.
	for i, sentence := range c {
		mean += sentence.At0 / float64(len(c))
		if sentence.Lag < -1 || sentence.Lag > 1 {
			t.Errorf("%s, sentence %d: the peak is at a lag of %d frames, want 1 at most", name, i, sentence.Lag)
		}
	}
	t.Logf("%s: %.3f, mean of %+v", name, mean, c)
	if mean < least {
		t.Errorf("%s: got %.3f at lag 0, want at least %.2f", name, mean, least)
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
