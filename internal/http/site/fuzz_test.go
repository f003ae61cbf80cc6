package site

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSearch checks that a search ends with few results, whose texts are parts of the pages.
func FuzzSearch(f *testing.F) {
	b := read(f)
	for _, query := range []string{"webhook", "a", "é", "\xff", "K", "ﬁ 𐐀", strings.Repeat("a ", 100)} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		found := b.search(query)
		if len(found) > maxResults {
			t.Errorf("got %d results", len(found))
		}
		for _, r := range found {
			var text strings.Builder
			for _, w := range r.Words {
				text.WriteString(w.Text)
			}
			if s := text.String(); !utf8.ValidString(s) || len(s) > excerpt+len(" …") {
				t.Errorf("%q: got %q", query, s)
			}
		}
	})
}
