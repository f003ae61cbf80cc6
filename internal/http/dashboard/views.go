package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/reference"
	"lipsync/internal/http/shown"
)

//go:embed pages
var pageFiles embed.FS

//go:embed static
var staticFiles embed.FS

// frame has the content of a page, and the parts around it that all pages show.
type frame struct {
	View, Title string
	Session     *session
	Page        any
}

// views has the pages by name, and the files that they load.
type views struct {
	pages  map[string]*template.Template
	assets map[string]asset // by the name with which pages link to it
}

// asset is a file that pages load. Its path depends on its content, so that a browser may keep it for
// ever.
type asset struct {
	name, mediaType string
	content, packed []byte // packed is the content by gzip, nil if that isn't smaller
}

// parseViews parses the templates, each page with the layout around it. Links to pages begin with
// root. The templates may also call the functions of more.
func parseViews(root string, more template.FuncMap) (views, error) {
	v := views{pages: map[string]*template.Template{}, assets: map[string]asset{}}
	if err := v.readAssets(); err != nil {
		return v, err
	}
	layout, err := template.New("layout").Funcs(v.functions(root)).Funcs(more).ParseFS(pageFiles, "pages/shared/*.html")
	if err != nil {
		return v, err
	}
	files, err := fs.Glob(pageFiles, "pages/*.html")
	if err != nil {
		return v, err
	}
	for _, file := range files {
		page, err := layout.Clone()
		if err == nil {
			page, err = page.ParseFS(pageFiles, file)
		}
		if err != nil {
			return v, err
		}
		v.pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	return v, nil
}

// formScripts are the scripts of the form for a new request. Its page needs no others, and no other page needs them.
var formScripts = []string{"static/new.js", "static/segments.js", "static/studio.js"}

// sharedScript has the functions that both need.
const sharedScript = "static/wave.js"

// readAssets reads the style sheet, the font with its licence, and the icon, joins the form's scripts to one, and all other scripts to another.
func (v views) readAssets() error {
	var script, form []byte
	names, err := fs.Glob(staticFiles, "static/*.js")
	if err != nil {
		return err
	}
	for _, name := range names {
		b, err := staticFiles.ReadFile(name)
		if err != nil {
			return err
		}
		switch b = withoutComments(b); {
		case name == sharedScript:
			script, form = slices.Concat(b, script), slices.Concat(b, form)
		case slices.Contains(formScripts, name):
			form = append(form, b...)
		default:
			script = slices.Concat(script, []byte("{\n"), b, []byte("}\n"))
		}
	}
	v.add("script", ".js", "text/javascript; charset=utf-8", script)
	v.add("form", ".js", "text/javascript; charset=utf-8", form)
	for _, file := range []struct{ name, file, extension, mediaType string }{
		{"icon", "icon.svg", ".svg", "image/svg+xml"}, {"font", "hanken-grotesk.woff2", ".woff2", "font/woff2"},
		{"licence", "hanken-grotesk.OFL.txt", ".txt", "text/plain; charset=utf-8"}, {"style", "style.css", ".css", "text/css; charset=utf-8"},
	} {
		content, err := staticFiles.ReadFile("static/" + file.file)
		if err != nil {
			return err
		}
		if file.name == "style" { // which loads the font
			content = bytes.Replace(content, []byte("url(FONT)"), []byte("url("+v.assets["font"].name+")"), 1)
		}
		v.add(file.name, file.extension, file.mediaType, content)
	}
	return nil
}

// withoutComments removes the lines of a script that have only a comment. No template literal of a
// script has more than one line, so it removes no part of a literal.
func withoutComments(script []byte) (kept []byte) {
	for line := range bytes.Lines(script) {
		if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("//")) {
			kept = append(kept, line...)
		}
	}
	return kept
}

func (v views) add(name, extension, mediaType string, content []byte) {
	sum := sha256.Sum256(content)
	v.assets[name] = asset{name + "." + hex.EncodeToString(sum[:6]) + extension, mediaType, content, pack(content)}
}

// pack returns the content by gzip, nil if that isn't smaller.
func pack(content []byte) []byte {
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is right
	_, _ = w.Write(content)                                    // to memory
	_ = w.Close()
	if packed.Len() >= len(content) {
		return nil
	}
	return packed.Bytes()
}

func (v views) render(w io.Writer, name string, f frame) error {
	return v.pages[name].ExecuteTemplate(w, "layout", f)
}

// static serves the files that pages load.
func (p *pages) static(v *visit) error {
	for _, a := range p.views.assets {
		if a.name == v.PathValue("name") {
			v.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
			v.Header().Set("Content-Type", a.mediaType)
			content := a.content
			if v.Header().Set("Vary", "Accept-Encoding"); a.packed != nil && strings.Contains(v.Request.Header.Get("Accept-Encoding"), "gzip") {
				v.Header().Set("Content-Encoding", "gzip")
				content = a.packed
			}
			v.WriteHeader(http.StatusOK)
			_, _ = v.Write(content) // the browser may be gone
			return nil
		}
	}
	return missing()
}

// functions returns the functions that templates may call.
func (v views) functions(root string) template.FuncMap {
	return template.FuncMap{
		"asset":      func(name string) string { return root + "/static/" + v.assets[name].name },
		"root":       func() string { return root },
		"spell":      shown.Spell,
		"sync":       shown.Sync,
		"short":      func(id string) string { return id[:min(8, len(id))] },
		"stamp":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"moment":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") },
		"date":       func(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006") },
		"lower":      strings.ToLower,
		"minutes":    func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Minutes()) },
		"tabs":       func(view string) []tab { return newTabs(root, view) },
		"bars":       shown.NewBars,
		"bytes":      failure.Spell,
		"videos":     func() string { return order.VideoFormats },
		"pictures":   func() string { return order.PictureFormats },
		"sounds":     func() string { return order.SoundFormats },
		"everything": func(t []lipsync.EventType) bool { return t == nil },
		"size":       shown.Size,
		"options":    optionsOf,
		"prose":      reference.Prose,
		"text":       text,
	}
}

// text escapes s for a place between tags. Quotes need no escapes there, and with them the page about
// the API would be too large.
func text(s string) template.HTML {
	return template.HTML(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))
}

// tab is a link of the menu.
type tab struct {
	Path, Name string
	Here       bool // the shown page is that page, or belongs to it
}

// newTabs returns the menu on the page of a view.
func newTabs(root, view string) []tab {
	var all []tab
	for _, t := range []struct {
		path, name string
		views      []string
	}{
		{"", "Requests", []string{"requests", "request", "delete"}}, {"/batches", "Batches", []string{"batches", "batch"}},
		{"/webhooks", "Webhooks", []string{"webhooks", "webhook", "delete-webhook"}}, {"/usage", "Usage", []string{"usage"}},
		{"/api", "API", []string{"api", "first-call"}}, {"/settings/keys", "Settings", []string{"keys", "revoke"}},
	} {
		all = append(all, tab{root + t.path, t.name, slices.Contains(t.views, view)})
	}
	return all
}
