package main

import (
	"bytes"
	"context"
	"errors"
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
	"time"

	"lipsync/internal/test/sharedtest"
)

// pageSample is one of the programs on the dashboard's page about the API.
type pageSample struct{ name, file, program string }

// pageSamples returns all programs of the page, each with the program that runs it.
func pageSamples() []pageSample {
	return []pageSample{
		{"curl", "sample.sh", "sh"}, {"python", "sample.py", "python3"},
		{"typescript", "sample.mjs", "node"}, {"go", "main.go", "go run"},
	}
}

// TestSamples runs the programs of the dashboard's page about the API, as people copy them, in a folder
// with the files that they send. With a key each program gets the output. With a wrong key, or with media
// that can't be used, each program prints the API's sentence and fails.
func TestSamples(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	folder := t.TempDir()
	for name, path := range map[string]string{"talk.mp4": fixtures.video, "speech.wav": fixtures.speech} {
		if err := os.Symlink(path, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	page := html.UnescapeString(s.page(t, "/dashboard/api/first-call"))
	key := newKey(t, data)
	for _, c := range pageSamples() {
		t.Run(c.name, func(t *testing.T) {
			text, output := c.text(t, page), filepath.Join(folder, "output.mp4")
			if c.name == "typescript" {
				text = compile(t, text)
			}
			out, err := c.run(t, folder, text, key)
			if head, missing := os.ReadFile(output); err != nil || missing != nil || !bytes.Contains(head[:min(len(head), 16)], []byte("ftyp")) {
				t.Errorf("got %s (%v, %v), want output.mp4", out, err, missing)
			}
			if err := os.Remove(output); err != nil {
				t.Error(err)
			}
			if out, err := c.run(t, folder, text, key+"x"); err == nil || !strings.Contains(out, "invalid token") {
				t.Errorf("with a wrong key: got %s (%v), want a failure and the API's sentence", out, err)
			}
			exchanged := strings.NewReplacer("talk.mp4", "speech.wav", "speech.wav", "talk.mp4").Replace(text)
			if out, err := c.run(t, folder, exchanged, key); err == nil || !strings.Contains(out, "video has no picture") {
				t.Errorf("with exchanged files: got %s (%v), want a failure and the API's sentence", out, err)
			}
		})
	}
	curl := pageSamples()[0]
	if found := regexp.MustCompile(`(?m)(^|\s)#.*`).FindString(curl.text(t, page)); found != "" {
		t.Errorf("curl has the comment %q, which an interactive zsh would run", found)
	}
	if out, err := curl.run(t, folder, curl.text(t, page), ""); err == nil || !strings.Contains(out, "LIPSYNC_KEY: is not set") {
		t.Errorf("curl without a key: got %s (%v), want a failure that says so", out, err)
	}
}

// text returns the sample as the page shows it.
func (c pageSample) text(t *testing.T, page string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)id="sample-` + c.name + `">(.*?)</pre>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("it is not in the page")
	}
	return found[1]
}

// run runs a sample in a folder, to its end.
func (c pageSample) run(t *testing.T, folder, text, key string) (said string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), c.file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	words := append(strings.Fields(c.program), path)
	run := exec.CommandContext(ctx, words[0], words[1:]...)
	run.Dir = folder
	run.Env = append(os.Environ(), "LIPSYNC_KEY="+key)
	out, err := run.CombinedOutput()
	return string(out), err
}

// TestConversation runs the calls of the README, and then those of the API guide. With a key they get an
// output and send an upload. With a wrong key the calls of the README print the error and end.
func TestConversation(t *testing.T) {
	data, folder := t.TempDir(), t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	if err := os.Symlink(fixtures.video, filepath.Join(folder, "talk.mp4")); err != nil {
		t.Fatal(err)
	}
	// This server doesn't answer, so a request with its address is open until it is canceled.
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	here := strings.NewReplacer("http://127.0.0.1:8080", s.url, "https://example.com", silent.URL,
		"dist/demo/video.mp4", fixtures.video, "dist/demo/speech.wav", fixtures.speech)
	first := here.Replace(shellOf(t, "README.md", "API="))
	rest := here.Replace(shellOf(t, "docs/api.md", ""))
	c := pageSample{name: "conversation", file: "conversation.sh", program: "sh"}
	wrong, _ := c.run(t, folder, "KEY=$LIPSYNC_KEY\n"+first, "wrong")
	if got := strings.Count(wrong, "invalid token"); got != 3 {
		t.Errorf("with a wrong key: got %q, want the API's sentence 3 times", wrong)
	}
	const paddedCount = `wc() { printf '   %s\n' "$(command wc "$@")"; }` + "\n" // like wc of BSD and macOS
	out, err := c.run(t, folder, "set -e\nKEY=$LIPSYNC_KEY\n"+first+paddedCount+rest, newKey(t, data))
	if info, missing := os.Stat(filepath.Join(folder, "output.mp4")); err != nil || missing != nil || info.Size() == 0 {
		t.Errorf("got %s (%v, %v), want output.mp4", out, err, missing)
	}
	for _, want := range []string{`"percent":0`, `"error_message":"canceled by the client"`, `"attempts":1`, `"name":"warp"`} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s, want %s", out, want)
		}
	}
}

// shellOf returns those shell samples of a page that begin with a text.
func shellOf(t *testing.T, path, begin string) (text string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(sharedtest.Root(t), path))
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(page, -1) {
		if sample := string(found[1]); strings.HasPrefix(sample, begin) {
			text += sample
		}
	}
	if text == "" {
		t.Fatalf("%s has no shell samples", path)
	}
	return text
}

// compile compiles a program in TypeScript to JavaScript. The compiler checks its types.
func compile(t *testing.T, text string) string {
	t.Helper()
	modules, dir := filepath.Dir(tool(t, ".cache/node/node_modules/typescript")), t.TempDir()
	err := errors.Join(
		os.Symlink(modules, filepath.Join(dir, "node_modules")),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600),
		os.WriteFile(filepath.Join(dir, "sample.ts"), []byte(text), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	tsc := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "sample.ts")
	tsc.Dir = dir
	if out, err := tsc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(read(t, filepath.Join(dir, "sample.js")))
}

// page signs in and returns a page of the dashboard.
func (s *server) page(t *testing.T, path string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	if _, err := browser.PostForm(s.link(t), nil); err != nil {
		t.Fatal(err)
	}
	response, err := browser.Get(s.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v", path, response.Status, err)
	}
	return string(body)
}
