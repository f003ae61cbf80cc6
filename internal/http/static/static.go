// Package static has the files that pages of the dashboard load: scripts, the style sheet, the font with its licence, and the icon.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

//go:embed files
var embedded embed.FS

//go:embed head.html
var head string

// WithHead returns the template with another one, named head, which begins a page: up to its link to the content. It takes a Title and the name
// of a Script. Its links to files begin with root.
func (f Files) WithHead(t *template.Template, root string) (*template.Template, error) {
	return t.Funcs(template.FuncMap{"asset": func(name string) string { return root + "/static/" + f.Name(name) }}).Parse(head)
}

// Files has the files by the names with which pages link to them.
type Files map[string]file

// file is a file that pages load. Its path depends on its content, so that a browser may keep it for
// ever.
type file struct {
	name, mediaType string
	content, packed []byte // packed is the content by gzip, nil if that isn't smaller
}

// Name returns the last part of the file's path.
func (f Files) Name(of string) string { return f[of].name }

// formScripts are the scripts of the form for a new request. Its page needs no others, and no other page needs them.
var formScripts = []string{"files/new.js", "files/segments.js", "files/studio.js"}

// sharedScript has the functions that both need.
const sharedScript = "files/wave.js"

// Read reads the style sheet, the font with its licence, and the icon, joins the form's scripts to one, and all other scripts to another.
func Read() (Files, error) {
	f := Files{}
	var script, form []byte
	names, err := fs.Glob(embedded, "files/*.js")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := embedded.ReadFile(name)
		if err != nil {
			return nil, err
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
	f.add("script", ".js", "text/javascript; charset=utf-8", script)
	f.add("form", ".js", "text/javascript; charset=utf-8", form)
	for _, one := range []struct{ name, file, extension, mediaType string }{
		{"icon", "icon.svg", ".svg", "image/svg+xml"}, {"font", "hanken-grotesk.woff2", ".woff2", "font/woff2"},
		{"licence", "hanken-grotesk.OFL.txt", ".txt", "text/plain; charset=utf-8"}, {"style", "style.css", ".css", "text/css; charset=utf-8"},
	} {
		content, err := embedded.ReadFile("files/" + one.file)
		if err != nil {
			return nil, err
		}
		if one.name == "style" { // which loads the font
			content = bytes.Replace(content, []byte("url(FONT)"), []byte("url("+f.Name("font")+")"), 1)
		}
		f.add(one.name, one.extension, one.mediaType, content)
	}
	return f, nil
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

func (f Files) add(name, extension, mediaType string, content []byte) {
	sum := sha256.Sum256(content)
	f[name] = file{name + "." + hex.EncodeToString(sum[:6]) + extension, mediaType, content, pack(content)}
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

// Serve answers a call with the file whose path ends with the name. It reports whether there is one.
func (f Files) Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	for _, one := range f {
		if one.name != name {
			continue
		}
		h, content := w.Header(), one.content
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("Content-Type", one.mediaType)
		h.Set("Vary", "Accept-Encoding")
		if one.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			content = one.packed
		}
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(content) // the browser may be gone
		return true
	}
	return false
}
