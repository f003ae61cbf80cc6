package agents_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/agents"
	"lipsync/internal/http/client"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/test/check"
	"lipsync/internal/test/clienttest"
)

// assistant is a client of the tools.
type assistant struct {
	*mcp.ClientSession
	notices chan string
	slept   []time.Duration
	asleep  func() // called in each pause of a tool
}

func (a *assistant) sleep(ctx context.Context, pause time.Duration) error {
	a.slept = append(a.slept, pause)
	a.asleep()
	return ctx.Err()
}

func (a *assistant) connect(t *testing.T, transport mcp.Transport) {
	t.Helper()
	a.notices, a.asleep = make(chan string, 100), func() {}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { a.notices <- r.Params.Message },
	})
	var err error
	a.ClientSession, err = c.Connect(t.Context(), transport, nil)
	check.Must(t, err)
	t.Cleanup(func() { a.Close() })
}

// call calls a tool. It returns the fields of the answer, or the text of the tool's error.
func (a *assistant) call(t *testing.T, tool string, arguments map[string]any) (answer map[string]any, refusal string) {
	t.Helper()
	p := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	p.SetProgressToken("token")
	r, err := a.CallTool(t.Context(), p)
	check.Must(t, err)
	text := r.Content[0].(*mcp.TextContent).Text
	if strings.Contains(text, "u0026") {
		t.Errorf("%s: got a URL that can't be copied: %s", tool, text)
	}
	if r.IsError {
		return nil, text
	}
	check.Must(t, json.Unmarshal([]byte(text), &answer))
	return answer, ""
}

// local starts the tools as lipsync mcp does.
func local(t *testing.T, s *clienttest.Service) *assistant {
	a := new(assistant)
	server := agents.New(agents.Options{
		Client: func(http.Header) *client.Client { return &client.Client{URL: s.URL, Key: s.Key} },
		Files:  true, Sleep: a.sleep, NewID: uuid.NewString, Now: time.Now,
	})
	ours, theirs := mcp.NewInMemoryTransports()
	session, err := server.Connect(t.Context(), ours, nil)
	check.Must(t, err)
	t.Cleanup(func() { session.Close() })
	a.connect(t, theirs)
	return a
}

// withKey adds a key to each call.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// remote starts the tools on the service's own server. whole says whether answers come as a whole.
func remote(t *testing.T, s *clienttest.Service, whole bool) (a *assistant, address string) {
	a = new(assistant)
	server := httptest.NewServer(agents.Handler(s.API, agents.Options{Sleep: a.sleep, NewID: uuid.NewString, Whole: whole}))
	t.Cleanup(server.Close)
	a.connect(t, &mcp.StreamableClientTransport{Endpoint: server.URL + agents.Path, HTTPClient: &http.Client{Transport: withKey(s.Key)}, DisableStandaloneSSE: true})
	return a, server.URL + agents.Path
}

