package reference

import "strings"

// Paragraph is a line of text, in spans with and without marks.
type Paragraph []Span

// Span is text of one kind.
type Span struct {
	Text         string
	Code, Strong bool
}

// Prose parses those elements of Markdown that the API's document uses: paragraphs, `code` and
// **strong** words. A mark that isn't closed is text.
func Prose(text string) []Paragraph {
	var all []Paragraph
	for part := range strings.SplitSeq(text, "\n\n") {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			all = append(all, spans(part))
		}
	}
	return all
}

func spans(text string) Paragraph {
	var p Paragraph
	for text != "" {
		start := strings.IndexAny(text, "`*")
		mark := markAt(text, start)
		inner, rest, closed := "", "", false
		if mark != "" {
			inner, rest, closed = strings.Cut(text[start+len(mark):], mark)
		}
		if !closed {
			return append(p, Span{Text: text})
		}
		if start > 0 {
			p = append(p, Span{Text: text[:start]})
		}
		p = append(p, Span{Text: inner, Code: mark == "`", Strong: mark == "**"})
		text = rest
	}
	return p
}

// markAt returns the mark at the place, "" if there is none.
func markAt(text string, at int) string {
	for _, mark := range []string{"`", "**"} {
		if at >= 0 && strings.HasPrefix(text[at:], mark) {
			return mark
		}
	}
	return ""
}
