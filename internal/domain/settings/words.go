package settings

import (
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lipsync/internal/domain/lipsync"
)

// boolean is the kind of true and false, and of their other words in kong.
func boolean() *Kind[bool] {
	return &Kind[bool]{want: "true or false", parse: func(text string) (value, ok bool) {
		switch strings.ToLower(text) {
		case "true", "yes", "1":
			return true, true
		case "false", "no", "0":
			return false, true
		default:
			return false, false
		}
	}}
}

// spelledBoolean is the kind of exactly "true" and "false".
func spelledBoolean() *Kind[bool] {
	return &Kind[bool]{want: boolean().want, parse: func(text string) (bool, bool) { return text == "true", text == "true" || text == "false" }}
}

// anyText is the kind of all texts.
func anyText() *Kind[string] {
	return &Kind[string]{want: "a text", parse: func(text string) (string, bool) { return text, true }}
}

// matching is the kind of texts that a pattern matches completely. The pattern is compiled at its first use: a function of Lambda, which starts for
// a call, uses few patterns or none.
func matching(pattern, want string) *Kind[string] {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) })
	return &Kind[string]{want: want, parse: func(text string) (string, bool) { return text, compiled().MatchString(text) }}
}

// oneOf is the kind of some words.
func oneOf(words ...string) *Kind[string] {
	return &Kind[string]{want: strings.Join(words, " or "), parse: func(text string) (string, bool) { return text, slices.Contains(words, text) }}
}

// words is the kind of lists of one word or more, separated by commas. A pattern matches each word.
func words(pattern, want string) *Kind[[]string] {
	each := matching(pattern, "").parse
	return &Kind[[]string]{want: want + ", or several between commas", parse: func(text string) ([]string, bool) {
		all := strings.Split(text, ",")
		return all, !slices.ContainsFunc(all, func(word string) bool { _, ok := each(word); return !ok })
	}}
}

// instanceTypes is the kind of lists of types of instances.
func instanceTypes() *Kind[[]string] {
	return words(`[a-z][a-z0-9-]*\.[a-z0-9-]+`, "a type such as g5.xlarge")
}

// duty is the kind of the duties of workers.
func duty() *Kind[lipsync.Duty] {
	var names []string
	for _, d := range lipsync.Duties() {
		if d != lipsync.DoesAll {
			names = append(names, string(d))
		}
	}
	return &Kind[lipsync.Duty]{want: "one of " + strings.Join(names, ", "), parse: func(text string) (lipsync.Duty, bool) {
		d := lipsync.Duty(text)
		return d, slices.Contains(lipsync.Duties(), d)
	}}
}

// noneOr is the kind of lists that may be empty.
func noneOr(some *Kind[[]string]) *Kind[[]string] {
	return &Kind[[]string]{want: some.want, parse: func(text string) ([]string, bool) {
		if text == "" {
			return nil, true
		}
		return some.parse(text)
	}}
}

// days is the kind of some numbers of days.
func days(choices ...int) *Kind[int] {
	var texts []string
	for _, n := range choices {
		texts = append(texts, strconv.Itoa(n))
	}
	return &Kind[int]{want: "one of " + strings.Join(texts, ", "), parse: func(text string) (int, bool) {
		n, _ := strconv.Atoi(text)
		return n, slices.Contains(texts, text)
	}}
}

// hostPort is the kind of addresses to listen at.
func hostPort(example string) *Kind[string] {
	return &Kind[string]{want: "HOST:PORT, such as " + example, parse: func(text string) (string, bool) {
		_, _, err := net.SplitHostPort(text)
		return text, err == nil
	}}
}

// hostPortOrNone is the kind of addresses to listen at, or "" for none.
func hostPortOrNone(example string) *Kind[string] {
	given := hostPort(example)
	return &Kind[string]{want: given.want, parse: func(text string) (string, bool) {
		_, ok := given.parse(text)
		return text, ok || text == ""
	}}
}

// networks is the kind of lists of addresses and networks of the Internet Protocol.
func networks() *Kind[[]string] {
	return &Kind[[]string]{want: "addresses or networks, such as 127.0.0.1 or 10.0.0.0/8, between commas", parse: func(text string) ([]string, bool) {
		all := strings.Split(text, ",")
		return all, !slices.ContainsFunc(all, func(one string) bool {
			_, network := netip.ParsePrefix(one)
			_, address := netip.ParseAddr(one)
			return network != nil && address != nil
		})
	}}
}

// level is the kind of log levels.
func level() *Kind[slog.Level] {
	return &Kind[slog.Level]{want: "debug, info, warn or error", parse: func(text string) (l slog.Level, ok bool) {
		return l, l.UnmarshalText([]byte(text)) == nil
	}}
}

// address is the kind of absolute URLs.
func address() *Kind[*url.URL] {
	return &Kind[*url.URL]{want: "an address such as https://example.com", parse: func(text string) (*url.URL, bool) {
		u, err := url.Parse(text)
		return u, err == nil && u.Scheme != "" && u.Host != ""
	}}
}

const anOrigin = "http://HOST or https://HOST, with a port or none, and no path"

// site is the kind of addresses of services at the root of their host.
func site() *Kind[*url.URL] {
	return &Kind[*url.URL]{want: address().want, flag: anOrigin, parse: func(text string) (*url.URL, bool) {
		u, err := url.Parse(text)
		return u, err == nil && isOrigin(u, strings.TrimSuffix(text, "/"))
	}}
}

// service is the kind of addresses of services. The text may end with /api or /api/v1, and may lack its scheme: that is http for this
// machine, and https for others. The value has a scheme, and no path.
func service() *Kind[*url.URL] {
	return &Kind[*url.URL]{want: anOrigin, flag: "http://HOST or https://HOST, with a port or none, and no path except /api/v1", parse: func(text string) (*url.URL, bool) {
		text = strings.TrimSuffix(text, "/")
		text = strings.TrimSuffix(strings.TrimSuffix(text, "/api/v1"), "/api")
		if !strings.Contains(text, "://") {
			text = schemeFor(text) + "://" + text
		}
		u, err := url.Parse(text)
		return u, err == nil && isOrigin(u, text)
	}}
}

// schemeFor returns the scheme of an address without one.
func schemeFor(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	if ip := net.ParseIP(strings.Trim(host, "[]")); host == "localhost" || ip.IsLoopback() {
		return "http"
	}
	return "https"
}

// origins is the kind of lists of web sites, or * for all.
func origins() *Kind[[]string] {
	return &Kind[[]string]{want: "* or an origin such as https://example.com, or several between commas", flag: "* or " + anOrigin,
		parse: func(text string) ([]string, bool) {
			all := strings.Split(text, ",")
			return all, !slices.ContainsFunc(all, func(one string) bool {
				u, err := url.Parse(one)
				return one != "*" && (err != nil || !isOrigin(u, one))
			})
		}}
}

// isOrigin reports whether the text has only a scheme and a host. u is the parsed text.
func isOrigin(u *url.URL, text string) bool {
	origin := url.URL{Scheme: u.Scheme, Host: u.Host}
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && text == origin.String()
}
