package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// row is a trial and its figures.
type row struct {
	Set     string  `json:"set"`
	Video   string  `json:"video"`
	Voice   string  `json:"voice"`
	Text    string  `json:"text"`
	Figures figures `json:"figures"`
}

// key returns the trial of a row: its video, voice and text.
func (r row) key() [3]string { return [3]string{r.Video, r.Voice, r.Text} }

// of tells whether a row is of a video, or of all videos of a set, by name.
func (r row) of(name string) bool { return r.Video == name || r.Set == name }

// readTable reads the rows of a table. There are none if there is no such file.
func readTable(path string) ([]row, error) {
	encoded, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := json.Unmarshal(encoded, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return rows, nil
}

// withMeans returns rows with the mean of each video after its rows, and the mean of
// each set after its videos. The voice of a mean is "mean".
func withMeans(rows []row) []row {
	var out []row
	for i, r := range rows {
		out = append(out, r)
		if i+1 == len(rows) || rows[i+1].Video != r.Video {
			out = append(out, row{Video: r.Video, Voice: "mean", Figures: mean(rows, r.Video)})
		}
		if i+1 == len(rows) || rows[i+1].Set != r.Set {
			out = append(out, row{Video: r.Set, Voice: "mean", Figures: mean(rows, r.Set)})
		}
	}
	return out
}

// mean returns the mean of each column over those rows of a video or a set that have it.
func mean(rows []row, name string) figures {
	f := figures{}
	for _, c := range columns {
		var values []float64
		for _, r := range rows {
			if v, ok := r.Figures[c.key]; ok && r.of(name) {
				values = append(values, v)
			}
		}
		if len(values) > 0 {
			f[c.key] = c.mean(values)
		}
	}
	return f
}

// common returns the rows of last whose trials are in rows.
func common(rows, last []row) []row {
	there := map[[3]string]bool{}
	for _, r := range rows {
		there[r.key()] = true
	}
	var out []row
	for _, r := range last {
		if there[r.key()] {
			out = append(out, r)
		}
	}
	return out
}

// write writes a table in Markdown: the figures of rows with their means, each with
// its change since the same trial of last. The change of a mean is shown only if last
// has all of its trials.
func write(w io.Writer, rows, last []row) error {
	before := map[[3]string]figures{}
	last = common(rows, last)
	for _, r := range withMeans(last) {
		if r.Voice != "mean" || count(last, r.Video) == count(rows, r.Video) {
			before[r.key()] = r.Figures
		}
	}
	head, marks := []string{"video", "voice", "text"}, []string{"", "", "mark"}
	for _, c := range columns {
		head, marks = append(head, c.title), append(marks, c.mark)
	}
	cells := [][]string{head, marks}
	for _, r := range withMeans(rows) {
		line := []string{r.Video, r.Voice, r.Text}
		for _, c := range columns {
			line = append(line, c.cell(r.Figures, before[r.key()]))
		}
		cells = append(cells, line)
	}
	return writeCells(w, cells)
}

// count returns the number of rows of a video or a set.
func count(rows []row, name string) int {
	n := 0
	for _, r := range rows {
		if r.of(name) {
			n++
		}
	}
	return n
}

// cell returns a figure with its change, such as "0.36 (+.12)".
func (c column) cell(now, before figures) string {
	value, ok := now[c.key]
	if !ok {
		return ""
	}
	text := strconv.FormatFloat(round(value, c.decimals), 'f', c.decimals, 64)
	old, ok := before[c.key]
	if !ok {
		return text
	}
	change := round(value, c.decimals) - round(old, c.decimals)
	if math.Abs(change) < math.Pow10(-c.decimals)/2 {
		return text
	}
	return text + " (" + strings.Replace(fmt.Sprintf("%+.*f", c.decimals, change), "0.", ".", 1) + ")"
}

// round rounds to a number of decimals, and makes 0 of −0.
func round(v float64, decimals int) float64 {
	scale := math.Pow10(decimals)
	return math.Round(v*scale)/scale + 0
}

// writeCells writes lines of cells as a table in Markdown. The first line is its head.
func writeCells(w io.Writer, lines [][]string) error {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, line := range lines {
		for i, cell := range line {
			b.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		b.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				b.WriteString("|" + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const introduction = `# How well the lips follow

Made by ` + "`make quality`" + `: see docs/testing.md. In parentheses is the change against the table before.

`

// page writes a table below an introduction.
func page(w io.Writer, rows, last []row) error {
	if _, err := io.WriteString(w, introduction); err != nil {
		return err
	}
	return write(w, rows, last)
}
