// Package resttest tests a service against the contract of the HTTP API. It sees the service only
// from outside: it needs the service's address and a way to make keys.
//
// Every deployment of the service passes Run unchanged.
package resttest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
)

// Target is the service to test.
type Target struct {
	URL    string       // scheme and host, before /api
	Client *http.Client // nil for the usual one

	// NewKey makes a key that may make limit generate requests (0: any number). revoke revokes it.
	NewKey func(t testing.TB, account, name string, limit int64) (token string, revoke func())

	// NewReadOnly makes a key that may only read. If nil, the subtest on such keys is skipped.
	NewReadOnly func(t testing.TB, account string) (token string)

	GenerateRate, ReadRate int   // calls a minute for a key
	MaxVideo, MaxAudio     int64 // bytes: a few whole MiB
	// MaxForm is the largest size of a form in bytes, somewhat more than MaxVideo and MaxAudio
	// together. It is 0 if the service has no such limit.
	MaxForm int64
	// KeepOutputs is how long outputs are kept.
	KeepOutputs time.Duration

	// Video and Audio are small files that a worker of the service can sync. If
	// nil, no worker runs, and the subtests on its results are skipped.
	Video, Audio []byte
	// Long is a speech track that is longer than Video, by half a second or more.
	Long []byte

	// FetchesHere says that the service fetches from this machine, and delivers events to it. Otherwise
	// options with a URL and the receipt of events are skipped.
	FetchesHere bool

	// Sample leaves out three in four of the values of fields and queries, and of wrong methods. It is for a service that reads and
	// refuses them by the same code as one that is tested with all. What a gateway before that code may change or refuse is all tried.
	Sample bool

	// Differs has the subtests whose part of the contract the service can't keep, and the reasons.
	// They are skipped. Their names are those that go test -v shows, without the name of the test.
	Differs map[string]string
}

