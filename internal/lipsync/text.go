package lipsync

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is how many characters a name that a client gives may have.
const maxText = 255

// validText reports whether a client's text has 1 to 255 characters.
func validText(text string) bool {
	n := utf8.RuneCountInString(text)
	return utf8.ValidString(text) && n >= 1 && n <= maxText
}

// validName is validText without control characters, for what is shown in lists.
func validName(text string) bool {
	return validText(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// fileName returns the last part of a path as another system wrote it, "" if that can't be
// shown as the name of a file.
func fileName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if !validName(name) {
		return ""
	}
	return name
}

// validMediaType reports whether text can be sent as a Content-Type: TYPE/MORE
// in printable ASCII. It is no stricter, since browsers name their recordings
// video/webm;codecs=vp8,opus, which is not quite a media type.
func validMediaType(text string) bool {
	kind, more, _ := strings.Cut(text, "/")
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	return validText(text) && kind != "" && more != "" && !strings.Contains(kind, " ") &&
		strings.TrimSpace(more) == more && !strings.ContainsFunc(text, odd)
}

// LargerThan returns the public sentence for what has more bytes than it may
// have: video is larger than 5 GiB.
func LargerThan(what string, limit int64) string { return what + " is larger than " + Spell(limit) }

// Spell writes a number of bytes as people say it: 5 GiB, 500 MiB, 7 bytes.
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
