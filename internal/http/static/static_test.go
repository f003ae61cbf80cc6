package static

import (
	"io/fs"
	"strings"
	"testing"
)

// TestScriptLines checks that no template literal of a script has several lines: withoutComments would
// remove one that begins with //.
func TestScriptLines(t *testing.T) {
	names, err := fs.Glob(embedded, "files/*.js")
	if err != nil || len(names) == 0 {
		t.Fatalf("got %d scripts, %v", len(names), err)
	}
	for _, name := range names {
		script, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(withoutComments(script)), "\n") {
			if strings.Count(line, "`")%2 != 0 {
				t.Errorf("%s, line %d without comments: a literal goes on in another line: %s", name, i+1, line)
			}
		}
	}
}
