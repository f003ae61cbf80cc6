package rest

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// query is the query of a call while its parameters are read. Unknown ones are ignored.
type query struct {
	values url.Values
	err    error // about the first parameter that can't be used
}

func parseQuery(raw string) *query {
	q := &query{}
	var err error
	if q.values, err = url.ParseQuery(raw); err != nil {
		q.refuse("invalid query string")
	}
	return q
}

func (q *query) refuse(problem string) {
	if q.err == nil {
		q.err = invalid(problem)
	}
}

// whole returns a whole number, in digits only, and the usual one if it isn't given. 2^53-1 is the largest that every client of JSON reads exactly.
func (q *query) whole(name string, usual, least, most int64) int64 {
	got, ok := q.values[name]
	if !ok {
		return usual
	}
	n, err := strconv.ParseUint(got[0], 10, 53)
	if len(got) != 1 || err != nil || int64(n) < least || int64(n) > most {
		q.refuse(fmt.Sprintf("%s must be one whole number from %d to %d", name, least, most))
	}
	return int64(n)
}

// limit returns the largest number of entries of a page.
func (q *query) limit() int { return int(q.whole("limit", 20, 1, 100)) }

// text returns a text that fits, and "" if it isn't given.
func (q *query) text(name, problem string, fits func(string) bool) string {
	got, ok := q.values[name]
	if !ok {
		return ""
	}
	if len(got) != 1 || !fits(got[0]) {
		q.refuse(problem)
	}
	return got[0]
}

// oneOf returns one of the words, and "" if none is given.
func oneOf[T ~string](q *query, name string, words []T) T {
	all := make([]string, len(words))
	for i, word := range words {
		all[i] = string(word)
	}
	return T(q.text(name, name+" must be one of: "+strings.Join(all, ", "), func(s string) bool { return slices.Contains(all, s) }))
}

// parsePageQuery parses the query of a list whose pages begin after the id of a subject.
func parsePageQuery(raw, subject string) (limit int, before string, err error) {
	q := parseQuery(raw)
	limit = q.limit()
	before = q.text("before", "before must be the id of a "+subject, func(s string) bool { return s != "" && len(s) <= 255 && printable(s) })
	return limit, before, q.err
}
