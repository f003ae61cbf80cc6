package site

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	repository "lipsync"
)

var (
	href = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	id   = regexp.MustCompile(` id="([^"]+)"`)
)

// TestLinks follows all links from the first page. Each leads to a page, a picture or a file of the site, and to an existing heading, or to
// another host over HTTPS. Each page is reached.
func TestLinks(t *testing.T) {
	server := newServer(t)
	seen, links := map[string]string{}, map[string]string{} // bodies of addresses; a page for each link
	queue := []string{Root + "/"}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if _, ok := seen[at]; ok {
			continue
		}
		status, kind, body := get(t, server, at)
		if seen[at] = body; status != http.StatusOK {
			t.Errorf("%s, to which %s links: got %d, want 200", at, links[at], status)
		}
		if !strings.HasPrefix(kind, "text/html") {
			continue
		}
		for _, found := range href.FindAllStringSubmatch(body, -1) {
			target, err := url.Parse(strings.ReplaceAll(found[1], "&amp;", "&"))
			switch {
			case err != nil:
				t.Errorf("%s: %v", at, err)
			case target.Scheme == "http" && target.Host == "localhost:8080" || target.Scheme == "https" || target.Scheme == "mailto":
			case target.IsAbs() || target.Host != "":
				t.Errorf("%s links to %s", at, target)
			case target.Path == "":
				links[at+"#"+target.Fragment] = at
			default:
				links[target.Path+"#"+target.Fragment], links[target.Path] = at, at
				queue = append(queue, target.Path)
			}
		}
	}
	for link, from := range links {
		page, anchor, _ := strings.Cut(link, "#")
		if anchor != "" && !slices.ContainsFunc(id.FindAllStringSubmatch(seen[page], -1), func(m []string) bool { return m[1] == anchor }) {
			t.Errorf("%s links to %s, which has no such heading", from, link)
		}
	}
	book := read(t)
	for name, page := range book.pages {
		if _, ok := seen[Root+"/"+name]; !ok && path.Ext(page.path) == ".md" {
			t.Errorf("no link leads to %s", page.path)
		}
	}
	if len(seen) < 40 {
		t.Errorf("got %d pages and files, want 40 or more", len(seen))
	}
}

// TestMenu checks that the menu has each page once, below the task for which people read it.
func TestMenu(t *testing.T) {
	book, seen, names := read(t), map[string]bool{}, []string{}
	for _, g := range book.groups {
		names = append(names, g.Name)
		for _, l := range g.Links {
			if seen[l.Path] {
				t.Errorf("%s is in the menu twice", l.Path)
			}
			seen[l.Path] = true
		}
	}
	if want := []string{"Use", "Operate", "Understand", "Change"}; !slices.Equal(names, want) {
		t.Errorf("got groups %q, want %q", names, want)
	}
	for _, page := range book.pages {
		if path.Ext(page.path) == ".md" && page.path != index && !seen[page.path] {
			t.Errorf("%s is not in the menu", page.path)
		}
	}
}

// TestSearch finds what people look for.
func TestSearch(t *testing.T) {
	book := read(t)
	for query, want := range map[string]string{
		"webhook signature": "/docs/webhooks", "backup": "/docs/backup", "Idempotency-Key": "/docs/api", "disk full": "/docs/operations", "c2pa": "/docs/provenance",
		"how tracking works": "/docs/architecture#how-tracking-works", "alarm": "/docs/infra/alarms",
	} {
		found := book.search(query)
		if !slices.ContainsFunc(found[:min(3, len(found))], func(r result) bool { return strings.HasPrefix(r.Address, want) }) {
			t.Errorf("%s: got %+v, want %s among the first three", query, found[:min(3, len(found))], want)
		}
	}
	for _, query := range []string{"", "  ", "?", "nothingatall", "webhook nothingatall"} {
		if found := book.search(query); len(found) > 0 {
			t.Errorf("%q: got %+v, want nothing", query, found)
		}
	}
}

// TestAnswers checks what isn't a page, and a page that the browser has.
func TestAnswers(t *testing.T) {
	server := newServer(t)
	for address, want := range map[string]int{
		"/docs/nothing": 404, "/docs/pictures/nothing.png": 404, "/docs/pictures/../docs.go": 404, "/docs/docs.go": 404, "/docs/static/x": 404, "/docs/search": 200,
		"/docs/pictures/plan.png": 200, "/docs/infra/README": 200, "/docs/search?q=%3Cscript%3E": 200,
	} {
		if status, _, body := get(t, server, address); status != want || strings.Contains(body, "<script>") {
			t.Errorf("%s: got %d, want %d", address, status, want)
		}
	}
	first, err := http.Get(server.URL + "/docs/")
	if err != nil {
		t.Fatal(err)
	}
	first.Body.Close()
	again, err := http.NewRequest(http.MethodGet, server.URL+"/docs/", nil)
	if err != nil {
		t.Fatal(err)
	}
	again.Header.Set("If-None-Match", first.Header.Get("ETag"))
	answer, err := http.DefaultClient.Do(again)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusNotModified || !strings.Contains(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %s and the policy %q", answer.Status, answer.Header.Get("Content-Security-Policy"))
	}
	posted, err := http.Post(server.URL+"/docs/", "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	posted.Body.Close()
	if posted.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: got %s", posted.Status)
	}
}

func newServer(t testing.TB) *httptest.Server {
	t.Helper()
	s, err := New(repository.Pages)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server
}

func read(t testing.TB) *book {
	t.Helper()
	b, err := readBook(repository.Pages)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// get returns the status, the type and the body of an answer.
func get(t *testing.T, server *httptest.Server, address string) (status int, kind, body string) {
	t.Helper()
	answer, err := http.Get(server.URL + address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), string(text)
}