func (a *assistant) tools(t *testing.T) string {
	list, err := a.ListTools(t.Context(), nil)
	check.Must(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

// TestLocal makes an output of local files, cancels a request, and analyses a video.
func TestLocal(t *testing.T) {
	s := clienttest.New(t)
	a := local(t, s)
	if got := a.tools(t); got != "analyze cancel cancel_batch create create_batch estimate get get_batch list" {
		t.Errorf("got the tools %s", got)
	}
	folder := t.TempDir()
	video, audio := filepath.Join(folder, "talk.mp4"), filepath.Join(folder, "speech.wav")
	check.Must(t, os.WriteFile(video, []byte("video"), 0o600))
	check.Must(t, os.WriteFile(audio, []byte("audio"), 0o600))
	asked := map[string]any{"video": video, "audio": audio, "idempotency_key": "once", "options": map[string]any{"sync_mode": "loop"}}
	made, refusal := a.call(t, "create", asked)
	again, _ := a.call(t, "create", asked)
	if made["id"] == nil || made["id"] != again["id"] {
		t.Fatalf("got %v (%s), then %v: want one request", made, refusal, again)
	}
	id := made["id"].(string)
	r := s.Work(t, id)
	check.Must(t, s.Report(t.Context(), r, lipsync.Progress{Stage: order.Rendering, Percent: 40}))
	if r.Options.SyncMode != order.Loop || r.Video.Name != "talk.mp4" {
		t.Errorf("got the request %+v", r)
	}
	open, _ := a.call(t, "get", map[string]any{"id": id, "wait_seconds": 3})
	if open["status"] != "processing" || open["percent"] != 40.0 || !strings.Contains(open["next"].(string), "call get again") {
		t.Errorf("got %v", open)
	}
	var slept time.Duration
	for _, pause := range a.slept {
		slept += pause
	}
	if slept != 3*time.Second {
		t.Errorf("waited %v, want 3s", a.slept)
	}
	output := filepath.Join(folder, "output.mp4")
	a.asleep = func() { s.Finish(t, r, "output"); a.asleep = func() {} }
	done, refusal := a.call(t, "get", map[string]any{"id": id, "wait_seconds": 50, "save_to": output})
	if text, err := os.ReadFile(output); done["status"] != "completed" || done["saved_to"] != output || string(text) != "output" {
		t.Errorf("got %v (%s), and the output %q (%v)", done, refusal, text, err)
	}
	if _, refusal = a.call(t, "get", map[string]any{"id": id, "save_to": output}); refusal != "save_to names a file that exists: choose another name" {
		t.Errorf("got %q", refusal)
	}
	if _, refusal = a.call(t, "cancel", map[string]any{"id": id}); refusal != "lipsync request is already finished" {
		t.Errorf("got %q", refusal)
	}
	found, refusal := a.call(t, "analyze", map[string]any{"video": video})
	if found["id"] == nil {
		t.Fatalf("got %v (%s)", found, refusal)
	}
	r = s.Work(t, found["id"].(string))
	check.Must(t, s.CompleteAnalysis(t.Context(), r, order.Analysis{Faces: []order.AnalyzedFace{{ID: "0,640,310", JPEG: []byte("jpeg")}}}))
	found, _ = a.call(t, "get", map[string]any{"id": found["id"], "wait_seconds": 50})
	if text, _ := json.Marshal(found); found["status"] != "completed" || !strings.Contains(string(text), `"id":"0,640,310"`) || strings.Contains(string(text), "thumbnail") {
		t.Errorf("got the analysis %s", text)
	}
	expected, refusal := a.call(t, "estimate", map[string]any{"video": video, "audio": audio})
	if expected["id"] == nil {
		t.Fatalf("got %v (%s)", expected, refusal)
	}
	r = s.Work(t, expected["id"].(string))
	check.Must(t, s.CompleteEstimate(t.Context(), r, order.Estimate{OutputSeconds: 12, Frames: 300}))
	expected, refusal = a.call(t, "get", map[string]any{"id": expected["id"], "wait_seconds": 50})
	if expected["status"] != "completed" || expected["frames"] != 300. {
		t.Errorf("got the estimate %v (%s)", expected, refusal)
	}
	page, _ := a.call(t, "list", map[string]any{"status": "completed", "limit": 5})
	if data := page["data"].([]any); len(data) != 1 {
		t.Errorf("got the page %v", page)
	}
	if !strings.Contains(strings.Join(drain(a.notices), ","), "sending the video,") {
		t.Error("got no notice of the upload")
	}
}

// TestBrokenDownload saves an output whose download breaks once. Nothing of it may stay, so that the next call can use the same path.
func TestBrokenDownload(t *testing.T) {
	s := clienttest.New(t)
	a := local(t, s)
	made, refusal := a.call(t, "create", map[string]any{"video": "https://example.com/v", "audio": "https://example.com/a"})
	if refusal != "" {
		t.Fatal(refusal)
	}
	s.Finish(t, s.Work(t, made["id"].(string)), "output")
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, disk.Prefix) {
			return false
		}
		w.Header().Set("Content-Length", "6")
		_, _ = w.Write([]byte("out")) // the server then cuts the connection
		return true
	})
	output := filepath.Join(t.TempDir(), "output.mp4")
	get := map[string]any{"id": made["id"], "save_to": output}
	if _, refusal = a.call(t, "get", get); !strings.Contains(refusal, "EOF") {
		t.Errorf("got %q", refusal)
	}
	if _, err := os.Lstat(output); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of the output is left: %v", err)
	}
	s.Break(nil)
	if done, refusal := a.call(t, "get", get); done["saved_to"] != output {
		t.Errorf("got %v (%s)", done, refusal)
	}
}

