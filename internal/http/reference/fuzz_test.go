package reference

import (
	"strings"
	"testing"
)

// FuzzProse checks that prose marks no text twice, and removes only the marks.
func FuzzProse(f *testing.F) {
	for _, text := range []string{"a `b` **c**", "`", "**", "a\n\n\n\nb", "***x***", "`**`"} {
		f.Add(text)
	}
	plain := strings.NewReplacer("`", "", "*", "", " ", "", "\n", "", "\t", "")
	f.Fuzz(func(t *testing.T, text string) {
		var shown strings.Builder
		for _, p := range Prose(text) {
			for _, s := range p {
				shown.WriteString(s.Text)
			}
		}
		got, want := plain.Replace(shown.String()), plain.Replace(strings.Join(strings.Fields(text), ""))
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
