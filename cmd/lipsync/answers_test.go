package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"lipsync/internal/http/rest"
	"lipsync/internal/test/check"
	"lipsync/internal/work/worker"
)

// wrongAnswers are those of a server that doesn't send the video, by the names in docs/measurements/answers.txt. nil is none.
func wrongAnswers(t *testing.T) map[string]http.HandlerFunc {
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write(read(t, fixtures.video))
	z.Close()
	return map[string]http.HandlerFunc{
		"a web page":               answer(200, "<!DOCTYPE html><title>Virus scan warning</title>"),
		"a redirect to a sign-in":  answer(http.StatusFound, "", "Location", "/page"),
		"JSON":                     answer(200, `{"error":"expired"}`),
		"XML":                      answer(200, `<?xml version="1.0"?><Error/>`),
		"an empty body":            answer(200, ""),
		"204":                      answer(204, ""),
		"a text":                   answer(200, "not here"),
		"a PDF":                    answer(200, "%PDF-1.7"),
		"an archive":               answer(200, zipped.String()),
		"bytes that are no medium": answer(200, "\x00\x01\x02\x03"),
		"a HEIC":                   answer(200, "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
		"Content-Encoding: br":     answer(200, "x", "Content-Encoding", "br"),
		"gzip that is cut off":     answer(200, zipped.String()[:1000], "Content-Encoding", "gzip"),
		"gzip that isn't":          answer(200, "not compressed", "Content-Encoding", "gzip"),
		"gzip without a byte":      answer(200, "", "Content-Encoding", "gzip"),
		"403":                      answer(403, ""),
		"401":                      answer(401, ""),
		"404":                      answer(404, ""),
		"410":                      answer(410, ""),
		"redirects without end":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x"+r.URL.Path, http.StatusFound) },
		"429":                      answer(429, "", "Retry-After", "100"),
		"500":                      answer(500, ""),
		"a connection that closes": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"a body that is cut off":   answer(200, "123", "Content-Length", "9000000"),
		"a body that stops": func(w http.ResponseWriter, r *http.Request) {
			answer(200, "123", "Content-Length", "9000000")(w, r)
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
		},
		"no connection":           nil,
		"206, a part of the file": answer(206, "123", "Content-Range", "bytes 0-2/9000"),
	}
}

// nextTry is what a reason says of a request that waits.
var nextTry = regexp.MustCompile(`tried (once|\d+ times), retry at [0-9T:Z-]+`)

// TestWrongAnswers makes a request of each wrong answer, and compares what the API, the dashboard and the command line say with the table in the docs.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	table, answers := check.Rows(t, "../../docs/measurements/answers.txt"), wrongAnswers(t)
	data := t.TempDir()
	s := startServer(t, data, "--allow-private-networks")
	c := testClient{s.url, newKey(t, data)}
	jar, _ := cookiejar.New(nil)
	browser := http.Client{Jar: jar}
	if r, err := browser.PostForm(s.link(t), nil); err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("sign in: %v, %v", r, err)
	}
	mux := http.NewServeMux()
	files := httptest.NewServer(mux)
	defer files.Close()
	defer files.CloseClientConnections()
	mux.HandleFunc("/page", answers["a web page"])
	mux.HandleFunc("/audio", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, fixtures.speech) })
	mux.HandleFunc("/x/", answers["redirects without end"])
	ids, n := make(map[string]string), 0
	for name, answer := range answers {
		video := "http://127.0.0.1:1/video"
		if n++; answer != nil {
			video = fmt.Sprint(files.URL, "/", n)
			mux.HandleFunc(fmt.Sprint("/", n), answer)
		}
		ids[name] = c.start(t, video, files.URL+"/audio")
	}
	for name := range table {
		if answers[name] == nil && name != "no connection" {
			t.Errorf("%s: no such answer is tried", name)
		}
	}
	end := time.Now().Add(time.Minute + worker.StallTime)
	for name, id := range ids {
		want := fmt.Sprint(table[name])
		got := fmt.Sprint(said(t, c, browser, data, id))
		for ; got != want && time.Now().Before(end); got = fmt.Sprint(said(t, c, browser, data, id)) {
			time.Sleep(200 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// said returns the status, the sentence and the reason of a request as the API has them, or what the dashboard or the command line says otherwise.
func said(t *testing.T, c testClient, browser http.Client, data, id string) []string {
	t.Helper()
	var d struct{ Reason string }
	r, err := c.request(t.Context(), id)
	if err == nil {
		err = c.call(t.Context(), http.MethodGet, rest.Base+rest.RequestsPath+"/"+id+"/details", "", nil, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	answer, err := browser.Get(c.base + "/dashboard/requests/" + id)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	shown, listed := "What is known: "+d.Reason+".", r.ErrorMessage+": "+d.Reason
	if r.Status != "failed" {
		shown, listed = "It waits: "+d.Reason+".", d.Reason
	}
	if text := html.UnescapeString(string(page)); !strings.Contains(text, shown) || !strings.Contains(text, r.ErrorMessage) {
		return []string{"a page without", shown}
	}
	list, _, _ := command(t, "requests", "list", "--data", data)
	line := list[strings.Index(list, id):]
	if line, _, _ = strings.Cut(line, "\n"); !strings.HasSuffix(line, "  "+listed) {
		return []string{line, "instead of", listed}
	}
	return []string{r.Status, r.ErrorMessage, nextTry.ReplaceAllString(strings.Replace(d.Reason, "127.0.0.1", "HOST", 1), "tried N times, retry at TIME")}
}
