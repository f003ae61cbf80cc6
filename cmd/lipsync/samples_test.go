package main

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSamples runs the calls that the dashboard's page on the API shows, with media
// that there are.
func TestSamples(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	files := httptest.NewServer(http.FileServer(http.Dir(filepath.Dir(fixtures.video))))
	defer files.Close()
	page := s.page(t, "/dashboard/api")
	key := newKey(t, data)
	for _, c := range []struct{ name, file, program string }{
		{"curl", "sample.sh", "sh"}, {"python", "sample.py", "python3"}, {"typescript", "sample.ts", "node"}, {"go", "main.go", "go run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := regexp.MustCompile(`(?s)id="sample-` + c.name + `">(.*?)</pre>`).FindStringSubmatch(page)
			if found == nil {
				t.Fatal("it is not in the page")
			}
			text := strings.NewReplacer("https://example.com/talk.mp4", files.URL+"/video.mp4",
				"https://example.com/speech.wav", files.URL+"/speech.wav").Replace(html.UnescapeString(found[1]))
			path := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.name == "typescript" && !runsTypeScript(t) {
				t.Skip("node is older than 23.6, which runs TypeScript by itself")
			}
			words := append(strings.Fields(c.program), path)
			run := exec.CommandContext(t.Context(), words[0], words[1:]...)
			run.Env = append(os.Environ(), "LIPSYNC_KEY="+key)
			out, err := run.CombinedOutput()
			if err != nil || !strings.Contains(string(out), s.url+"/objects/outputs/") {
				t.Errorf("got %s (%v), want where the output is", out, err)
			}
		})
	}
}

// runsTypeScript tells whether there is a node that does.
func runsTypeScript(t *testing.T) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.ts")
	if err := os.WriteFile(path, []byte("const x: number = 1"), 0o600); err != nil {
		t.Fatal(err)
	}
	return exec.CommandContext(t.Context(), "node", path).Run() == nil
}

// page signs in and returns a page of the dashboard.
func (s *server) page(t *testing.T, path string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	var body []byte
	for _, address := range []string{s.link(t), s.url + path} {
		response, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		body, err = io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s: got %s, %v", path, response.Status, err)
		}
	}
	return string(body)
}
