package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func rowOf(video, text string, closed, lag float64) row {
	return row{dev, video, "flite", text, figures{"closed": closed, "lag": lag}}
}

func TestMeans(t *testing.T) {
	rows := withMeans([]row{
		rowOf("woman", "a", .2, -1), rowOf("woman", "b", .6, 0), {dev, "woman", "", "silence", figures{"silence": .3}},
		rowOf("man", "a", 1, 1), {judge, "child", "flite", "a", figures{"closed": .1}},
	})
	for _, test := range []struct {
		at    int
		video string
		want  figures
	}{
		{3, "woman", figures{"closed": .4, "lag": -1, "silence": .3}},
		{5, "man", figures{"closed": 1, "lag": 1}},
		{6, dev, figures{"closed": .6, "lag": -1, "silence": .3}},
		{8, "child", figures{"closed": .1}},
		{9, judge, figures{"closed": .1}},
	} {
		got := rows[test.at]
		for key, v := range got.Figures {
			got.Figures[key] = round(v, 6)
		}
		if got.Video != test.video || got.Voice != "mean" || !maps.Equal(got.Figures, test.want) {
			t.Errorf("row %d: got %+v, want the mean of %s, %v", test.at, got, test.video, test.want)
		}
	}
}

func TestCell(t *testing.T) {
	closed, lag := columns[0], columns[slices.IndexFunc(columns, func(c column) bool { return c.key == "lag" })]
	for _, test := range []struct {
		column      column
		now, before figures
		want        string
	}{
		{closed, figures{"closed": .364}, nil, "0.36"},
		{closed, figures{"closed": .364}, figures{"closed": .242}, "0.36 (+.12)"},
		{closed, figures{"closed": .2}, figures{"closed": .941}, "0.20 (-.74)"},
		{closed, figures{"closed": .364}, figures{"closed": .362}, "0.36"},
		{closed, figures{"closed": -.001}, figures{"lag": 1}, "0.00"},
		{closed, nil, figures{"closed": .2}, ""},
		{lag, figures{"lag": -1}, figures{"lag": 0}, "-1 (-1)"},
	} {
		if got := test.column.cell(test.now, test.before); got != test.want {
			t.Errorf("%v after %v: got %q, want %q", test.now, test.before, got, test.want)
		}
	}
}

// TestChange compares with a table of other trials: a mean is compared only where the
// last table has the same trials.
func TestChange(t *testing.T) {
	now := []row{rowOf("woman", "a", .5, 0), rowOf("man", "a", .5, 0), rowOf("man", "b", .7, 0)}
	last := []row{rowOf("woman", "a", .25, 0), rowOf("woman", "c", .9, 0), rowOf("man", "a", .75, 0)}
	var b strings.Builder
	if err := write(&b, now, last); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, line := range lines[3:] {
		cells := strings.Split(line, "|")
		got[strings.Join(strings.Fields(strings.Join(cells[1:4], " ")), " ")] = strings.TrimSpace(cells[4])
		if len(line) != len(lines[0]) && len([]rune(line)) != len([]rune(lines[0])) {
			t.Errorf("%q is not as wide as %q", line, lines[0])
		}
	}
	want := map[string]string{
		"woman flite a": "0.50 (+.25)", "woman mean": "0.50 (+.25)",
		"man flite a": "0.50 (-.25)", "man flite b": "0.70", "man mean": "0.60", "dev mean": "0.57",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quality.json")
	if rows, err := readTable(path); rows != nil || err != nil {
		t.Errorf("without a file: got %v, %v, want nothing", rows, err)
	}
	want := rowOf("woman", "a", .5, -1)
	if err := writeJSON(path, []row{want}); err != nil {
		t.Fatal(err)
	}
	rows, err := readTable(path)
	if err != nil || len(rows) != 1 || rows[0].key() != want.key() || !maps.Equal(rows[0].Figures, want.Figures) {
		t.Errorf("got %v (%v), want %v", rows, err, want)
	}
}
