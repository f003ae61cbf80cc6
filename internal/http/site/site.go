// Package site serves the pages of documentation to people, under /docs. It makes them of the Markdown that is a part of the program, and
// searches them. They need no key, no other host, and no scripts.
package site

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"lipsync/internal/http/static"
)

// Root is the path of all pages.
const Root = "/docs"

// index is the page that lists all others, by what people do with the service.
const index = "docs/README.md"

// policy is the pages' Content-Security-Policy: they load the service's own files only.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

//go:embed page.html
var layout string

// Site has the pages.
type Site struct {
	files  fs.FS
	static static.Files
	layout *template.Template
	read   func() (*book, error) // reads the pages at its first use, since few starts of the service are followed by one
}

// New returns the site of the Markdown pages, texts and pictures of a repository's files.
func New(files fs.FS) (*Site, error) {
	loaded, err := static.Read()
	if err != nil {
		return nil, err
	}
	s := &Site{files: files, static: loaded}
	s.read = sync.OnceValues(func() (*book, error) { return readBook(files) })
	if s.layout, err = loaded.WithHead(template.New("page"), Root); err == nil {
		s.layout, err = s.layout.Funcs(template.FuncMap{"address": address}).Parse(layout)
	}
	return s, err
}

// shown is what a page shows.
type shown struct {
	Title  string
	Here   string // path of the page in the repository, "" for results of a search
	Groups []group
	Page   *page
	Query  string
	Found  []result
}

// Script is the name of the page's script.
func (shown) Script() string { return "script" }

// ServeHTTP answers a call with a page, a picture or the results of a search.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache") // a browser asks whether its copy is still the page
	book, err := s.read()
	switch name, _ := strings.CutPrefix(r.URL.Path, Root); {
	case err != nil:
		http.Error(w, "the pages can't be read", http.StatusInternalServerError)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	case name == "":
		http.Redirect(w, r, Root+"/", http.StatusMovedPermanently)
	case strings.HasPrefix(name, "/static/"):
		if !s.static.Serve(w, r, path.Base(name)) {
			s.miss(w, r, book)
		}
	case name == "/search":
		query := r.FormValue("q")
		s.send(w, r, http.StatusOK, shown{Title: cmp.Or(query, "Search"), Groups: book.groups, Query: query, Found: book.search(query)})
	default:
		s.page(w, r, book, name[1:])
	}
}

// page answers with the page or picture of that address below Root.
func (s *Site) page(w http.ResponseWriter, r *http.Request, book *book, name string) {
	if p := book.pages[name]; p != nil {
		s.send(w, r, http.StatusOK, shown{Title: p.Title, Here: p.path, Groups: book.groups, Page: p})
		return
	}
	picture, err := fs.ReadFile(s.files, "docs/"+name)
	if err != nil || path.Dir(name) != "pictures" {
		s.miss(w, r, book)
		return
	}
	serve(w, r, http.StatusOK, name, picture)
}

// miss answers that there is no such page.
func (s *Site) miss(w http.ResponseWriter, r *http.Request, book *book) {
	s.send(w, r, http.StatusNotFound, shown{Title: "There is no such page", Groups: book.groups})
}

// send renders a page.
func (s *Site) send(w http.ResponseWriter, r *http.Request, status int, page shown) {
	var body bytes.Buffer
	if err := s.layout.Execute(&body, page); err != nil {
		http.Error(w, "the page can't be shown", http.StatusInternalServerError)
		return
	}
	serve(w, r, status, "page.html", body.Bytes())
}

// serve sends content. A browser that has it already gets none.
func serve(w http.ResponseWriter, r *http.Request, status int, name string, content []byte) {
	if status != http.StatusOK {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(content) // the browser may be gone
		return
	}
	sum := sha256.Sum256(content)
	w.Header().Set("ETag", fmt.Sprintf("%q", hex.EncodeToString(sum[:8])))
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
}
