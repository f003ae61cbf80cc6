package check

import (
	"os"
	"strings"
	"testing"
)

// Rows returns the rows of the tables in a file of Markdown, without their heads, by their first cell.
func Rows(t testing.TB, path string) map[string][]string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, inTable := make(map[string][]string), false
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case strings.HasPrefix(cells[0], "---"):
			inTable = true
		case inTable:
			rows[cells[0]] = cells[1:]
		}
	}
	return rows
}
