// Package dashboard is the pages that a person sees: everything under
// /dashboard. They are rendered here and need no script to be read; what scripts
// add is uploads with their progress, and pages that update by themselves.
//
// How a person signs in is the home's own: see SignIn.
package dashboard

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"

	"lipsync/internal/lipsync"
)

// Root is the path that all pages are under.
const Root = "/dashboard"

// maxBody bounds what a form may send, in bytes: two addresses of media and
// some names.
const maxBody = 64 << 10

// Options are what a home of the service decides.
type Options struct {
	Log      *slog.Logger
	SignIn   SignIn
	Sessions Sessions
	Secret   [32]byte // seals the cookies of sessions
	// PublicURL is the address that people know the service by. If nil, each page
	// uses the scheme and host of its call.
	PublicURL *url.URL
	Document  []byte // openapi.yaml, as the API serves it
}

// SignIn learns who a person is. A home has one way: links of one use on one
// machine (Folder), an OpenID provider on AWS.
type SignIn interface {
	// Identify returns who makes a call to the sign-in page. Where it sent them
	// elsewhere first, to come back later, answered is true. Unauthorized if the
	// call doesn't say who they are; its message is for them to read.
	Identify(w http.ResponseWriter, r *http.Request) (who Person, answered bool, err error)
}

// Person is who signed in, and the account that they act for.
type Person struct{ Account, Name string }

// Sessions ends all sessions of an account at once, wherever their cookies are.
type Sessions interface {
	// Generation names the account's present sessions: "" at first, then a new
	// name after each EndAll.
	Generation(ctx context.Context, account string) (string, error)
	EndAll(ctx context.Context, account string) error
}

// New returns the handler of everything under Root, and of "/", which leads there.
func New(service *lipsync.Service, o Options) (http.Handler, error) {
	p := &pages{Options: o, service: service, mux: http.NewServeMux()}
	var err error
	if p.views, err = parseViews(template.FuncMap{"waited": p.waited, "took": p.took, "until": p.until}); err != nil {
		return nil, err
	}
	if p.reference, err = parseDocument(o.Document); err != nil {
		return nil, err
	}
	if p.sealer, err = newSealer(o.Secret); err != nil {
		return nil, err
	}
	p.mount()
	return p, nil
}

// pages holds what every call needs.
type pages struct {
	Options
	service   *lipsync.Service
	views     views
	sealer    sealer
	mux       *http.ServeMux
	reference reference
}

func (p *pages) mount() {
	open := func(pattern string, h handler) { p.mux.Handle(pattern, p.serve(pattern, h)) }
	private := func(pattern string, h handler) { open(pattern, p.signedIn(h)) }

	open("GET /{$}", func(v *visit) error { return v.leadTo(Root) })
	open("GET /dashboard/sign-in", p.signIn)
	open("GET /dashboard/static/{name}", p.static)
	open("/dashboard/", func(*visit) error { return missing() })

	private("POST /dashboard/sign-out", p.signOut)
	private("POST /dashboard/sign-out-everywhere", p.signOutEverywhere)
	private("GET /dashboard", p.listRequests)
	private("GET /dashboard/requests/{id}", p.showRequest)
	private("POST /dashboard/requests/{id}/cancel", p.cancel)
	private("GET /dashboard/new", p.newRequest)
	private("POST /dashboard/new", p.startRequest)
	private("POST /dashboard/uploads", p.createUpload)
	private("GET /dashboard/usage", p.showUsage)
	private("GET /dashboard/api", p.showAPI)
	private("GET /dashboard/settings/keys", p.listKeys)
	private("POST /dashboard/settings/keys", p.createKey)
	private("GET /dashboard/settings/keys/{id}/revoke", p.askRevoke)
	private("POST /dashboard/settings/keys/{id}/revoke", p.revokeKey)
	private("GET /dashboard/settings/sessions", p.showSessions)
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// base is the address of the service as the person knows it, with no path.
func (p *pages) base(r *http.Request) *url.URL {
	if p.PublicURL != nil {
		return &url.URL{Scheme: p.PublicURL.Scheme, Host: p.PublicURL.Host}
	}
	base := &url.URL{Scheme: "http", Host: r.Host}
	if r.TLS != nil {
		base.Scheme = "https"
	}
	return base
}
