package rest

import (
	"net/http"
	"strconv"
	"strings"
)

// refuseIgnored returns an error that names unknown fields, if the client prefers that to their being ignored.
func refuseIgnored(h http.Header, fields []string) error {
	if len(fields) == 0 || !strict(h) {
		return nil
	}
	quoted := make([]string, len(fields))
	for i, name := range fields {
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