// Run tests the whole contract. Each subtest uses accounts and keys of its own, so Run can test one
// service twice.
func Run(t *testing.T, target Target) {
	client := http.Client{}
	if target.Client != nil {
		client = *target.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &suite{Target: target, client: &client, name: t.Name()}
	for name, test := range map[string]func(*testing.T){
		"routes":      s.routes,
		"tokens":      s.tokens,
		"read-only":   s.readOnly,
		"generate":    s.generate,
		"media":       s.media,
		"order":       s.order,
		"token limit": s.tokenLimit,
		"idempotency": s.idempotency,
		"request":     s.request,
		"progress":    s.progress,
		"cancel":      s.cancel,
		"details":     s.details,
		"options":     s.options,
		"analyses":    s.analyses,
		"estimates":   s.estimates,
		"batches":     s.batches,
		"outputs":     s.outputs,
		"segments":    s.segments,
		"delete":      s.deleteMedia,
		"erase":       s.erase,
		"list":        s.list,
		"models":      s.models,
		"accounts":    s.accounts,
		"uploads":     s.uploads,
		"webhooks":    s.webhooks,
		"polling":     s.polling,
		"browsers":    s.browsers,
		"rates":       s.rates,
		"results":     s.results,
	} {
		t.Run(name, test)
	}
}

// KeysOf returns a Target's NewKey that makes the keys by the service itself.
func KeysOf(service *service.Service) func(t testing.TB, account, name string, limit int64) (token string, revoke func()) {
	return func(t testing.TB, account, name string, limit int64) (string, func()) {
		t.Helper()
		token, k, err := service.CreateKey(t.Context(), account, name, limit)
		if err != nil {
			t.Fatal(err)
		}
		return token, func() {
			if err := service.RevokeKey(t.Context(), "", k.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ReadOnlyOf returns a Target's NewReadOnly that makes the keys by the service itself.
func ReadOnlyOf(service *service.Service) func(t testing.TB, account string) string {
	return func(t testing.TB, account string) string {
		t.Helper()
		token, _, err := service.NewKey(t.Context(), lipsync.Key{Account: account, Name: "reads", ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
}

type suite struct {
	Target
	client *http.Client
	name   string // of the test
}

// key makes a key in a new account and returns its token.
func (s *suite) key(t *testing.T) string { return s.keyOf(t, rand.Text(), 0) }

func (s *suite) keyOf(t *testing.T, account string, limit int64) string {
	t.Helper()
	token, _ := s.NewKey(t, account, "contract", limit)
	return token
}

// call is one HTTP call.
type call struct {
	method, path string // the path begins after /api
	token        string // as Authorization: Bearer, if not ""
	contentType  string
	header       http.Header // further headers
	body         string
}

// reply is the answer to a call.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (s *suite) do(t *testing.T, c call) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+"/api"+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.contentType != "" {
		req.Header.Set("Content-Type", c.contentType)
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	return s.send(t, req)
}

func (s *suite) send(t *testing.T, req *http.Request) reply {
	t.Helper()
	resp, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", req.Method, req.URL.Path, err)
	}
	return reply{resp.StatusCode, resp.Header, body}
}

func (s *suite) get(t *testing.T, token, path string) reply {
	t.Helper()
	return s.do(t, call{method: http.MethodGet, path: path, token: token})
}

func (s *suite) postJSON(t *testing.T, token, path, body string) reply {
	t.Helper()
	return s.do(t, call{method: http.MethodPost, path: path, token: token, contentType: "application/json", body: body})
}

// into reads a good answer, which must have no other fields than v.
func (r reply) into(t *testing.T, v any) {
	t.Helper()
	if r.status != http.StatusOK {
		t.Fatalf("got status %d, want 200; body %s", r.status, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("got Content-Type %q, want application/json", got)
	}
	dec := json.NewDecoder(bytes.NewReader(r.body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Fatalf("body %s: %v", r.body, err)
	}
}

// refused checks an error answer: its status, and its message as the only field.
func (r reply) refused(t *testing.T, status int, message string) {
	t.Helper()
	var got map[string]string
	if err := json.Unmarshal(r.body, &got); err != nil {
		t.Errorf("body %q: %v", r.body, err)
	}
	if r.status != status || got["error"] != message || len(got) != 1 {
		t.Errorf("got %d %s, want %d with only the error %q", r.status, r.body, status, message)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("got Content-Type %q, want application/json", got)
	}
}

// row is one call with its answer: a refusal with the status and the message, or 200 if message is
// "".
type row struct {
	name    string
	call    call
	status  int
	message string
}

// table makes each call with a key of its own, unless the call has a token.
func (s *suite) table(t *testing.T, rows []row) {
	for _, row := range rows {
		s.run(t, row.name, func(t *testing.T) {
			if row.call.token == "" {
				row.call.token = s.key(t)
			}
			got := s.do(t, row.call)
			if row.message != "" {
				got.refused(t, row.status, row.message)
			} else if got.status != http.StatusOK {
				t.Errorf("got %d %s, want 200", got.status, got.body)
			}
		})
	}
}

// values is like table, for rows that differ in the values of fields or of a query.
func (s *suite) values(t *testing.T, rows []row) {
	t.Helper()
	tried := slices.DeleteFunc(rows, func(r row) bool { return !r.meetsGateway() && !s.tries(r.name) })
	if len(tried) == 0 {
		t.Fatal("no row is tried")
	}
	s.table(t, tried)
}

// meetsGateway reports whether a gateway may change or refuse the call: its path or query has escapes or is malformed, or its body is too large.
func (r row) meetsGateway() bool {
	return strings.ContainsAny(r.call.path, "%;") || r.status == http.StatusRequestEntityTooLarge
}

// tries reports whether a value is tried: see Sample.
func (s *suite) tries(name string) bool { return !s.Sample || crc32.ChecksumIEEE([]byte(name))%4 == 0 }

// run runs a subtest, unless Differs has it.
func (s *suite) run(t *testing.T, name string, test func(*testing.T)) {
	t.Run(name, func(t *testing.T) {
		if reason, ok := s.Differs[strings.TrimPrefix(t.Name(), s.name+"/")]; ok {
			t.Skip(reason)
		}
		test(t)
	})
}
