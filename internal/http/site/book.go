package site

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// book has all pages, by their addresses below Root.
type book struct {
	pages    map[string]*page
	groups   []group
	sections []section
}

// page is a page as HTML.
type page struct {
	path, Title string
	HTML        template.HTML
	Parts       []part
}

// part is a part of a page, with the heading of the second level.
type part struct{ ID, Title string }

// group is a part of the menu: the pages for one task.
type group struct {
	Name  string
	Links []link
}

// link is a link of the menu to a page, by its path in the repository.
type link struct{ Path, Name string }

// address returns the address of the page or picture of a path in the repository.
func address(file string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md")
	if file == index {
		name = ""
	}
	return Root + "/" + name
}

// markdown reads pages as GitHub does.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// readBook makes the pages of all Markdown and text files.
func readBook(files fs.FS) (*book, error) {
	b := &book{pages: map[string]*page{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		var p *page
		switch path.Ext(name) {
		case ".md":
			p, err = b.read(files, name, source)
		case ".txt":
			title := path.Base(name)
			p = &page{path: name, Title: title, HTML: dress("<h1>" + template.HTMLEscapeString(title) + "</h1><pre>" + template.HTMLEscapeString(string(source)) + "</pre>")}
		}
		if p != nil {
			b.pages[strings.TrimPrefix(address(name), Root+"/")] = p
		}
		return err
	})
	return b, err
}

// read makes a page of Markdown, and adds its sections to those that are searched.
func (b *book) read(files fs.FS, name string, source []byte) (*page, error) {
	p := &page{path: name}
	doc := markdown.Parser().Parse(text.NewReader(source))
	if name == index {
		b.groups = menu(doc, source)
	}
	var missing []*ast.Link
	err := ast.Walk(doc, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Image:
			if enter {
				n.Destination = []byte(resolve(name, string(n.Destination)))
			}
		case *ast.Link:
			if target := string(n.Destination); enter && !strings.HasPrefix(target, "#") && !strings.Contains(target, ":") {
				file, _, _ := strings.Cut(target, "#")
				if _, err := fs.Stat(files, path.Join(path.Dir(name), file)); err != nil || path.Ext(file) == "" {
					missing = append(missing, n)
				}
				n.Destination = []byte(resolve(name, target))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	for _, l := range missing { // its words stay
		for l.FirstChild() != nil {
			l.Parent().InsertBefore(l.Parent(), l, l.FirstChild())
		}
		l.Parent().RemoveChild(l.Parent(), l)
	}
	b.divide(p, doc, source)
	var html strings.Builder
	if err := markdown.Renderer().Render(&html, source, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.HTML = dress(html.String())
	return p, nil
}

// resolve returns the address of what a page links to.
func resolve(from, target string) string {
	file, anchor, marked := strings.Cut(target, "#")
	found := address(path.Join(path.Dir(from), file))
	if marked {
		found += "#" + anchor
	}
	return found
}

// divide gives each heading its name for addresses, and notes the title, the parts and the sections of the page.
func (b *book) divide(p *page, doc ast.Node, source []byte) {
	used := map[string]int{}
	var now *section
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok {
			if now != nil {
				now.text += plain(n, source) + " "
			}
			continue
		}
		title := strings.TrimSpace(plain(n, source))
		id := slug(title)
		if used[id]++; used[id] > 1 {
			id += "-" + strconv.Itoa(used[id]-1)
		}
		heading.SetAttributeString("id", []byte(id))
		at := section{page: p, id: id, heading: title}
		switch {
		case p.Title == "":
			p.Title, at.id, at.heading = title, "", ""
		case heading.Level == 2:
			p.Parts = append(p.Parts, part{id, title})
		}
		b.sections = append(b.sections, at)
		now = &b.sections[len(b.sections)-1]
	}
}

var marks = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)

// slug returns the name of a heading for addresses, as GitHub makes it.
func slug(title string) string {
	return strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// plain returns the text of a node and its children.
func plain(n ast.Node, source []byte) string {
	var s strings.Builder
	_ = ast.Walk(n, func(n ast.Node, enter bool) (ast.WalkStatus, error) { // it returns no error
		switch n := n.(type) {
		case *ast.Text:
			if enter {
				s.Write(n.Value(source))
				if n.SoftLineBreak() {
					s.WriteByte(' ')
				}
			}
		case *ast.FencedCodeBlock:
			if enter {
				s.Write(n.Lines().Value(source))
			}
		default:
			if !enter && n.Type() == ast.TypeBlock {
				s.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return s.String()
}

// menu returns the groups of the index: a paragraph that begins with a strong word, and the first link of each line of the list after it.
func menu(doc ast.Node, source []byte) (groups []group) {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if list, ok := n.(*ast.List); ok && len(groups) > 0 {
			last := &groups[len(groups)-1]
			_ = ast.Walk(list, func(n ast.Node, enter bool) (ast.WalkStatus, error) { // it returns no error
				if l, ok := n.(*ast.Link); ok && enter {
					target := string(l.Destination)
					if file := path.Join(path.Dir(index), target); path.Ext(file) == ".md" {
						last.Links = append(last.Links, link{file, capital(plain(l, source))})
					}
				}
				return ast.WalkContinue, nil
			})
		}
		if strong, ok := n.FirstChild().(*ast.Emphasis); ok && strong.Level == 2 {
			groups = append(groups, group{Name: plain(strong, source)})
		}
	}
	return groups
}

// capital returns the words with a capital at their beginning.
func capital(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// dress makes wide tables and code reachable by keys, and gives code a button that copies it. What it replaces isn't text, in which "<" is
// escaped.
func dress(html string) template.HTML {
	html = strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>").Replace(html)
	parts := strings.Split(html, "<pre>")
	for i := range parts[1:] {
		id := "code-" + strconv.Itoa(i+1)
		parts[i+1] = `<div class="copy"><pre tabindex="0" id="` + id + `">` +
			strings.Replace(parts[i+1], "</pre>", `</pre><button type="button" data-copy="`+id+`">Copy</button></div>`, 1)
	}
	return template.HTML(strings.Join(parts, ""))
}
