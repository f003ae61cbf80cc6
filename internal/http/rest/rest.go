// Package rest is the HTTP API of the service: everything under /api, as openapi.yaml beside it
// describes.
//
// A handler returns an answer or an error, and the type answer writes either. The package keeps no
// state that two endpoints share, so each route may run in a process of its own.
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
	"time"

	"go.yaml.in/yaml/v3"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/version"
	"lipsync/internal/http/slots"
)

// Options differ between one machine and AWS.
type Options struct {
	Log *slog.Logger
	// PublicURL is the service's address for clients. URLs in answers begin with it. If nil, they
	// begin with the scheme and host of the call.
	PublicURL *url.URL
	// MaxForm is the largest size of a form with files in bytes. Set it if a gateway in front of
	// the API accepts smaller forms than the API. 0 means no limit besides those of the files.
	MaxForm int64
}

// New returns the handler of everything under /api.
//
// Put the handler in front of any http.ServeMux, not into one: a mux answers a path such as
// /api/../x with a redirect, but the API answers 404 in JSON.
func New(service *service.Service, o Options) http.Handler {
	a := &api{
		service: service, Options: o, mux: http.NewServeMux(), arrivals: &arrivals{bytes: make(map[string]int64)},
		bodies: slots.New(bodiesOfKey, 0, slotWait),
	}
	a.mount()
	return a
}

// api has the data that every call needs.
type api struct {
	Options
	service  *service.Service
	mux      *http.ServeMux
	arrivals *arrivals
	bodies   *slots.Slots // of calls with a body
}

// mount adds to the mux each endpoint, the methods of its path for OPTIONS, 405 for other methods, and 404 for all other
// paths.
func (a *api) mount() {
	allowed := map[string][]string{}
	for _, e := range Endpoints() {
		path := Base + e.Path
		a.mux.Handle(e.Method+" "+path, a.serve(path, protected(e.Calls, e.handler)))
		allowed[path] = append(allowed[path], e.Method)
		if e.Method == http.MethodGet {
			allowed[path] = append(allowed[path], http.MethodHead)
		}
	}
	for pattern, methods := range allowed {
		methods = append(methods, http.MethodOptions)
		slices.Sort(methods)
		a.mux.Handle(pattern, a.serve(pattern, methodNotAllowed(strings.Join(methods, ", "))))
	}
	a.mux.Handle("/", a.serve("", notFound))
}

// ServeHTTP answers the call. It does not pass paths to the mux that the mux would redirect.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p := r.URL.EscapedPath(); path.Clean(p) != p {
		a.serve("", notFound).ServeHTTP(w, r)
		return
	}
	if r.Body != nil && r.Body != http.NoBody && !hasType(r, "multipart/form-data") { // forms have files, see newForm
		c := http.NewResponseController(w)
		_ = c.SetReadDeadline(time.Now().Add(bodyTime)) // on AWS the whole body is there already
		r.Body = &timedBody{r.Body, c}
	}
	a.mux.ServeHTTP(w, r)
}

// NoPath is the sentence for a path that the API doesn't have.
const NoPath = "not found: the paths of the API begin with " + Base + "/v1; " + Base + DocumentPath + " describes them, and " + Base + guidePath + " explains them"

func notFound(_ *api, w *answer, _ *http.Request) error {
	return w.error(http.StatusNotFound, failure.NotFound, NoPath, "")
}

func methodNotAllowed(allow string) handler {
	return func(_ *api, w *answer, r *http.Request) error {
		w.Header().Set("Allow", allow)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}
		return w.error(http.StatusMethodNotAllowed, failure.Invalid, "method not allowed", "")
	}
}

func health(_ *api, w *answer, _ *http.Request) error {
	w.Header().Set("Lipsync-Version", version.String())
	return w.json(http.StatusOK, map[string]string{"status": "ok"})
}

//go:embed openapi.yaml
var openapi []byte

// Document returns openapi.yaml, which describes the API.
func Document() []byte { return slices.Clone(openapi) }

func document(_ *api, w *answer, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	_, err := w.Write(openapi)
	return err
}

// openapiJSON returns the document as JSON. The first call converts it, since few clients read it.
var openapiJSON = sync.OnceValues(func() ([]byte, error) {
	var doc any
	if err := yaml.Unmarshal(openapi, &doc); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	return encode(doc)
})

func documentJSON(_ *api, w *answer, _ *http.Request) error {
	body, err := openapiJSON()
	if err != nil {
		return err
	}
	w.send(http.StatusOK, body)
	return nil
}

// identity is the answer about the caller's key.
type identity struct {
	Name string `json:"name"`
}

func (*api) me(_ *http.Request, c lipsync.Caller) (identity, error) {
	return identity{Name: c.KeyName}, nil
}

// absolute returns the link as an absolute URL. A relative link gets the service's address.
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
