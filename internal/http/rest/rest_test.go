package rest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/cors"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/resttest"
)

// lossy is a queue that loses all messages. No test here needs a worker.
type lossy struct{}

func (lossy) Send(context.Context, lipsync.Request) error { return nil }

// fixture is a service on one machine, without a worker.
type fixture struct {
	service    *service.Service
	store      *sqlite.Store
	closeStore func() // closes the store, so that calls fail
	objects    *disk.Objects
	log        *bytes.Buffer // read it only when no call runs
	api        http.Handler
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "db"))
	if err != nil {
		t.Fatal(err)
	}
	closeStore := sync.OnceFunc(func() { store.Close() })
	t.Cleanup(closeStore)
	objects, err := disk.Open(filepath.Join(dir, "objects"), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	f := &fixture{store: store, closeStore: closeStore, objects: objects, log: new(bytes.Buffer)}
	f.service = lipsynctest.NewService(t, base.Config{GenerateRate: 60, ReadRate: 600, MaxVideo: 2 << 20, MaxAudio: 1 << 20, Engines: []string{"warp", "wav2lip"}}, base.Ports{
		Store:   store.Store,
		Objects: objects,
		Hints:   lossy{},
	})
	f.api = cors.Allow([]string{"*"}, New(f.service, Options{Log: slog.New(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}))
	return f
}

// key makes a key in a new account and returns its token.
func (f *fixture) key(t testing.TB) string {
	t.Helper()
	token, _, err := f.service.CreateKey(t.Context(), rand.Text(), "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// call makes one call and returns its answer. The log can be read afterwards.
func (f *fixture) call(r *http.Request, token string) *httptest.ResponseRecorder {
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	f.api.ServeHTTP(w, r)
	return w
}

// ServeHTTP serves the API and the signed URLs, as one machine does.
func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, disk.Prefix) {
		f.objects.Handler().ServeHTTP(w, r)
		return
	}
	f.api.ServeHTTP(w, r)
}

func (f *fixture) target(server *httptest.Server) resttest.Target {
	return resttest.Target{
		URL:          server.URL,
		Client:       server.Client(),
		NewKey:       resttest.KeysOf(f.service),
		NewReadOnly:  resttest.ReadOnlyOf(f.service),
		GenerateRate: f.service.GenerateRate, ReadRate: f.service.ReadRate,
		MaxVideo: f.service.MaxVideo, MaxAudio: f.service.MaxAudio, KeepOutputs: 30 * 24 * time.Hour,
	}
}

// TestContract runs the black-box suite and checks every answer by the document.
func TestContract(t *testing.T) {
	f := newFixture(t)
	server := httptest.NewServer(f)
	defer server.Close()
	doc := loadDocument(t)
	checked := &checkedTransport{t: t, doc: doc, next: server.Client().Transport, seen: map[string]bool{}}
	target := f.target(server)
	target.Client = &http.Client{Transport: checked}
	resttest.Run(t, target)
	f.cancelFinished(t, target.Client, server.URL)
	f.reachLimits(t, target.Client, server.URL)
	f.callDisabled(t, target.Client, server.URL)
	f.callUndelivered(t, target.Client, server.URL)
	f.callFullDisk(t, target.Client, server.URL)
	f.closeStore()
	checked.provokeFaults(server.URL)
	checked.compareStatuses()
}

// TestRawPaths checks that paths that a client or a mux might clean are used as they are, and never
// get a redirect.
func TestRawPaths(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	for _, test := range []struct{ path, want string }{
		{"/api/v1/lipsync/requests/..%2F..", "lipsync request not found"},
		{"/api/v1/lipsync/requests/%2e%2e", "lipsync request not found"},
		{"/api/v1/lipsync/requests/%2E", "lipsync request not found"},
		{"/api/v1/lipsync/requests/a%2Fb", "lipsync request not found"},
		{"/api/v1/lipsync/requests/%FF", "lipsync request not found"},
		{"/api/v1/lipsync/requests/..", NoPath},
		{"/api/v1/lipsync/../../health", NoPath},
		{"/api/./health", NoPath},
		{"//api/health", NoPath},
		{"/api/health/", NoPath},
		{"/api/", NoPath},
		{"/api", NoPath},
		{"/", NoPath},
	} {
		w := f.call(httptest.NewRequest(http.MethodGet, test.path, nil), token)
		if got := errorOf(t, w); w.Code != http.StatusNotFound || got != test.want {
			t.Errorf("%s: got %d %q, want 404 %q", test.path, w.Code, got, test.want)
		}
	}
}

func errorOf(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body struct{ Error string }
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Errorf("body %q: %v", w.Body, err)
	}
	return body.Error
}

