package dashboard

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/reference"
	"lipsync/internal/http/shown"
	"lipsync/internal/http/static"
)

//go:embed pages
var pageFiles embed.FS

// frame has the content of a page, and the parts around it that all pages show.
type frame struct {
	View, Title string
	Session     *session
	Page        any
}

// Script returns the name of the page's script.
func (f frame) Script() string {
	if f.View == "new" {
		return "form"
	}
	return "script"
}

// views has the pages by name, and the files that they load.
type views struct {
	pages map[string]*template.Template
	files static.Files // that pages load
}

// parseViews parses the templates, each page with the layout around it. Links to pages begin with
// root. The templates may also call the functions of more.
func parseViews(root string, more template.FuncMap) (views, error) {
	loaded, err := static.Read()
	if err != nil {
		return views{}, err
	}
	v := views{map[string]*template.Template{}, loaded}
	layout, err := loaded.WithHead(template.New("layout"), root)
	if err == nil {
		layout, err = layout.Funcs(v.functions(root)).Funcs(more).ParseFS(pageFiles, "pages/shared/*.html")
	}
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

func (v views) render(w io.Writer, name string, f frame) error {
	return v.pages[name].ExecuteTemplate(w, "layout", f)
}

// static serves the files that pages load.
func (p *pages) static(v *visit) error {
	if !p.views.files.Serve(v, v.Request, v.PathValue("name")) {
		return missing()
	}
	return nil
}

// functions returns the functions that templates may call.
func (v views) functions(root string) template.FuncMap {
	return template.FuncMap{
		"root":       func() string { return root },
		"spell":      shown.Spell,
		"sync":       shown.Sync,
		"warnings":   shown.Warnings,
		"short":      func(id string) string { return id[:min(8, len(id))] },
		"stamp":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"moment":     func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04 UTC") },
		"date":       func(t time.Time) string { return t.UTC().Format("Mon 2 Jan 2006") },
		"lower":      strings.ToLower,
		"minutes":    func(d time.Duration) string { return fmt.Sprintf("%.1f", d.Minutes()) },
		"bars":       shown.NewBars,
		"name":       shown.Name,
		"under":      shown.Under,
		"bytes":      failure.Spell,
		"videos":     func() string { return order.VideoFormats },
		"pictures":   func() string { return order.PictureFormats },
		"sounds":     func() string { return order.SoundFormats },
		"everything": func(t []lipsync.EventType) bool { return t == nil },
		"size":       shown.Size,
		"options":    shown.Options,
		"applied":    shown.Applied,
		"verdict":    shown.Verdict,
		"summary":    shown.Summary,
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

// tabs returns the menu on the page of a view.
func (p *pages) tabs(view string) []tab {
	var all []tab
	for _, t := range []struct {
		path, name string
		views      []string
	}{
		{"", "Requests", []string{"requests", "request", "delete"}}, {"/batches", "Batches", []string{"batches", "batch"}},
		{"/webhooks", "Webhooks", []string{"webhooks", "webhook", "delete-webhook"}}, {"/usage", "Usage", []string{"usage", "calls"}},
		{"/api", "API", []string{"api", "first-call"}}, {"/settings/keys", "Settings", []string{"keys", "revoke", "people"}},
	} {
		all = append(all, tab{p.root + t.path, t.name, slices.Contains(t.views, view)})
	}
	if p.Docs != "" {
		all = append(all, tab{p.Docs + "/", "Docs", false})
	}
	return all
}
