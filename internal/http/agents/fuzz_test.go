package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/test/clienttest"
)

// FuzzHandler makes calls of any method, headers and body. Each gets an answer of a bounded size with a known status, and what the answer calls JSON
// is JSON. No call keeps a slot or a goroutine: calls after it pass.
func FuzzHandler(f *testing.F) {
	const version = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, seed := range []struct{ method, headers, body string }{
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`},
		{"POST", "Mcp-Protocol-Version: 2025-06-18", `{"jsonrpc":"2.0","method":"notifications/initialized"}`},
		{"POST", "Mcp-Protocol-Version: 2025-11-25\nHost: [::1]:80", `{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"x"}}`},
		{"POST", "", ` [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}},{"jsonrpc":"2.0","id":2,"result":{}}]`},
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create","_meta":{"progressToken":1},"arguments":{"video":"https://a.example/v","audio":"https://a.example/a","idempotency_key":"once","options":{"preview":{"start":1,"seconds":2}},"output":{"fps":1e3}}}}`},
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get","_meta":{"progressToken":"t"},"arguments":{"id":"../users/me?%zz","wait_seconds":50}}}`},
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list","arguments":{"status":"queued","limit":100,"offset":-1}}}`},
		{"POST", "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"upload","arguments":{"type":"video","size":9223372036854775807,"file_name":"a\u0000"}}}`},
		{"POST", "", call(`{"audio":"https://a.example/a"},{}`)},
		{"POST", "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: tools/call\nMcp-Name: cancel", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"cancel","arguments":{"id":"a"},` + version + `}}`},
		{"POST", "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: server/discover", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + version + `}}`},
		{"POST", "Mcp-Protocol-Version: 2026-07-28\nMcp-Method: subscriptions/listen", `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a"]},` + version + `}}`},
		{"POST", "Authorization: Basic YTpi", `{}`}, {"POST", "X-Api-Key: a", `{}`}, {"POST", "Content-Type: text/plain", `{`}, {"POST", "Accept: */*\nLast-Event-Id: 1_0", "\xff"},
		{"GET", "Mcp-Session-Id: a", ""}, {"DELETE", "Accept: text/html", ""},
	} {
		f.Add(seed.method, seed.headers, []byte(seed.body), seed.body != "{}")
	}
	s := clienttest.New(f)
	s.GenerateRate, s.ReadRate = 1<<30, 1<<30
	pause := func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	handlers := map[bool]http.Handler{}
	for _, whole := range []bool{false, true} {
		handlers[whole] = Handler(s.API, Options{Sleep: pause, NewID: uuid.NewString, Whole: whole})
	}
	f.Fuzz(func(t *testing.T, method, headers string, body []byte, whole bool) {
		sent, err := textproto.NewReader(bufio.NewReader(strings.NewReader(headers + "\n\n"))).ReadMIMEHeader()
		if err != nil {
			t.Skip("no headers that net/http hands on")
		}
		before := runtime.NumGoroutine()
		// without a name, the length of the body is unknown, so that the call needs a slot
		send := func(method string, sent http.Header, body []byte) *httptest.ResponseRecorder {
			ctx, cancel := context.WithTimeout(t.Context(), mostTime)
			defer cancel()
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, io.MultiReader(bytes.NewReader(body)))
			r.Method, r.Header = method, sent
			if host := sent.Get("Host"); host != "" {
				r.Host = host
			}
			defaults := map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
			if sent.Get("X-Api-Key") == "" {
				defaults["Authorization"] = "Bearer " + s.Key
			}
			for name, value := range defaults {
				if sent.Get(name) == "" {
					sent.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			handlers[whole].ServeHTTP(w, r)
			if ctx.Err() != nil {
				t.Errorf("%s %q %q: no answer in %v", method, headers, body, mostTime)
			}
			return w
		}
		w := send(method, http.Header(sent), body)
		said, kind := w.Body.Bytes(), w.Header().Get("Content-Type")
		if !slices.Contains([]int{200, 202, 400, 401, 404, 405, 413, 415}, w.Code) || len(said) > 4<<20+16*len(body) {
			t.Errorf("%s %q %q: got %d and %d bytes, %.200s", method, headers, body, w.Code, len(said), said)
		}
		switch {
		case kind == "application/json" && !json.Valid(said):
			t.Errorf("%s %q %q: got %d %q, want JSON", method, headers, body, w.Code, said)
		case kind == "text/event-stream":
			for line := range bytes.Lines(said) {
				if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && !json.Valid(data) {
					t.Errorf("%s %q %q: got the event %q, want JSON", method, headers, body, line)
				}
			}
		}
		if w := send(http.MethodPost, http.Header{}, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); w.Code != 200 || !strings.Contains(w.Body.String(), `"result":{}`) {
			t.Errorf("after %s %q %q: got %d %s", method, headers, body, w.Code, w.Body)
		}
		for end := time.Now().Add(mostTime); runtime.NumGoroutine() > before; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatalf("%s %q %q: %d goroutines became %d", method, headers, body, before, runtime.NumGoroutine())
			}
		}
	})
}

// mostTime is for one call of FuzzHandler, and for the end of its goroutines.
const mostTime = 10 * time.Second
