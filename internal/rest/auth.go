package rest

import (
	"net/http"
	"strings"

	"lipsync/internal/lipsync"
)

// aboutRequest is an answer about one lip sync request.
type aboutRequest interface{ requestID() string }

// call is a call on behalf of someone; what it returns is rendered as JSON.
type call[Out any] func(r *http.Request, c lipsync.Caller) (Out, error)

// protected makes a handler that first learns who calls, then takes one call from the rate of the kind. Without a kind it asks
// for no key.
func (a *api) protected(kind lipsync.CallKind, next handler) handler {
	if kind == "" {
		return next
	}
	return func(w *answer, r *http.Request) error {
		token, err := tokenOf(r.Header)
		if err != nil {
			return err
		}
		caller, err := a.service.Authenticate(r.Context(), token)
		if err != nil {
			return err
		}
		w.caller = caller
		if err := a.service.Allow(r.Context(), caller, kind); err != nil {
			return err
		}
		return next(w, r)
	}
}

// answers makes a handler of a call, for who is known to make it.
func answers[Out any](a *api, do call[Out]) handler {
	return func(w *answer, r *http.Request) error {
		out, err := do(r, w.caller)
		if err != nil {
			return err
		}
		if about, ok := any(out).(aboutRequest); ok {
			w.request = about.requestID()
		}
		if open, ok := any(out).(pollable); ok && !open.openSince().IsZero() {
			return w.poll(r, out, a.service.Now().Sub(open.openSince()))
		}
		return w.json(http.StatusOK, out)
	}
}

// tokenOf reads the token from Authorization or, without that, from x-api-key.
// A header that was sent twice counts as one whose values are joined by commas,
// as gateways deliver it, and so never holds a good token.
func tokenOf(h http.Header) (string, error) {
	if values, ok := h["Authorization"]; ok {
		return bearer(strings.Join(values, ", "))
	}
	if values, ok := h["X-Api-Key"]; ok {
		return present(strings.Join(values, ", "))
	}
	return "", unauthorized("missing authorization header")
}

// bearer reads the token of an Authorization header.
func bearer(value string) (string, error) {
	scheme, token, _ := strings.Cut(strings.TrimSpace(value), " ")
	if scheme != "" && !strings.EqualFold(scheme, "Bearer") {
		return "", unauthorized("invalid authorization format")
	}
	return present(token)
}

// present refuses a header with no token in it. Space around a header's value
// is not part of it.
func present(token string) (string, error) {
	if token = strings.Trim(token, " \t"); token == "" {
		return "", unauthorized("missing token")
	}
	return token, nil
}

func unauthorized(message string) error {
	return &lipsync.Error{Code: lipsync.Unauthorized, Message: message}
}
