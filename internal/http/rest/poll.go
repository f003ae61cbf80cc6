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

// Clients read a request again and again until it ends. The service asks them to wait between two
// reads for a tenth of the time that the request has had its status. So they learn of its end at
// most a tenth late, and the number of reads grows with the logarithm of the time.
const (
	pollShare = 10
	pollMost  = 30 * time.Second
)

// pollable is an answer about a request that a worker may change. The client should read it again
// later.
type pollable interface {
	// openSince returns the time at which the request got its present status, or zero if that is
	// final.
	openSince() time.Time
}

// poll answers with out, which is about an open request, with a header for the time after which to
// read it again, and with an ETag. A client that already has the same answer gets 304 without a
// body.
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

// pollAfter returns the time after which to read a request of that age again, in whole seconds.
func pollAfter(age time.Duration) int {
	return max(1, int(math.Ceil(min(age/pollShare, pollMost).Seconds())))
}

// has reports whether the values of If-None-Match contain the tag.
func has(headers []string, tag string) bool {
	for word := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		if word = strings.TrimSpace(word); word == "*" || strings.TrimPrefix(word, "W/") == tag {
			return true
		}
	}
	return false
}
