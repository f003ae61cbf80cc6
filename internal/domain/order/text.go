package order

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the largest number of characters of a name that a client gives.
const maxText = 255

// ValidText reports whether a client's text has 1 to 255 characters.
func ValidText(text string) bool {
	n := utf8.RuneCountInString(text)
	return utf8.ValidString(text) && n >= 1 && n <= maxText
}

// ValidName reports whether ValidText holds and the text has no control characters, so that it can
// be shown in lists.
func ValidName(text string) bool {
	return ValidText(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// BaseName returns the last part of a path of any operating system, or "" if that can't be shown as
// a file name.
func BaseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if !ValidName(name) {
		return ""
	}
	return name
}

// ValidMediaType reports whether text can be sent as a Content-Type: TYPE/MORE in printable ASCII.
// It is no stricter because browsers send video/webm;codecs=vp8,opus for recordings, which is not a
// valid media type.
func ValidMediaType(text string) bool {
	kind, more, _ := strings.Cut(text, "/")
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	return ValidText(text) && kind != "" && more != "" && !strings.Contains(kind, " ") &&
		strings.TrimSpace(more) == more && !strings.ContainsFunc(text, odd)
}

// Compact returns the value as stores keep it: as JSON without the escapes for HTML of json.Marshal, with which a URL may be six times as
// long. The value must be one that always encodes.
func Compact(v any) string {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return strings.TrimSuffix(text.String(), "\n")
}

// maxURL is the largest number of bytes of a URL. Signed URLs of clouds have some 2,000.
const maxURL = 8192

// URLRule returns the sentence that says what ValidURL accepts, or what is wrong with the text.
func URLRule(name, text string) string {
	if _, err := url.Parse(text); err != nil {
		if _, bare := errors.AsType[url.EscapeError](err); bare {
			return name + " has a % without two hexadecimal digits after it: a % must be written as %25"
		}
	}
	return fmt.Sprintf("%s must be an absolute http or https URL with a host, no user name and at most %d bytes", name, maxURL)
}

// ValidURL reports whether the text is an absolute http or https URL with a host and without a user name.
func ValidURL(text string) bool {
	if len(text) > maxURL || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil
}
