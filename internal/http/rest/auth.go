package rest

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// aboutRequest is an answer about one lip sync request.
type aboutRequest interface{ requestID() string }

// call handles a call of a caller. Its result is the JSON answer.
type call[Out any] func(a *api, r *http.Request, c lipsync.Caller) (Out, error)

const (
	// bodiesOfKey is the number of calls with a body that a key may have open at a time, so that no client collects connections. Such a
	// call takes milliseconds, except for forms.
	bodiesOfKey = 16
	// slotWait is how long another call waits for a slot, and after which a client may try again.
	slotWait = 5 * time.Second
)

// protected returns a handler that authenticates the caller, counts the call in the rate of the
// kind, and calls next. If kind is "", the handler needs no key.
func protected(kind lipsync.CallKind, next handler) handler {
	if kind == "" {
		return next
	}
	return func(a *api, w *answer, r *http.Request) error {
		token, err := Token(r.Header)
		if err != nil {
			return err
		}
		caller, err := a.service.Authenticate(r.Context(), token)
		if err != nil {
			return err
		}
		caller.CallID = w.Header().Get("X-Request-Id")
		w.caller = caller
		left, err := a.service.Take(r.Context(), caller, kind)
		w.rate(kind, a.service.Rate(kind), left)
		if err != nil {
			return err
		}
		if caller.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
			return failure.New(failure.ReadOnlyKey, "key is read-only: it can't make, change or delete anything")
		}
		if r.Body == nil || r.Body == http.NoBody {
			return next(a, w, r)
		}
		leave, ok := a.bodies.Take(r.Context(), caller.Account+"/"+caller.KeyID)
		if !ok {
			return failure.RateLimit(slotWait, nil)
		}
		defer leave()
		return next(a, w, r)
	}
}

// answers returns a handler that runs do for the authenticated caller and answers with its result.
func answers[Out any](do call[Out]) handler {
	return func(a *api, w *answer, r *http.Request) error {
		out, err := do(a, r, w.caller)
		if err != nil {
			return err
		}
		if about, ok := any(out).(aboutRequest); ok {
			w.request = about.requestID()
		}
		if repeat, ok := any(out).(repeatable); ok && repeat.repeated() {
			w.Header().Set("Idempotent-Replayed", "true")
		}
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			return w.tagged(r, out, a.service.Now())
		}
		return w.json(http.StatusOK, out)
	}
}

// byID returns a call of a method of the service that takes only an id, that of the path. It answers with the view of the result.
func byID[In, Out any](do func(*service.Service, context.Context, lipsync.Caller, string) (In, error), view func(*api, In) Out) call[Out] {
	return func(a *api, r *http.Request, c lipsync.Caller) (Out, error) {
		in, err := do(a.service, r.Context(), c, r.PathValue("id"))
		return view(a, in), err
	}
}

// repeatable is an answer that may be that of an earlier call with the same idempotency key.
type repeatable interface{ repeated() bool }

// rate sets the headers that tell what is left of the key's rate, by the IETF's draft-ietf-httpapi-ratelimit-headers. Nothing is known if
// the rate can't be read.
func (w *answer) rate(kind lipsync.CallKind, limit int, left lipsync.Allowance) {
	if left == (lipsync.Allowance{}) {
		return
	}
	resets := int(math.Ceil(left.Resets.Seconds()))
	w.Header()["RateLimit-Policy"] = []string{fmt.Sprintf(`"%s";q=%d;w=60`, kind, limit)}
	w.Header()["RateLimit"] = []string{fmt.Sprintf(`"%s";r=%d;t=%d`, kind, left.Left, resets)}
}

// Token returns the token of the header Authorization or, without that, of x-api-key. The values
// of a header that was sent twice are joined by commas, as gateways do, so the result is never a
// valid token.
func Token(h http.Header) (string, error) {
	if values, ok := h["Authorization"]; ok {
		return bearer(strings.Join(values, ", "))
	}
	if values, ok := h["X-Api-Key"]; ok {
		return present(strings.Join(values, ", "))
	}
	return "", failure.New(failure.Unauthorized, "missing authorization header")
}

// bearer returns the token of an Authorization header.
func bearer(value string) (string, error) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if scheme != "" && !strings.EqualFold(scheme, "Bearer") {
		return "", failure.New(failure.Unauthorized, "invalid authorization format")
	}
	return present(token)
}

// present returns the token without the space around it, or an error if it is empty.
func present(token string) (string, error) {
	if token = strings.Trim(token, " \t"); token == "" {
		return "", failure.New(failure.Unauthorized, "missing token")
	}
	return token, nil
}
