package settings

import (
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is how values of the type T are written.
type Kind[T any] struct {
	// want says what a value must be. flag says the same to who gives a flag, if it is not "".
	want, flag string
	parse      func(text string) (value T, ok bool)
	// unit is how many bytes a whole number in CDK's context counts, 0 without a unit.
	unit Size
}

// Text returns a value as text that the kind of its setting reads, except for units.
func Text(value any) string {
	switch v := value.(type) {
	case []string:
		return strings.Join(v, ",")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// whole is a whole number that is not less than least.
func whole(least int, flag string) Kind[int] {
	return Kind[int]{want: "a whole number above " + strconv.Itoa(least-1), flag: flag, parse: func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least
	}}
}

// wholeWithin is a whole number within bounds, which both are allowed.
func wholeWithin(least, most int) *Kind[int] {
	return &Kind[int]{want: within(least, most), parse: func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least && n <= most
	}}
}

func within(least, most int) string { return fmt.Sprintf("a whole number from %d to %d", least, most) }

// fraction is a number above 0.
func fraction() Kind[float64] {
	return Kind[float64]{want: "a number above 0", flag: moreThanZero, parse: func(text string) (float64, bool) {
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil && n > 0
	}}
}

// wholeFraction is a fraction that is a whole number within bounds.
func wholeFraction(least, most int) *Kind[float64] {
	return &Kind[float64]{want: within(least, most), parse: func(text string) (float64, bool) {
		n, ok := wholeWithin(least, most).parse(text)
		return float64(n), ok
	}}
}

// size is a number of bytes that is not less than least.
func size(least Size, want string) Kind[Size] {
	return Kind[Size]{want: want, flag: moreThanZero, parse: func(text string) (s Size, ok bool) {
		err := s.UnmarshalText([]byte(text))
		return s, err == nil && s >= least
	}}
}

// sizeIn is a size in whole units, of which a value has from 1 to most.
func sizeIn(unit Size, most int) *Kind[Size] {
	return &Kind[Size]{want: within(1, most), unit: unit, parse: func(text string) (Size, bool) {
		n, ok := wholeWithin(1, most).parse(text)
		return Size(n) * unit, ok
	}}
}

// duration is a time that is not less than least.
func duration(least time.Duration, flag string) Kind[time.Duration] {
	want := "a time above 0, such as 90m"
	if least > 1 {
		want = fmt.Sprintf("a time of %s or more, such as 90m", least)
	}
	return Kind[time.Duration]{want: want, flag: flag, parse: func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= least
	}}
}

// durationWithin is a time in whole seconds within bounds, which both are allowed.
func durationWithin(least, most time.Duration) *Kind[time.Duration] {
	want := fmt.Sprintf("a time in whole seconds from %s to %s, such as 90m", least, most)
	return &Kind[time.Duration]{want: want, parse: func(text string) (time.Duration, bool) {
		d, err := time.ParseDuration(text)
		return d, err == nil && d >= least && d <= most && d%time.Second == 0
	}}
}

// truth is true or false.
func truth() Kind[bool] {
	return Kind[bool]{want: "true or false", parse: func(text string) (bool, bool) {
		b, err := strconv.ParseBool(text)
		return b, err == nil
	}}
}

// spelledTruth is truth that is spelled out.
func spelledTruth() *Kind[bool] {
	return &Kind[bool]{want: truth().want, parse: func(text string) (bool, bool) { return text == "true", text == "true" || text == "false" }}
}

// anything is any text.
func anything() Kind[string] {
	return Kind[string]{want: "a text", parse: func(text string) (string, bool) { return text, true }}
}

// matching is text that a pattern matches as a whole.
func matching(pattern, want string) Kind[string] {
	return Kind[string]{want: want, parse: func(text string) (string, bool) {
		return text, regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(text)
	}}
}

// oneOf is one of some words.
func oneOf(words ...string) Kind[string] {
	return Kind[string]{want: strings.Join(words, " or "), parse: func(text string) (string, bool) { return text, slices.Contains(words, text) }}
}

// words is one word or more, with commas between, each of which a pattern matches.
func words(pattern, want, flag string) Kind[[]string] {
	each := matching(pattern, "").parse
	return Kind[[]string]{want: want + ", or several between commas", flag: flag, parse: func(text string) ([]string, bool) {
		all := strings.Split(text, ",")
		return all, !slices.ContainsFunc(all, func(word string) bool { _, ok := each(word); return !ok })
	}}
}

// days is one of some numbers of days.
func days(choices ...int) Kind[int] {
	var texts []string
	for _, n := range choices {
		texts = append(texts, strconv.Itoa(n))
	}
	return Kind[int]{want: "one of " + strings.Join(texts, ", "), parse: func(text string) (int, bool) {
		n, _ := strconv.Atoi(text)
		return n, slices.Contains(texts, text)
	}}
}

// hostPort is where to listen, or "" for nowhere.
func hostPort(example string) Kind[string] {
	return Kind[string]{want: "HOST:PORT, such as " + example, parse: func(text string) (string, bool) {
		_, _, err := net.SplitHostPort(text)
		return text, text == "" || err == nil
	}}
}

// level is the least level of what is logged.
func level() Kind[slog.Level] {
	return Kind[slog.Level]{want: "debug, info, warn or error", parse: func(text string) (l slog.Level, ok bool) {
		return l, l.UnmarshalText([]byte(text)) == nil
	}}
}

// address is an absolute URL.
func address() Kind[*url.URL] {
	return Kind[*url.URL]{want: "an address such as https://example.com", parse: func(text string) (*url.URL, bool) {
		u, err := url.Parse(text)
		return u, err == nil && u.Scheme != "" && u.Host != ""
	}}
}

const anOrigin = "http://HOST or https://HOST, with a port or none, and no path"

// site is the address of a service that is at the root of its host.
func site() Kind[*url.URL] {
	return Kind[*url.URL]{want: address().want, flag: anOrigin, parse: func(text string) (*url.URL, bool) {
		u, err := url.Parse(text)
		return u, err == nil && isOrigin(u, strings.TrimSuffix(text, "/"))
	}}
}

// origins are web sites, or * for all.
func origins() Kind[[]string] {
	return Kind[[]string]{want: "* or an origin such as https://example.com, or several between commas", flag: "* or " + anOrigin,
		parse: func(text string) ([]string, bool) {
			all := strings.Split(text, ",")
			return all, !slices.ContainsFunc(all, func(one string) bool {
				u, err := url.Parse(one)
				return one != "*" && (err != nil || !isOrigin(u, one))
			})
		}}
}

// isOrigin reports whether the text, which is u, is only a scheme and a host.
func isOrigin(u *url.URL, text string) bool {
	origin := url.URL{Scheme: u.Scheme, Host: u.Host}
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && text == origin.String()
}