func drain(notices chan string) (all []string) {
	for {
		select {
		case n := <-notices:
			all = append(all, n)
		default:
			return all
		}
	}
}

// TestRefusals has tools fail with the sentences of the API, or of the tools.
func TestRefusals(t *testing.T) {
	s := clienttest.New(t)
	there, _ := remote(t, s, false)
	here := local(t, s)
	for _, c := range []struct {
		of   *assistant
		tool string
		in   map[string]any
		want string
	}{
		{there, "create", map[string]any{"video": "https://example.com/v", "audio": "https://example.com/a", "options": map[string]any{"mode": 1}}, `options has no field "mode"; it has: sync_mode`},
		{there, "create", map[string]any{"video": "/etc/passwd", "audio": "https://example.com/a"}, "must be"},
		{there, "create", map[string]any{"video": "https://example.com/v"}, "audio"},
		{there, "create", map[string]any{"video": "https://example.com/v", "audio": "https://example.com/a", "sync_mode": "loop"}, "sync_mode"},
		{there, "get", map[string]any{"id": "unknown"}, "there is no request, no analysis and no estimate with this id"},
		{there, "get", map[string]any{"id": "unknown", "wait_seconds": 51}, "wait_seconds must be from 0 to 50"},
		{there, "get", map[string]any{"id": "unknown", "save_to": "/tmp/x"}, "only for a local server"},
		{there, "create_batch", map[string]any{"video": "https://example.com/v", "variants": []any{}}, "a batch has 1 to 1000 lines"},
		{there, "create_batch", map[string]any{"video": "https://example.com/v", "variants": []any{map[string]any{"audio": "x"}}}, "line 1: audio"},
		{there, "create_batch", map[string]any{"video": "https://example.com/v", "variants": []any{map[string]any{"audios": "x"}}}, "audio"},
		{there, "get_batch", map[string]any{"id": "unknown"}, "batch not found"},
		{there, "get_batch", map[string]any{"id": "unknown", "wait_seconds": 51}, "wait_seconds must be from 0 to 50"},
		{there, "get_batch", map[string]any{"id": "unknown", "limit": 1001}, "limit must be from 1 to 1000"},
		{there, "get_batch", map[string]any{"id": "unknown", "offset": -1}, "offset must be 0 or more"},
		{there, "cancel_batch", map[string]any{"id": "unknown"}, "batch not found"},
		{there, "list", map[string]any{"status": "done"}, "status must be one of: queued, processing, completed, failed, canceled"},
		{there, "upload", map[string]any{"type": "audio", "size": 2 << 20}, "audio is larger than 1 MiB"},
		{here, "create", map[string]any{"video": "nothing.mp4", "audio": "nothing.wav"}, "nothing.mp4 is not a file"},
		{here, "create_batch", map[string]any{"video": "nothing.mp4", "variants": []any{map[string]any{"audio": "nothing.wav"}}}, "nothing.mp4 is not a file"},
	} {
		if answer, refusal := c.of.call(t, c.tool, c.in); !strings.Contains(refusal, c.want) {
			t.Errorf("%s %v: got %v, %q, want %q", c.tool, c.in, answer, refusal, c.want)
		}
	}
}

