package rest

import (
	"net/http"
	"strconv"
	"strings"
)

// refuse returns an error that names unknown fields of a call with the header, if its client prefers that to their being ignored.
func refuse(h http.Header, unknown []string) error {
	if len(unknown) == 0 || !strict(h) {
		return nil
	}
	quoted := make([]string, len(unknown))
	for i, name := range unknown {
		quoted[i] = strconv.Quote(name)
	}
	return invalid("request body has unknown fields: " + strings.Join(quoted, ", "))
}

// strict reports whether the client prefers strict handling, by RFC 7240. Of several preferences the first counts.
func strict(h http.Header) bool {
	for _, preference := range strings.Split(strings.Join(h.Values("Prefer"), ","), ",") {
		preference, _, _ = strings.Cut(preference, ";") // its parameters
		name, value, _ := strings.Cut(preference, "=")
		if strings.EqualFold(strings.TrimSpace(name), "handling") {
			return strings.EqualFold(strings.Trim(strings.TrimSpace(value), `"`), "strict")
		}
	}
	return false
}
