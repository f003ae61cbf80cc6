// Package dashboard serves the pages for people, under /dashboard. It renders them, and a browser
// can show them without scripts. Scripts add uploads with their progress, and pages that update
// by themselves.
//
// People sign in differently on one machine and on AWS: see signin.SignIn.
package dashboard

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"lipsync/internal/domain/service"
	"lipsync/internal/http/reference"
	"lipsync/internal/http/shown"
	"lipsync/internal/http/signin"
)

// Root is the path of all pages, after the deployment's own Prefix.
const Root = "/dashboard"

// maxBody is the largest body of a form in bytes: the addresses of all media, some names and many segments fit.
const maxBody = 256 << 10

// maxList is the largest body of a form with a batch: a thousand lines with two signed URLs each.
const maxList = 4 << 20

// Options are the parts that differ between one machine and AWS.
type Options struct {
	Log      *slog.Logger
	SignIn   signin.SignIn
	Sessions signin.Sessions
	People   signin.People // nil if an operator invites people
	Secret   [32]byte      // encrypts the cookies of sessions
	// PublicURL is the address of the service for people. If it is nil, each page uses the scheme
	// and host of its call.
	PublicURL *url.URL
	// Prefix is the path before Root, as browsers see it: "", or the path of a stage.
	Prefix   string
	Storage  *url.URL // host that files are sent to, nil if it is the service's own
	Document []byte   // openapi.yaml, as the API serves it
	Docs     string   // path of the documentation's pages, "" if the service has none
}

// New returns the handler of all paths under Root, and of "/", which leads to Root.
func New(service *service.Service, o Options) (http.Handler, error) {
	p := &pages{Options: o, service: service, mux: http.NewServeMux(), root: o.Prefix + Root}
	p.policy = newPolicy(o.Storage, o.SignIn.SignOutURL())
	var err error
	if p.views, err = parseViews(p.root, template.FuncMap{
		"tabs": p.tabs, "waited": p.waited, "took": p.took, "until": p.until, "expires": p.service.OutputExpires, "ago": func(t time.Time) string { return shown.Ago(t, p.service.Now()) },
		"distant": func(t time.Time) bool { return shown.Distant(t, p.service.Now()) },
	}); err != nil {
		return nil, err
	}
	p.reference = sync.OnceValues(func() (reference.Reference, error) { return reference.Parse(o.Document) }) // parsed at its first use, since few people open it
	if p.sealer, err = signin.NewSealer(o.Secret, sessionCookie); err != nil {
		return nil, err
	}
	if p.wanted, err = signin.NewSealer(o.Secret, wantedCookie); err != nil {
		return nil, err
	}
	p.mount()
	return p, nil
}

// pages has the parts that each call needs.
type pages struct {
	Options
	service   *service.Service
	views     views
	sealer    signin.Sealer // for cookies of sessions
	wanted    signin.Sealer // for cookies of pages that were asked for before signing in
	mux       *http.ServeMux
	root      string // beginning of the paths of all pages, as browsers see them
	policy    string // the pages' Content-Security-Policy
	reference func() (reference.Reference, error)
	archiving sync.Map // the accounts that an archive is being sent to
}

// route is one row of the dashboard.
type route struct {
	pattern string
	handler handler
}

// private returns the routes for people who are signed in.
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
		{"POST /dashboard/analyses", p.analyze},
		{"GET /dashboard/analyses/{id}", p.showAnalysis},
		{"POST /dashboard/estimates", p.estimate},
		{"GET /dashboard/estimates/{id}", p.showEstimate},
		{"POST /dashboard/previews", p.preview},
		{"GET /dashboard/previews/{id}", p.showPreview},
		{"GET /dashboard/batches/{id}/outputs", p.downloadBatch},
		{"GET /dashboard/batches", p.listBatches},
		{"POST /dashboard/batches", p.createBatch},
		{"GET /dashboard/batches/{id}", p.showBatch},
		{"POST /dashboard/batches/{id}/cancel", p.cancelBatch},
		{"GET /dashboard/usage", p.showUsage},
		{"GET /dashboard/calls", p.listCalls},
		{"GET /dashboard/api", p.showAPI},
		{"GET /dashboard/api/{tag}", p.showPartOfAPI},
		{"GET /dashboard/api/first-call", p.showFirstCall},
		{"GET /dashboard/webhooks", p.listWebhooks},
		{"POST /dashboard/webhooks", p.owned(p.createWebhook)},
		{"GET /dashboard/webhooks/{id}", p.showWebhook},
		{"POST /dashboard/webhooks/{id}/rotate", p.owned(p.rotateWebhook)},
		{"POST /dashboard/webhooks/{id}/enable", p.owned(p.enableWebhook)},
		{"POST /dashboard/webhooks/{id}/test", p.owned(p.testWebhook)},
		{"POST /dashboard/webhooks/{id}/redeliver", p.owned(p.redeliverAll)},
		{"POST /dashboard/webhooks/{id}/deliveries/{delivery}/redeliver", p.owned(p.redeliver)},
		{"GET /dashboard/webhooks/{id}/delete", p.owned(p.askDeleteWebhook)},
		{"POST /dashboard/webhooks/{id}/delete", p.owned(p.deleteWebhook)},
		{"GET /dashboard/settings/keys", p.listKeys},
		{"POST /dashboard/settings/keys", p.owned(p.createKey)},
		{"GET /dashboard/settings/keys/{id}/revoke", p.owned(p.askRevoke)},
		{"POST /dashboard/settings/keys/{id}/revoke", p.owned(p.revokeKey)},
		{"GET /dashboard/settings/people", p.owned(p.listPeople)},
		{"POST /dashboard/settings/people", p.owned(p.invite)},
		{"POST /dashboard/settings/people/remove", p.owned(p.removePerson)},
		{"POST /dashboard/sign-out", p.signOut},
	}
}

func (p *pages) mount() {
	for _, r := range []route{
		{"GET /{$}", p.leads("")},
		{"GET /dashboard/{$}", p.leads("")},
		{"GET /dashboard/settings", p.leads("/settings/keys")},
		{"GET /dashboard/sign-in", p.signIn},
		{"POST /dashboard/sign-in", ownForm(p.signIn)},
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

// leads returns a handler that redirects to the path, which follows the root.
func (p *pages) leads(path string) handler {
	return func(v *visit) error { return v.leadTo(p.root + path) }
}

// lost answers that there is no such page. It shows the menu if the person is signed in.
func (p *pages) lost(v *visit) (err error) {
	if v.session, err = v.resume(); err != nil {
		return err
	}
	return missing()
}

// handle adds a route to the mux, after the prefix.
func (p *pages) handle(r route) {
	pattern := strings.Replace(r.pattern, Root, p.root, 1)
	p.mux.Handle(pattern, p.serve(pattern, r.handler))
}

// ServeHTTP sets the headers of all answers, also of the answers of the mux itself.
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	setHeaders(w.Header(), p.policy)
	p.mux.ServeHTTP(w, r)
}

// base returns the address of the service for people, without a path.
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