func TestAbsoluteURLs(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	for _, test := range []struct{ target, public, want string }{
		{"http://one.example:8080/api/v1/uploads", "", "http://one.example:8080/objects/"},
		{"https://one.example/api/v1/uploads", "", "https://one.example/objects/"},
		{"http://10.0.0.1/api/v1/uploads", "https://lips.example", "https://lips.example/objects/"},
	} {
		o := Options{Log: slog.New(slog.DiscardHandler)}
		if test.public != "" {
			o.PublicURL = mustParse(t, test.public)
		}
		f.api = New(f.service, o)
		w := f.post(token, test.target, `{"type":"video","size":1}`)
		var got upload
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || !strings.HasPrefix(got.UploadURL, test.want) {
			t.Errorf("%s with public URL %q: got %s (%v), want %s…", test.target, test.public, got.UploadURL, err, test.want)
		}
		if !strings.Contains(w.Body.String(), "&") {
			t.Errorf("got %s, want an URL that people can copy, with & as it is", w.Body)
		}
	}
}

// TestStates checks the answers about requests in each state.
func TestStates(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	now := time.Now()
	for _, test := range []struct {
		status, output string
		failure        failure.Failure
		want           []string // fields besides id, created_at and status
	}{
		{"processing", "", failure.Failure{}, []string{"started_at"}},
		{"completed", "outputs/x.mp4", failure.Failure{}, []string{"started_at", "finished_at", "output_url"}},
		{"failed", "", failure.Failure{Code: failure.NoFace}, []string{"started_at", "finished_at", "error_message"}},
	} {
		id := f.start(t, token, now)
		if test.status != "processing" {
			if err := lipsynctest.Finish(t.Context(), f.store.Leases, id, "lease", now, lipsync.Outcome{Output: test.output, Failure: test.failure}); err != nil {
				t.Fatal(err)
			}
		}
		w := f.call(httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/"+id, nil), token)
		validate(t, loadDocument(t), "LipsyncRequest", w.Body.Bytes())
		got := map[string]string{}
		json.Unmarshal(w.Body.Bytes(), &got)
		for _, field := range test.want {
			if got[field] == "" {
				t.Errorf("%s: got %v, want %s in it", test.status, got, field)
			}
		}
		if got["status"] != test.status || len(got) != 3+len(test.want) {
			t.Errorf("got %v, want status %s and %v", got, test.status, test.want)
		}
	}
}

// TestFramesAndWarnings checks the details of a completed request.
func TestFramesAndWarnings(t *testing.T) {
	f := newFixture(t)
	token, now := f.key(t), time.Now()
	for _, c := range []struct {
		outcome lipsync.Outcome
		want    string
	}{
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 49}, Warnings: order.ConvertedHDR},
			`"frames":{"total":50,"synced":49,"kept":1},"warnings":["HDR input was converted to SDR"]}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 39}, Unsynced: order.Unsynced{Gaps: []order.Gap{{Start: .4, End: .84, Reason: order.TurnedAway}}, LeftOut: 2}},
			`"frames":{"total":50,"synced":39,"kept":11},"unsynced":[{"start":0.4,"end":0.84,"reason":"turned_away"}],"unsynced_left_out":2,"warnings":[]}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 50}, Sync: order.SyncScore{Known: true, Confidence: .998, Offset: -5}},
			`"warnings":[],"sync":{"text":"The lips come 5 frames before the speech.","confidence":0.998,"offset_frames":-5}}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 50}, Sync: order.SyncScore{
			Closures: order.Part{All: 4, Good: 3, Missed: []float64{1.2}}, Vowels: order.Part{All: 5, Good: 5}, Spoken: order.Part{All: 40, Good: 39}}},
			`"sync":{"text":"Lips miss 1 of 4 closures: second 1.2. 1 of 40 frames with speech stay as in the video.","score":0.75,` +
				`"closures":{"heard":4,"shown":3,"missed_at":[1.2]},"vowels":{"heard":5,"shown":5,"missed_at":[]},"spoken_frames":{"total":40,"synced":39}}}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 50}, Warnings: order.Warnings("").With(order.ConvertedHDR).With(order.Signed)},
			`"warnings":["HDR input was converted to SDR"],"provenance":"c2pa"}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 50, Synced: 50}, Warnings: order.NotSigned},
			`"warnings":["output has no signed provenance: only mp4 and mov of at most 8 GiB can have it, or the signing failed"]}`},
		{lipsync.Outcome{Frames: order.Frames{Total: 1}}, `"frames":{"total":1,"synced":0,"kept":1},"warnings":[]}`},
	} {
		id := f.start(t, token, now)
		c.outcome.Output = "outputs/x.mp4"
		if err := lipsynctest.Finish(t.Context(), f.store.Leases, id, "lease", now, c.outcome); err != nil {
			t.Fatal(err)
		}
		w := f.call(httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests/"+id+"/details", nil), token)
		validate(t, loadDocument(t), "Details", w.Body.Bytes())
		if got := strings.TrimSpace(w.Body.String()); !strings.HasSuffix(got, ","+c.want) {
			t.Errorf("got %s, want %s at its end", got, c.want)
		}
	}
}

// TestModel checks that both kinds of generate calls store the engine and refuse an unknown one.
func TestModel(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	field := "--" + boundary + "\r\nContent-Disposition: form-data; name=model\r\n\r\n%s\r\n"
	inputs := `{"inputs":[{"type":"video","url":"http://x.example"},{"type":"audio","url":"http://x.example"}],"model":%q}`
	send := func(model string) []*httptest.ResponseRecorder {
		return []*httptest.ResponseRecorder{
			f.post(token, "/api/v1/lipsync/generate", fmt.Sprintf(inputs, model)),
			f.postForm(token, strings.NewReader(file("video", "v")+fmt.Sprintf(field, model)+file("audio", "a")+last)),
		}
	}
	for _, w := range send("wav2lip") {
		var made generated
		if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
			t.Fatal(err)
		}
		if r, err := f.store.Requests.ByID(t.Context(), made.RequestID); err != nil || r.Engine != "wav2lip" {
			t.Errorf("got engine %q (%v) from %s, want wav2lip", r.Engine, err, w.Body)
		}
	}
	for _, w := range send("other") {
		if want := `{"error":"model must be one of: warp, wav2lip"}`; w.Code != 400 || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("got %d %s, want 400 %s", w.Code, w.Body, want)
		}
	}
}

// TestLargestFace checks that both kinds of generate calls store the flag.
func TestLargestFace(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	flag := "--" + boundary + "\r\nContent-Disposition: form-data; name=disable_active_speaker_detection\r\n\r\n%t\r\n"
	inputs := `{"inputs":[{"type":"video","url":"http://x.example"},{"type":"audio","url":"http://x.example"}],"disable_active_speaker_detection":%t}`
	for _, want := range []bool{true, false} {
		for _, w := range []*httptest.ResponseRecorder{
			f.post(token, "/api/v1/lipsync/generate", fmt.Sprintf(inputs, want)),
			f.postForm(token, strings.NewReader(file("video", "v")+fmt.Sprintf(flag, want)+file("audio", "a")+last)),
		} {
			var made generated
			if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
				t.Fatal(err)
			}
			if r, err := f.store.Requests.ByID(t.Context(), made.RequestID); err != nil || r.LargestFace != want {
				t.Errorf("got largest face %t (%v) from %s, want %t", r.LargestFace, err, w.Body, want)
			}
		}
	}
}
