// Package dashboard is the pages that a person sees: everything under
// /dashboard. They are rendered here and need no script to be read; what scripts
// add is uploads with their progress, and pages that update by themselves.
//
// People sign in differently on one machine and on AWS: see SignIn.
package dashboard

import (
	"context"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"lipsync/internal/lipsync"
)

// Root is the path that all pages are under, after the deployment's own Prefix.
const Root = "/dashboard"

// maxBody bounds what a form may send, in bytes: two addresses of media and
// some names.
const maxBody = 64 << 10

// Options differ between one machine and AWS.
type Options struct {
	Log      *slog.Logger
	SignIn   SignIn
	Sessions Sessions
	Secret   [32]byte // seals the cookies of sessions
	// PublicURL is the address that people know the service by. If nil, each page
	// uses the scheme and host of its call.
	PublicURL *url.URL
	// Prefix is the path before Root, as browsers see it: "", or that of a stage.
	Prefix   string
	Storage  *url.URL // where files are sent to, if that is another host
	Document []byte   // openapi.yaml, as the API serves it
}

// SignIn learns who a person is: by links of one use on one machine (Folder), by an
// OpenID provider on AWS.
type SignIn interface {
	// Identify returns who makes a call to the sign-in page. Where it sent them
	// elsewhere first, to come back later, answered is true. Unauthorized if the
	// call doesn't say who they are; its message is for them to read.
	Identify(w http.ResponseWriter, r *http.Request) (who Person, answered bool, err error)
	// SignOutURL is where who signs out here signs out of the provider, too. It
	// leads back to the page signed-out. nil if there is no provider.
	SignOutURL() *url.URL
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
	p := &pages{Options: o, service: service, mux: http.NewServeMux(), root: o.Prefix + Root}
	p.policy = newPolicy(o.Storage, o.SignIn.SignOutURL())
	var err error
	if p.views, err = parseViews(p.root, template.FuncMap{"waited": p.waited, "took": p.took, "until": p.until, "expires": p.service.OutputExpires}); err != nil {
		return nil, err
	}
	p.reference = sync.OnceValues(func() (reference, error) { return parseDocument(o.Document) }) // few look at it
	if p.sealer, err = NewSealer(o.Secret, sessionCookie); err != nil {
		return nil, err
	}
	if p.wanted, err = NewSealer(o.Secret, wantedCookie); err != nil {
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
	sealer    Sealer // of sessions
	wanted    Sealer // of pages that nobody was signed in for
	mux       *http.ServeMux
	root      string // of the paths of all pages, as browsers see them
	policy    string // of what pages may load and do
	reference func() (reference, error)
}

// route is one row of the dashboard.
type route struct {
	pattern string
	handler handler
}

// private are the routes for people who are signed in.
func (p *pages) private() []route {
	return []route{
		{"GET /dashboard", p.listRequests},
		{"GET /dashboard/requests/{id}", p.showRequest},
		{"POST /dashboard/requests/{id}/cancel", p.cancel},
		{"GET /dashboard/requests/{id}/delete", p.askDelete},
		{"POST /dashboard/requests/{id}/delete", p.deleteMedia},
		{"GET /dashboard/new", p.newRequest},
		{"POST /dashboard/new", p.startRequest},
		{"POST /dashboard/uploads", p.createUpload},
		{"GET /dashboard/usage", p.showUsage},
		{"GET /dashboard/api", p.showAPI},
		{"GET /dashboard/settings/keys", p.listKeys},
		{"POST /dashboard/settings/keys", p.createKey},
		{"GET /dashboard/settings/keys/{id}/revoke", p.askRevoke},
		{"POST /dashboard/settings/keys/{id}/revoke", p.revokeKey},
		{"POST /dashboard/sign-out", p.signOut},
	}
}

func (p *pages) mount() {
	for _, r := range []route{
		{"GET /{$}", p.leads("")},
		{"GET /dashboard/{$}", p.leads("")},
		{"GET /dashboard/settings", p.leads("/settings/keys")},
		{"GET /dashboard/sign-in", p.signIn},
		{"GET /dashboard/signed-out", p.signedOut},
		{"GET /dashboard/static/{name}", p.static},
		{"/", p.lost},
	} {
		p.handle(r)
	}
	for _, r := range p.private() {
		p.handle(route{r.pattern, p.signedIn(r.handler)})
	}
}

// leads returns what leads to the page of the path, after the root.
func (p *pages) leads(path string) handler {
	return func(v *visit) error { return v.leadTo(p.root + path) }
}

// lost says that there is no such page, with the menu for who is signed in.
func (p *pages) lost(v *visit) (err error) {
	if v.session, err = v.resume(); err != nil {
		return err
	}
	return missing()
}

// handle puts a route in its place, after the prefix.
func (p *pages) handle(r route) {
	pattern := strings.Replace(r.pattern, Root, p.root, 1)
	p.mux.Handle(pattern, p.serve(pattern, r.handler))
}

// ServeHTTP sets the headers of all answers, those of the mux itself among them.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header(), p.policy)
	p.mux.ServeHTTP(w, r)
}

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
