package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
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

// linking is an answer with signed links, which differ each time.
type linking interface {
	// withoutLinks returns the answer without them.
	withoutLinks() any
}

// linkFresh is the time for which a client may keep the signed links of an answer: it gets new ones while the old can still be read.
const linkFresh = lipsync.LinkLife / 2

// tagged answers with out and an ETag. A client that already has the same answer gets 304 without a body. An answer about an open request
// also has a header for the time after which to read it again.
func (w *answer) tagged(r *http.Request, out any, now time.Time) error {
	body, err := encode(out)
	if err != nil {
		return err
	}
	same := body
	if links, ok := out.(linking); ok {
		if same, err = encode(links.withoutLinks()); err != nil {
			return err
		}
		if !bytes.Equal(same, body) {
			same = append(same, now.Truncate(linkFresh).String()...)
		}
	}
	sum := sha256.Sum256(same)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	w.Header().Set("ETag", tag)
	if open, ok := out.(pollable); ok && !open.openSince().IsZero() {
		w.Header().Set("Retry-After", strconv.Itoa(pollAfter(now.Sub(open.openSince()))))
	}
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
