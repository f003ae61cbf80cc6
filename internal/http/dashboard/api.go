package dashboard

import (
	"net/http"
	"slices"

	"lipsync/internal/http/reference"
)

// apiPage is a page about the API: a part of the document, with the address of this service.
type apiPage struct {
	reference.Reference
	Base  string
	Docs  string            // path of the documentation's pages, "" if the service has none
	Part  string            // the tag of the only calls that are shown; "" for the page with what concerns all calls
	Calls []reference.Group // all calls, for the menu
}

// apiURL returns the address of the API, to which the paths of the document are added.
func (p *pages) apiURL(r *http.Request) string { return p.base(r).String() + "/api" }

// showAPI shows what concerns all calls.
func (p *pages) showAPI(v *visit) error { return p.showCalls(v, "") }

// showPartOfAPI shows the calls of one tag.
func (p *pages) showPartOfAPI(v *visit) error { return p.showCalls(v, v.PathValue("tag")) }

// showCalls shows the calls of a tag, by its slug, or with "" what concerns all calls.
func (p *pages) showCalls(v *visit, slug string) error {
	ref, err := p.reference()
	if err != nil {
		return err
	}
	page, title := apiPage{Reference: ref, Base: p.apiURL(v.Request), Docs: p.Docs, Calls: ref.Groups}, "API"
	page.Groups = nil
	if slug != "" {
		i := slices.IndexFunc(page.Calls, func(g reference.Group) bool { return g.Slug() == slug })
		if i < 0 {
			return missing()
		}
		page.Groups, page.Part = page.Calls[i:i+1], page.Calls[i].Name
		title += ": " + page.Part
	}
	return v.show(http.StatusOK, "api", title, page)
}

// showFirstCall shows programs that make a first call, with the address of this service.
func (p *pages) showFirstCall(v *visit) error {
	ref, err := p.reference()
	if err != nil {
		return err
	}
	return v.show(http.StatusOK, "first-call", "A first call", apiPage{Base: p.apiURL(v.Request), Part: "First call", Calls: ref.Groups})
}
