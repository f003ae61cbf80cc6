package dashboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// handler answers one call. An error that it returns becomes a page.
type handler func(v *visit) error

// visit is one call to a page, by a person who may be signed in.
type visit struct {
	http.ResponseWriter
	*http.Request
	pages   *pages
	session *session // nil if nobody is signed in
	status  int
}

func (v *visit) caller() lipsync.Caller { return lipsync.Caller{Account: v.session.Account} }

var _ http.ResponseWriter = (*visit)(nil)

func (v *visit) WriteHeader(status int) {
	v.status = status
	v.ResponseWriter.WriteHeader(status)
}

// newPolicy returns the Content-Security-Policy of pages. A page may load the service's own files,
// send files to the storage, show pictures from the storage and those that answers of the service contain,
// and play media from any address and files that a person chose. Its
// forms lead to the dashboard, and the one to sign out also to the provider. Inline scripts and styles
// are forbidden.
func newPolicy(storage, signOut *url.URL) string {
	return "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:" + origin(storage) + "; connect-src 'self'" + origin(storage) +
		"; media-src 'self' blob: http: https:; form-action 'self'" + origin(signOut) + "; base-uri 'none'; frame-ancestors 'none'"
}

// origin returns a space and the scheme and host of an address; "" for nil.
func origin(address *url.URL) string {
	if address == nil {
		return ""
	}
	return " " + address.Scheme + "://" + address.Host
}

func setHeaders(h http.Header, policy string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// serve runs h, renders its error and writes the access log.
func (p *pages) serve(route string, h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := p.service.Now()
		limit := int64(maxBody)
		if route == "POST "+p.root+"/batches" {
			limit = maxList
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		v := &visit{ResponseWriter: w, Request: r, pages: p}
		err := failure.Guard(func() error { return h(v) })
		if err != nil && v.status == 0 {
			err = errors.Join(err, v.fail(err))
		}
		p.log(v, route, err, p.service.Now().Sub(start))
		if errors.Is(err, http.ErrAbortHandler) {
			panic(http.ErrAbortHandler)
		}
	})
}

// log logs a call in one line, without its path and query, since those of a sign-in have a token.
func (p *pages) log(v *visit, route string, err error, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("route", route),
		slog.Int("status", v.status),
		slog.Float64("took_ms", float64(took.Microseconds())/1000),
	}
	if v.session != nil {
		attrs = append(attrs, slog.String("account", v.session.Account))
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
		if v.status >= http.StatusInternalServerError {
			level = slog.LevelError
		}
	}
	p.Log.LogAttrs(context.WithoutCancel(v.Context()), level, "page", attrs...)
}

// show renders a page.
func (v *visit) show(status int, name, title string, data any) error {
	var body bytes.Buffer
	if err := v.pages.views.render(&body, name, frame{View: name, Title: title, Session: v.session, Page: data}); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	v.Header().Set("Content-Type", "text/html; charset=utf-8")
	v.WriteHeader(status)
	_, _ = v.Write(body.Bytes()) // the browser may be gone
	return nil
}

// Header is that of the answer. (The embedded http.Request has a Header too.)
func (v *visit) Header() http.Header { return v.ResponseWriter.Header() }

// Write writes the answer. (The embedded http.Request has a Write too.)
func (v *visit) Write(b []byte) (int, error) { return v.ResponseWriter.Write(b) }

// leadTo sends the browser to another page, by GET.
func (v *visit) leadTo(path string) error {
	v.Header().Set("Location", path)
	v.WriteHeader(http.StatusSeeOther)
	return nil
}

func missing() error {
	return &failure.Error{Code: failure.NotFound, Message: "there is no such page"}
}

// problem is the page about an error.
type problem struct {
	Status  int
	Message string
}

// fail shows the public message of err.
func (v *visit) fail(err error) error {
	p := v.problem(err)
	return v.show(p.Status, "problem", http.StatusText(p.Status), p)
}

// problem returns the page about err. If err says when to try again, it sets the header Retry-After.
func (v *visit) problem(err error) problem {
	if wait := failure.RetrySeconds(err); wait > 0 {
		v.Header().Set("Retry-After", strconv.Itoa(wait))
	}
	code := failure.CodeOf(err)
	if code == failure.Unauthorized { // a page asks for no header, as 401 would
		return problem{http.StatusForbidden, failure.MessageOf(err)}
	}
	return problem{code.Status(), failure.MessageOf(err)}
}
