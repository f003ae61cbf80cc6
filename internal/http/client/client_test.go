package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/client"
	"lipsync/internal/test/check"
	"lipsync/internal/test/clienttest"
)

// fixture is a client of a service. Its pauses take no time.
type fixture struct {
	*clienttest.Service
	*client.Client
	pauses []time.Duration // between tries and reads
	faults []string
	paused func() // called in each pause
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{Service: clienttest.New(t), paused: func() {}}
	f.Client = &client.Client{URL: f.Service.URL, Key: f.Service.Key, Retry: client.Retry{
		Patience: 10 * time.Minute, Random: func() float64 { return 0 },
		Sleep: func(ctx context.Context, pause time.Duration) error {
			f.pauses = append(f.pauses, pause)
			f.paused()
			return ctx.Err()
		},
		Tell: func(fault error, _ time.Duration) { f.faults = append(f.faults, fault.Error()) },
	}}
	return f
}

// file writes a file of n bytes and returns its path.
func file(t *testing.T, name string, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", n)), 0o600))
	return path
}

func silent(done, total int64) {}

// request uploads media and makes a request of them.
func (f *fixture) request(t *testing.T) string {
	t.Helper()
	var o client.Order
	for kind, name := range map[failure.MediaKind]string{failure.Video: "talk.mp4", failure.Audio: "speech.wav"} {
		u, err := f.Send(t.Context(), kind, file(t, name, 1000), silent)
		check.Must(t, err)
		o.Inputs = append(o.Inputs, client.Input{Type: kind, URL: u})
	}
	id, err := f.Client.Generate(t.Context(), o, "once")
	check.Must(t, err)
	again, err := f.Client.Generate(t.Context(), o, "once")
	check.Must(t, err)
	if id != again {
		t.Errorf("the same key made %s and %s", id, again)
	}
	return id
}

// TestRequest takes a request from its media to its output.
func TestRequest(t *testing.T) {
	f := newFixture(t)
	name, err := f.Me(t.Context())
	check.Must(t, err)
	if name != "test" {
		t.Errorf("got the key %q", name)
	}
	id := f.request(t)
	r := f.Work(t, id)
	check.Must(t, f.Report(t.Context(), r, lipsync.Progress{Stage: order.Rendering, Percent: 40}))
	f.paused = func() { f.Finish(t, r, "output"); f.paused = func() {} }
	var seen []client.Progress
	done, err := f.Wait(t.Context(), id, func(p client.Progress) { seen = append(seen, p) })
	check.Must(t, err)
	if len(seen) != 2 || seen[0].Percent != 40 || seen[0].Stage != order.Rendering || done.Status != lipsync.Completed {
		t.Errorf("saw %+v, and %+v at the end", seen, done)
	}
	if !slices.Equal(f.pauses, []time.Duration{time.Second}) {
		t.Errorf("paused %v, want the second of Retry-After", f.pauses)
	}
	output := filepath.Join(t.TempDir(), "output")
	check.Must(t, f.Download(t.Context(), done, output, silent))
	if text, err := os.ReadFile(output); err != nil || string(text) != "output" {
		t.Errorf("got the output %q (%v)", text, err)
	}
	details, err := f.Client.Details(t.Context(), id)
	check.Must(t, err)
	if details.Frames.Total != 15 || details.Frames.Synced != 12 || len(details.Unsynced) != 1 || details.Unsynced[0].Reason != order.MouthHidden || details.LeftOut != 1 {
		t.Errorf("got %+v", details)
	}
	page, err := f.List(t.Context(), url.Values{"status": {"completed"}})
	check.Must(t, err)
	if len(page.Data) != 1 || page.Data[0].ID != id || page.Pagination.Total != 1 {
		t.Errorf("got the page %+v", page)
	}
	if _, err := f.Client.Cancel(t.Context(), id); client.StatusOf(err) != http.StatusConflict {
		t.Errorf("cancel of a finished request: %v", err)
	}
}

// TestBody sends a signed URL, whose & must take one byte. Escaped ones would make the bodies of large batches too large.
func TestBody(t *testing.T) {
	f := newFixture(t)
	const link = "https://example.com/video.mp4?a=1&b=2"
	var body []byte
	f.Break(func(w http.ResponseWriter, r *http.Request) bool {
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusBadRequest)
		return true
	})
	_, _ = f.Client.CreateBatch(t.Context(), client.Batch{Video: link}, "")
	if !strings.Contains(string(body), link) {
		t.Errorf("got the body %q, want %s in it", body, link)
	}
}

// TestAnalysis makes an analysis and reads it.
func TestAnalysis(t *testing.T) {
	f := newFixture(t)
	id, err := f.Client.Analyze(t.Context(), "https://example.com/talk.mp4")
	check.Must(t, err)
	text, after, err := f.Client.Analysis(t.Context(), id)
	check.Must(t, err)
	if !strings.Contains(string(text), `"status":"queued"`) || after != time.Second {
		t.Errorf("got %s, to be read after %v", text, after)
	}
}

// hangUp ends the connection of a call.
func hangUp(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }

