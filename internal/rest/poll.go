package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Clients that wait for a request are asked to read it again after a tenth of the time
// that it took so far: so they learn of its end a tenth late at most, and the number of
// reads grows with the logarithm of the time.
const (
	pollShare = 10
	pollMost  = 30 * time.Second
)

// pollable is an answer about a request that may change by itself. Its client should read
// it again later.
type pollable interface {
	// openSince returns when the request came to its present status, zero if that is final.
	openSince() time.Time
}

// poll renders out, which is about an open request, with the time after which to read it
// again and a tag. A client that has the same already gets no body.
func (w *answer) poll(r *http.Request, out any, age time.Duration) error {
	body, err := encode(out)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	w.Header().Set("Retry-After", strconv.Itoa(pollAfter(age)))
	if has(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.send(http.StatusOK, body)
	return nil
}

// pollAfter is in whole seconds.
func pollAfter(age time.Duration) int {
	return max(1, int(math.Ceil(min(age/pollShare, pollMost).Seconds())))
}

// has tells whether the tag is among those of If-None-Match.
func has(headers []string, tag string) bool {
	for word := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if word = strings.TrimSpace(word); word == "*" || strings.TrimPrefix(word, "W/") == tag {
			return true
		}
	}
	return false
}
