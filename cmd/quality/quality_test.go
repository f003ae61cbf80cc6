package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestTrials(t *testing.T) {
	for _, test := range []struct {
		quick                                bool
		videos, speak, silences, dev, judges int
	}{
		{true, 2, 4, 2, 4, 0},
		{false, 14, 61, 11, 36, 25},
	} {
		all := trials(test.quick)
		names, first, silences, sets := map[string]bool{}, map[string]int{}, 0, map[string]int{}
		for _, t := range all {
			names[t.name()] = true
			if t.first {
				first[t.video.name]++
			}
			if t.silent() {
				silences++
			} else if t.video.set == t.speech.set {
				sets[t.video.set]++
			}
		}
		if len(names) != len(all) || len(all)-silences != test.speak || silences != test.silences || len(first) != test.videos ||
			sets[dev] != test.dev || sets[judge] != test.judges {
			t.Errorf("quick %t: got %d trials of %d names, %d silent, of %d videos, in sets %v, want %+v", test.quick, len(all), len(names), silences, len(first), sets, test)
		}
		for video, n := range first {
			if n != 1 {
				t.Errorf("quick %t: %s has %d first trials, want 1", test.quick, video, n)
			}
		}
	}
}

func TestMeasured(t *testing.T) {
	l := &layout{Python: filepath.Join(t.TempDir(), "python")}
	const scored = `{"opening": {"mean": 38.78, "sd": 14.29, "step": 0.71}, "envelope": {"at_0": 0.775, "peak": 0.775, "lag": 1, "far": 0.167},
		"articulation": {"at_0": 0.661, "peak": 0.661, "lag": -1, "far": 0.233}, "untouched": {"output_db": 45.25, "encoded_once_db": 45.0}}`
	const seen = `{"closed": {"n": 11, "under_15": 0.091}, "held_open": {"n": 0, "closed_throughout": null, "mean_high": null},
		"rounded": {"n": [5, 13], "ratio": 1.044, "d": NaN}, "teeth": {"n": 3, "under_35": 0.667}, "step": 0.69}`
	// Both must read lips by the attention mesh.
	interpreter := "#!/bin/sh\ncase \"$*\" in *visemes.score.mesh_at*) echo '" + scored + "' ;; *--refined*) echo '" + seen + "' ;; esac\n"
	if err := os.WriteFile(l.Python, []byte(interpreter), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := l.score(t.Context(), "output.mp4", "speech.wav")
	if err != nil {
		t.Fatal(err)
	}
	v, err := l.visemes(t.Context(), "output.mp4", "events.json")
	if err != nil {
		t.Fatal(err)
	}
	want := figures{
		"articulation": .661, "envelope": .775, "far": .233, "step": .69, "lag": -1, "untouched": .25, "closed": .091, "teeth": .667,
	}
	if got := measured(s, v); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSyncedShare(t *testing.T) {
	for said, want := range map[string]float64{
		"analyzing 100%\rThe output is a.mp4\nSynced 150 of 200 frames\nSync score: confidence 1.000, offset 0 frames\n": .75,
		"The output is a.mp4\nSync score: confidence 1.000, offset 0 frames\n":                                           1,
	} {
		if got := syncedShare(said); got != want {
			t.Errorf("%q: got %g, want %g", said, got, want)
		}
	}
}

// TestBlind looks for both orders of two programs, and compares the key with what
// is shown.
func TestBlind(t *testing.T) {
	l := &layout{Out: "out"}
	one := trials(true)[0]
	programs := []program{{"after", "a"}, {"before", "b"}}
	seen := map[string]bool{}
	for range 100 { // one order 100 times in a row: 1 in 2^99
		job, key := l.sheetJob(one, programs, []string{"run"})
		x, rows := key[one.name()+"-run"], job.Sheets[0].Rows
		seen[x] = true
		if got, want := rows[0].Path, one.output(l, program{name: x}); len(rows) != 2 || got != want || rows[1].Path == want || len(job.Outputs) != 2 {
			t.Fatalf("X is %s: got %v", x, rows)
		}
	}
	if len(seen) != 2 {
		t.Errorf("X was only %v", seen)
	}
	job, key := l.sheetJob(one, programs[:1], []string{"run"})
	if rows := job.Sheets[0].Rows; len(key) != 0 || len(rows) != 1 || rows[0].Path != one.output(l, programs[0]) {
		t.Errorf("one program: got %v, %v", rows, key)
	}
}

// TestNotShared checks the errors for missing clips and tools, and for missing recordings.
func TestNotShared(t *testing.T) {
	l := &layout{Shared: t.TempDir(), Python: os.Args[0], Recordings: t.TempDir()}
	if err := l.check(); !errors.Is(err, errNoShared) {
		t.Errorf("got %v, want %v", err, errNoShared)
	}
	for _, path := range []string{l.shared("", "woman"), l.shared("people", "child"), l.tool("syncscore"), l.tool("visemes"), l.tool("speak")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.check(); err != nil {
		t.Errorf("with all files: got %v", err)
	}
	l.Recordings = filepath.Join(l.Recordings, "none")
	if err := l.check(); err == nil {
		t.Error("without recordings: got no error")
	}
}

// TestNoSheets checks that a job without sheets names an empty list, which sheet.py can read.
func TestNoSheets(t *testing.T) {
	l := &layout{}
	job, _ := l.sheetJob(trial{video: videos[0], speech: speeches[0]}, []program{{name: "after"}}, nil)
	if encoded, err := json.Marshal(job.Sheets); err != nil || string(encoded) != "[]" {
		t.Errorf("got %s (%v), want []", encoded, err)
	}
}