// cutOff ends an answer within its body.
func cutOff(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Length", "6000")
	_, _ = io.WriteString(w, "outp")
	return true
}

// answering answers with an error.
func answering(status int, wait, sentence string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		if wait != "" {
			w.Header().Set("Retry-After", wait)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"error":"`+sentence+`"}`)
		return true
	}
}

// TestFaults breaks a read for its first calls. Faults that may pass are tried again after the pauses; others are not.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault  func(http.ResponseWriter, *http.Request) bool
		times  int
		pauses []time.Duration
		err    string
	}{
		"rate":          {answering(429, "40", "rate limit exceeded"), 2, []time.Duration{40 * time.Second, 40 * time.Second}, ""},
		"rate for long": {answering(429, "60", "rate limit exceeded"), 30, slices.Repeat([]time.Duration{time.Minute}, 30), ""},
		"full disk":     {answering(507, "30", "no space"), 1, []time.Duration{30 * time.Second}, ""},
		"full account":  {answering(507, "", "storage limit exceeded"), 1, nil, "storage limit exceeded"},
		"crash":         {answering(500, "", "internal error"), 3, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, ""},
		"cut off":       {cutOff, 2, []time.Duration{time.Second, 2 * time.Second}, ""},
		"not found":     {answering(404, "", "lipsync request not found"), 1, nil, "lipsync request not found"},
		"redirect":      {answering(301, "", ""), 1, nil, "the service answered 301 Moved Permanently"},
		"no JSON":       {func(w http.ResponseWriter, _ *http.Request) bool { _, _ = io.WriteString(w, "<html>"); return true }, 1, nil, "is not that of a lip sync service"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			id := f.request(t)
			f.Break(func(w http.ResponseWriter, r *http.Request) bool {
				c.times--
				return c.times >= 0 && c.fault(w, r)
			})
			_, err := f.Client.Request(t.Context(), id)
			if c.err == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if !slices.Equal(f.pauses, c.pauses) {
				t.Errorf("paused %v, want %v", f.pauses, c.pauses)
			}
		})
	}
}

// TestPatience has a service that stays away. A client gives up after its patience.
func TestPatience(t *testing.T) {
	f := newFixture(t)
	f.Break(hangUp)
	_, err := f.Client.Request(t.Context(), "id")
	var sum time.Duration
	for _, p := range f.pauses {
		sum += p
	}
	if err == nil || sum < 9*time.Minute || sum > 10*time.Minute {
		t.Errorf("got %v after %v of pauses", err, sum)
	}
	if _, err := f.Me(t.Context()); err == nil || f.pauses[len(f.pauses)-1] != 30*time.Second {
		t.Errorf("got %v, want a check that tries once", err)
	}
}

// TestEraseAll erases by several calls, until nothing is left or a call had no time for any.
func TestEraseAll(t *testing.T) {
	for last, fault := range map[string]string{`{"erased":3,"more":false}`: "", `{"erased":0,"more":true}`: "the service had no time to erase anything; try again later"} {
		f := newFixture(t)
		calls := 0
		f.Break(func(w http.ResponseWriter, _ *http.Request) bool {
			answer := `{"erased":2,"more":true}`
			if calls++; calls == 3 {
				answer = last
			}
			_, _ = io.WriteString(w, answer)
			return true
		})
		erased, err := f.Client.EraseAll(t.Context())
		if said := fmt.Sprint(err); fault != "" && said != fault || fault == "" && (err != nil || erased != 7) || calls != 3 {
			t.Errorf("%s: erased %d in %d calls (%v)", last, erased, calls, err)
		}
	}
}

// TestUploadFaults breaks the connection within an upload, lets its signed URL end, and refuses the file.
func TestUploadFaults(t *testing.T) {
	f := newFixture(t)
	calls := 0
	var announced int
	f.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			announced++
			return false
		}
		switch calls++; calls {
		case 1:
			_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
			return hangUp(w, r)
		case 2:
			return answering(403, "", "the link has expired")(w, r)
		case 3:
			return answering(507, "20", "no space")(w, r)
		}
		return false
	})
	var most int64
	u, err := f.Send(t.Context(), failure.Video, file(t, "talk.mp4", 4<<20), func(done, total int64) {
		most = max(most, done)
		if total != 4<<20 {
			t.Errorf("got the size %d", total)
		}
	})
	check.Must(t, err)
	if !strings.HasPrefix(u, "upload://") || most != 4<<20 || announced != 2 || calls != 4 {
		t.Errorf("got %s after %d announcements and %d tries, %d bytes", u, announced, calls, most)
	}
	if !slices.Equal(f.pauses, []time.Duration{time.Second, 2 * time.Second, 20 * time.Second}) {
		t.Errorf("paused %v", f.pauses)
	}
	f.Break(nil)
	_, err = f.Send(t.Context(), failure.Audio, file(t, "speech.wav", 2<<20), silent)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusRequestEntityTooLarge || !strings.Contains(refused.Message, "1 MiB") {
		t.Errorf("got %v, want the sentence of the API", err)
	}
}

// TestDownloadFaults cuts an output off. The client begins again with a new link, and leaves a whole file.
func TestDownloadFaults(t *testing.T) {
	f := newFixture(t)
	id := f.request(t)
	f.Finish(t, f.Work(t, id), strings.Repeat("output", 1000))
	done, err := f.Client.Request(t.Context(), id)
	check.Must(t, err)
	cut := 1
	f.Break(func(w http.ResponseWriter, r *http.Request) bool {
		cut--
		return cut >= 0 && cutOff(w, r)
	})
	output := filepath.Join(t.TempDir(), "output")
	check.Must(t, f.Download(t.Context(), done, output, silent))
	if text, err := os.ReadFile(output); err != nil || len(text) != 6000 || len(f.pauses) != 1 {
		t.Errorf("got %d bytes (%v) after the pauses %v", len(text), err, f.pauses)
	}
}

// TestLostAnswer loses the answer of a generate call. The client repeats it, and there is one request.
func TestLostAnswer(t *testing.T) {
	f := newFixture(t)
	lose := true
	f.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if !lose || !strings.HasSuffix(r.URL.Path, "/generate") {
			return false
		}
		lose = false
		f.API.ServeHTTP(discard{}, r)
		return hangUp(w, r)
	})
	f.request(t)
	page, err := f.List(t.Context(), nil)
	check.Must(t, err)
	if page.Pagination.Total != 1 || lose {
		t.Errorf("got %d requests (lost: %v), want 1", page.Pagination.Total, !lose)
	}
}

// discard is an http.ResponseWriter whose client is gone.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestClosedConnection ends a connection that was used before, in place of an answer, as servers do after some time. The same call comes again with its
// whole body, and the client has seen no fault.
func TestClosedConnection(t *testing.T) {
	f := newFixture(t)
	_, err := f.Me(t.Context()) // its connection stays open
	check.Must(t, err)
	var bodies []string
	f.Break(func(w http.ResponseWriter, r *http.Request) bool {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		bodies = append(bodies, string(body))
		if len(bodies) == 1 {
			return hangUp(w, r)
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		return false
	})
	_, err = f.Generate(t.Context(), client.Order{Inputs: []client.Input{
		{Type: failure.Video, URL: "https://example.com/v"}, {Type: failure.Audio, URL: "https://example.com/a"},
	}}, "key")
	if err != nil || len(f.faults) > 0 || len(bodies) != 2 || bodies[0] == "" || bodies[0] != bodies[1] {
		t.Errorf("sent %q (%v) with the faults %q, want the same twice without a fault", bodies, err, f.faults)
	}
}

// TestBusyAtFirst has a key with too many calls at the first one. Only such a refusal is tried again.
func TestBusyAtFirst(t *testing.T) {
	f := newFixture(t)
	status := http.StatusTooManyRequests
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if len(f.pauses) > 1 {
			io.WriteString(w, `{"name": "test"}`)
			return
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
	}))
	defer server.Close()
	var err error
	f.Client.URL, err = url.Parse(server.URL)
	check.Must(t, err)
	name, err := f.Me(t.Context())
	if err != nil || name != "test" || !slices.Equal(f.pauses, []time.Duration{7 * time.Second, 7 * time.Second}) {
		t.Errorf("got %q, %v after %v", name, err, f.pauses)
	}
	f.pauses, status = nil, http.StatusServiceUnavailable
	if _, err := f.Me(t.Context()); err == nil || len(f.pauses) > 0 {
		t.Errorf("got %v after %v, want the refusal at once", err, f.pauses)
	}
}

// TestWithin lets the handler of the same process answer.
func TestWithin(t *testing.T) {
	f := newFixture(t)
	within := &client.Client{URL: &url.URL{Scheme: "https", Host: "lips.example"}, Key: f.Service.Key, Calls: f.API}
	u, err := within.Announce(t.Context(), client.Announcement{Type: failure.Video, Size: 5})
	check.Must(t, err)
	if !strings.HasPrefix(u.UploadURL, "https://lips.example/") {
		t.Errorf("got the URL %s", u.UploadURL)
	}
	within.Key = "wrong"
	var refused *client.Error
	if _, err := within.Me(t.Context()); !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		t.Errorf("got %v", err)
	}
}

// TestStalledBody has a service whose answers and downloads stop half-way. The calls must end, and be tried again.
func TestStalledBody(t *testing.T) {
	stalls := 2
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := `{"name": "test", "output_url": "http://` + r.Host + `"}`
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		if stalls--; stalls < 0 {
			io.WriteString(w, text)
			return
		}
		io.WriteString(w, text[:5])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	address, err := url.Parse(server.URL)
	check.Must(t, err)
	f := newFixture(t)
	c := &client.Client{URL: address, Key: "k", Idle: 50 * time.Millisecond}
	if _, err := c.Me(t.Context()); err == nil || !strings.Contains(err.Error(), "nothing came for 50ms") {
		t.Errorf("got %v, want the stall", err)
	}
	c.Retry = f.Retry
	path := filepath.Join(t.TempDir(), "output")
	check.Must(t, c.Download(t.Context(), client.Request{ID: "x", OutputURL: server.URL}, path, silent))
}
