package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
)

// Passages that sheets can show: frames around each m, b and p; each open vowel; each f and v;
// each rounded sound; 48 consecutive frames; and the longest hold.
const passages = "closed,vowels,teeth,rounded,run,hold"

// sheetJob is the input of sheet.py: the sheets of one trial.
type sheetJob struct {
	Tools     string   `json:"tools"`     // folder of the measuring tools
	Title     string   `json:"title"`     // of each sheet
	Source    string   `json:"source"`    // video
	Landmarks string   `json:"landmarks"` // file that keeps the landmarks of the source
	Events    string   `json:"events"`    // of the speech
	Outputs   []string `json:"outputs"`   // videos in which the longest hold is measured
	Sheets    []sheet  `json:"sheets"`
}

// sheet shows a passage. Its pages are named PREFIX-1.png and so on.
type sheet struct {
	Passage string     `json:"passage"`
	Prefix  string     `json:"prefix"`
	Rows    []sheetRow `json:"rows"` // below the source
}

// sheetRow is a video that a sheet shows, under a name.
type sheetRow struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// drawSheets draws the sheets of a trial, with the output of each program. It returns
// the longest hold of each output in seconds, and the key of sheetJob.
func (l *layout) drawSheets(ctx context.Context, t trial, programs []program, passages []string) (holds []float64, key map[string]string, err error) {
	job, key := l.sheetJob(t, programs, passages)
	encoded, err := json.Marshal(job)
	if err != nil {
		return nil, nil, err
	}
	printed, err := l.script(ctx, sheetScript, string(encoded))
	if err != nil {
		return nil, nil, err
	}
	return holds, key, json.Unmarshal(printed, &holds)
}

// sheetJob describes the sheets of a trial. Two programs are shown as X and Y, in
// random order for each passage. Then key tells, by names of sheets, the program
// that X is.
func (l *layout) sheetJob(t trial, programs []program, passages []string) (job sheetJob, key map[string]string) {
	job = sheetJob{
		Tools: l.tool(""), Title: t.name(), Source: l.video(t.video), Landmarks: l.file("media", t.video.name, ".npy"), Events: t.speech.events(l),
		Sheets: []sheet{}, // not null, which sheet.py cannot list
	}
	for _, p := range programs {
		job.Outputs = append(job.Outputs, t.output(l, p))
	}
	key = map[string]string{}
	for _, passage := range passages {
		name := fileName(t.name(), passage)
		s := sheet{Passage: passage, Prefix: l.file("sheets", name, ""), Rows: []sheetRow{{"output", t.output(l, programs[0])}}}
		if len(programs) == 2 {
			x := rand.IntN(2)
			key[name] = programs[x].name
			s.Rows = []sheetRow{{"X", t.output(l, programs[x])}, {"Y", t.output(l, programs[1-x])}}
		}
		job.Sheets = append(job.Sheets, s)
	}
	return job, key
}
