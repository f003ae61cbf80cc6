package site

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxQuery   = 100 // bytes of a query that are read
	maxWords   = 8   // of it that are sought
	maxResults = 20
	excerpt    = 180 // bytes of a section that a result shows
)

// section is the text below a heading.
type section struct {
	page        *page
	id, heading string // "" for the beginning of a page
	text        string
}

// result is a section that was found.
type result struct {
	Address, Page, Heading string
	Words                  []word // the beginning of what was found
	weight                 int
}

// word is a part of a text that has a word of the query, or is beside one.
type word struct {
	Text  string
	Found bool
}

// search returns the sections in which words begin with all words of the query, the best first: those with the words in their heading, then
// those with them often.
func (b *book) search(query string) []result {
	words := strings.FieldsFunc(strings.ToLower(query[:min(len(query), maxQuery)]), separates)
	if len(words) == 0 {
		return nil
	}
	words = words[:min(len(words), maxWords)]
	var all []result
	for _, s := range b.sections {
		if r, ok := s.match(words); ok {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(x, y result) int { return cmp.Compare(y.weight, x.weight) })
	return all[:min(len(all), maxResults)]
}

// separates reports whether a character is no part of a word.
func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// match returns the section as a result, if it has all words.
func (s section) match(words []string) (result, bool) {
	r := result{Address: address(s.page.path), Page: s.page.Title, Heading: s.heading}
	if s.id != "" {
		r.Address += "#" + s.id
	}
	first := len(s.text)
	for _, w := range words {
		times, at := begins(s.text, w)
		headed, _ := begins(s.heading, w)
		titled, _ := begins(s.page.Title, w)
		if times+headed+titled == 0 {
			return result{}, false
		}
		r.weight += min(times, 5) + 20*min(headed, 1) + 10*min(titled, 1)
		if s.heading == "" {
			r.weight += 20 * min(titled, 1) // the page's title is its heading
		}
		if times > 0 {
			first = min(first, at)
		}
	}
	r.Words = show(s.text, first, words)
	return r, true
}

// begins returns how many words of the text begin with w, which is in lower case, and where the first does.
func begins(text, w string) (times, first int) {
	for at := range starts(text) {
		if hasPrefix(text[at:], w) {
			if times == 0 {
				first = at
			}
			times++
		}
	}
	return times, first
}

// starts yields the places at which words of the text begin.
func starts(text string) func(func(int) bool) {
	return func(yield func(int) bool) {
		inside := false
		for i, r := range text {
			apart := separates(r)
			if !apart && !inside && !yield(i) {
				return
			}
			inside = !apart
		}
	}
}

// hasPrefix reports whether the text begins with w, which is in lower case.
func hasPrefix(text, w string) bool {
	for _, r := range w {
		got, size := utf8.DecodeRuneInString(text)
		if size == 0 || unicode.ToLower(got) != r {
			return false
		}
		text = text[size:]
	}
	return true
}

// show returns the text around the place of the first word that was found, in which those that begin with a word of the query are found.
func show(text string, first int, words []string) (shown []word) {
	if first == len(text) {
		first = 0 // only the heading has the words
	}
	from := max(0, first-excerpt/3)
	if from > 0 {
		if space := strings.IndexByte(text[from:first], ' '); space >= 0 {
			from += space + 1
		} else {
			from = first
		}
	}
	rest := text[from:]
	if len(rest) > excerpt {
		if space := strings.LastIndexByte(rest[:excerpt], ' '); space > 0 {
			rest = rest[:space] + " …"
		}
	}
	done := 0
	for at := range starts(rest) {
		for _, w := range words {
			if end := at + len(w); at >= done && hasPrefix(rest[at:], w) && end <= len(rest) && utf8.ValidString(rest[at:end]) {
				shown = append(shown, word{rest[done:at], false}, word{rest[at:end], true})
				done = end
			}
		}
	}
	return append(shown, word{rest[done:], false})
}
