package lipsync

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the largest number of characters of a name that a client gives.
const maxText = 255

// validText reports whether a client's text has 1 to 255 characters.
func validText(text string) bool {
	n := utf8.RuneCountInString(text)
	return utf8.ValidString(text) && n >= 1 && n <= maxText
}

// validName reports whether validText holds and the text has no control characters, so that it can
// be shown in lists.
func validName(text string) bool {
	return validText(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// fileName returns the last part of a path of any operating system, or "" if that can't be shown as
// a file name.
func fileName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if !validName(name) {
		return ""
	}
	return name
}

// validMediaType reports whether text can be sent as a Content-Type: TYPE/MORE in printable ASCII.
// It is no stricter because browsers send video/webm;codecs=vp8,opus for recordings, which is not a
// valid media type.
func validMediaType(text string) bool {
	kind, more, _ := strings.Cut(text, "/")
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	return validText(text) && kind != "" && more != "" && !strings.Contains(kind, " ") &&
		strings.TrimSpace(more) == more && !strings.ContainsFunc(text, odd)
}

// LargerThan returns the public sentence for a medium with too many bytes, such as: video is larger
// than 5 GiB.
func LargerThan(what string, limit int64) string { return what + " is larger than " + Spell(limit) }

// Spell returns a number of bytes with a unit: 5 GiB, 500 MiB, 7 bytes.
func Spell(n int64) string {
	switch {
	case n%(1<<30) == 0:
		return fmt.Sprintf("%d GiB", n>>30)
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
