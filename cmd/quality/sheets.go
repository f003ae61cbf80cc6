package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
)

// Passages that sheets can show: frames around each m, b and p; each f and v; each
// rounded sound; and 48 consecutive frames.
const passages = "closed,teeth,rounded,run"

// sheetJob is what sheet.py draws: the sheets of one take.
type sheetJob struct {
	Tools     string  `json:"tools"`     // folder of the measuring tools
	Title     string  `json:"title"`     // of each sheet
	Source    string  `json:"source"`    // video
	Landmarks string  `json:"landmarks"` // file where those of the source are kept
	Events    string  `json:"events"`    // of the speech
	Sheets    []sheet `json:"sheets"`
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

// drawSheets draws the sheets of a take, of what each program made of it. Two
// programs are shown as X and Y, in random order for each passage; it returns by
// prefixes of sheets which program X is.
func (l *lab) drawSheets(ctx context.Context, t take, programs []program, passages []string) (key map[string]string, err error) {
	job := sheetJob{
		Tools: l.tool(""), Title: t.name(), Source: l.video(t.video), Landmarks: l.file("media", t.video.name, ".npy"), Events: t.speech.events(l),
	}
	key = map[string]string{}
	for _, passage := range passages {
		prefix := fileName(t.name(), passage)
		s := sheet{Passage: passage, Prefix: l.file("sheets", prefix, "")}
		for _, p := range programs {
			s.Rows = append(s.Rows, sheetRow{"output", t.output(l, p)})
		}
		if len(programs) == 2 {
			x := rand.IntN(2)
			key[prefix] = programs[x].name
			s.Rows = []sheetRow{{"X", s.Rows[x].Path}, {"Y", s.Rows[1-x].Path}}
		}
		job.Sheets = append(job.Sheets, s)
	}
	encoded, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	_, err = l.script(ctx, sheetScript, string(encoded))
	return key, err
}
