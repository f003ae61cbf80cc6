// Package rest is the HTTP API of the service: everything under /api, as
// openapi.yaml beside it describes.
//
// A handler returns what it answers or an error, and one place renders either.
// Nothing here is kept between two calls, so each route may run in a process of
// its own.
package rest

import (
	_ "embed"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"lipsync/internal/lipsync"
	"lipsync/internal/version"
)

// Options differ between one machine and AWS.
type Options struct {
	Log *slog.Logger
	// PublicURL is the address that clients know the service by, for the URLs
	// in its answers. If nil, each answer uses the scheme and host of its call.
	PublicURL *url.URL
	// MaxForm is how many bytes a form with files may have, if not 0: less than
	// its files may, where what is in front of the API takes no more.
	MaxForm int64
}

// New returns the handler of everything under /api.
//
// Mount it in front of any http.ServeMux, not in one: a mux answers a path such
// as /api/../x with a redirect, where the API says 404 in JSON.
func New(service *lipsync.Service, o Options) http.Handler {
	a := &api{service: service, Options: o, mux: http.NewServeMux(), arrivals: &arrivals{bytes: make(map[string]int64)}}
	a.mount()
	return a
}

// api holds what every call needs.
type api struct {
	Options
	service  *lipsync.Service
	mux      *http.ServeMux
	arrivals *arrivals
}

// mount fills the mux: each endpoint, 405 for the other methods of its path, and
// 404 for the rest.
func (a *api) mount() {
	allowed := map[string][]string{}
	for _, e := range a.endpoints() {
		path := Base + e.Path
		a.mux.Handle(e.Method+" "+path, a.serve(path, a.protected(e.Calls, e.handler)))
		allowed[path] = append(allowed[path], e.Method)
		if e.Method == http.MethodGet {
			allowed[path] = append(allowed[path], http.MethodHead)
		}
	}
	for pattern, methods := range allowed {
		slices.Sort(methods)
		a.mux.Handle(pattern, a.serve(pattern, methodNotAllowed(strings.Join(methods, ", "))))
	}
	a.mux.Handle("/", a.serve("", notFound))
}

// ServeHTTP keeps from the mux the paths that it would answer with a redirect.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.EscapedPath(); path.Clean(p) != p {
		a.serve("", notFound).ServeHTTP(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

func notFound(w *answer, _ *http.Request) error {
	return w.error(http.StatusNotFound, "not found")
}

func methodNotAllowed(allow string) handler {
	return func(w *answer, _ *http.Request) error {
		w.Header().Set("Allow", allow)
		return w.error(http.StatusMethodNotAllowed, "method not allowed")
	}
}

func health(w *answer, _ *http.Request) error {
	w.Header().Set("Lipsync-Version", version.String())
	return w.json(http.StatusOK, map[string]string{"status": "ok"})
}

//go:embed openapi.yaml
var openapi []byte

// Document returns openapi.yaml, which describes the API.
func Document() []byte { return slices.Clone(openapi) }

func document(w *answer, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, err := w.Write(openapi)
	return err
}

// openapiJSON is the document as JSON. Few ask for it, so it is made when the first one does.
var openapiJSON = sync.OnceValues(func() ([]byte, error) {
	var doc any
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	return encode(doc)
})

func documentJSON(w *answer, _ *http.Request) error {
	body, err := openapiJSON()
	if err != nil {
		return err
	}
	w.send(http.StatusOK, body)
	return nil
}

// identity says whose token was presented.
type identity struct {
	Name string `json:"name"`
}

func me(_ *http.Request, c lipsync.Caller) (identity, error) {
	return identity{Name: c.KeyName}, nil
}

// absolute makes a link that may be relative to the service whole.
func (a *api) absolute(r *http.Request, link *url.URL) string {
	base := a.PublicURL
	if base == nil {
		base = &url.URL{Scheme: "http", Host: r.Host}
		if r.TLS != nil {
			base.Scheme = "https"
		}
	}
	return base.ResolveReference(link).String()
}