// TestRemote announces an upload, makes a request, and waits for it with progress notices, over HTTP.
func TestRemote(t *testing.T) {
	s := clienttest.New(t)
	a, address := remote(t, s, false)
	if got := a.tools(t); got != "analyze cancel cancel_batch create create_batch estimate get get_batch list upload" {
		t.Errorf("got the tools %s", got)
	}
	announced, _ := a.call(t, "upload", map[string]any{"type": "video", "size": 5, "file_name": "talk.mp4"})
	if u, _ := announced["upload_url"].(string); !strings.HasPrefix(u, strings.TrimSuffix(address, agents.Path)+"/") {
		t.Errorf("got the upload %v, want a URL of %s", announced, address)
	}
	made, refusal := a.call(t, "create", map[string]any{"video": "https://example.com/v", "audio": "https://example.com/a"})
	if refusal != "" {
		t.Fatal(refusal)
	}
	r := s.Work(t, made["id"].(string))
	check.Must(t, s.Report(t.Context(), r, lipsync.Progress{Stage: order.Rendering, Percent: 40}))
	a.asleep = func() { s.Finish(t, r, "output"); a.asleep = func() {} }
	done, refusal := a.call(t, "get", map[string]any{"id": r.ID, "wait_seconds": 50})
	if done["status"] != "completed" || !strings.HasPrefix(done["output_url"].(string), "http://127.0.0.1") {
		t.Errorf("got %v (%s)", done, refusal)
	}
	if notice := <-a.notices; notice != "rendering" {
		t.Errorf("got the notice %s", notice)
	}
}

// TestWhole waits for a request, where answers come as a whole.
func TestWhole(t *testing.T) {
	s := clienttest.New(t)
	a, _ := remote(t, s, true)
	made, refusal := a.call(t, "create", map[string]any{"video": "https://example.com/v", "audio": "https://example.com/a"})
	if refusal != "" {
		t.Fatal(refusal)
	}
	s.Work(t, made["id"].(string))
	waiting, refusal := a.call(t, "get", map[string]any{"id": made["id"], "wait_seconds": 50})
	if next, _ := waiting["next"].(string); !strings.HasPrefix(next, "call get again") {
		t.Errorf("got %v (%s)", waiting, refusal)
	}
	var waited time.Duration
	for _, pause := range a.slept {
		waited += pause
	}
	if waited != 10*time.Second {
		t.Errorf("waited %v, want 10 s", waited)
	}
	if notices := drain(a.notices); len(notices) > 0 {
		t.Errorf("got the notices %q", notices)
	}
}

// TestKeys refuses calls without a good key, and bodies that are too large.
func TestKeys(t *testing.T) {
	s := clienttest.New(t)
	h := agents.Handler(s.API, agents.Options{NewID: uuid.NewString})
	for _, c := range []struct {
		scheme, key, body string
		status            int
		want              string
	}{
		{"Basic", s.Key, `{}`, http.StatusUnauthorized, `{"error":"invalid authorization format"}`},
		{"", "", `{}`, http.StatusUnauthorized, `{"error":"missing authorization header"}`},
		{"", "wrong", `{}`, http.StatusUnauthorized, `{"error":"invalid token"}`},
		{"", s.Key, `{"x":"` + strings.Repeat("x", rest.MaxBatchBody+64<<10) + `"}`, http.StatusRequestEntityTooLarge, "exceeds 4259840 bytes"},
		{"", s.Key, `{`, http.StatusBadRequest, ""},
		{"", s.Key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, http.StatusOK, `"create"`},
	} {
		r := httptest.NewRequest(http.MethodPost, agents.Path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if c.key != "" {
			r.Header.Set("Authorization", cmp.Or(c.scheme, "Bearer")+" "+c.key)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%.30s: got %d %.200s, want %d %s", c.body, w.Code, w.Body, c.status, c.want)
		}
	}
}

// TestListen answers a call that waits for changes of the list of tools. The list never changes, so the answer comes at once.
func TestListen(t *testing.T) {
	s := clienttest.New(t)
	h := agents.Handler(s.API, agents.Options{Whole: true})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, agents.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
	for name, value := range map[string]string{
		"Authorization": "Bearer " + s.Key, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if ctx.Err() != nil || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"id":1,"result"`) {
		t.Errorf("got %d %s (%v), want an answer at once", w.Code, w.Body, ctx.Err())
	}
}
