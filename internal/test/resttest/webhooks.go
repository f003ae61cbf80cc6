package resttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type webhook struct {
	ID             string   `json:"id"`
	URL            string   `json:"url"`
	Events         []string `json:"events"`
	CreatedAt      string   `json:"created_at"`
	DisabledAt     string   `json:"disabled_at"`
	FailingSince   string   `json:"failing_since"`
	Secret         string   `json:"secret"`
	OldSecretUntil string   `json:"old_secret_until"`
}

type delivery struct {
	ID            string `json:"id"`
	Type          string `json:"type"`
	RequestID     string `json:"request_id"`
	CreatedAt     string `json:"created_at"`
	Status        string `json:"status"`
	Attempts      int    `json:"attempts"`
	LastAttemptAt string `json:"last_attempt_at"`
	LastStatus    int    `json:"last_status"`
	LastError     string `json:"last_error"`
	NextAttemptAt string `json:"next_attempt_at"`
}

const (
	webhooksPath = "/v1/webhooks"
	nowhere      = "https://receiver.invalid/hook" // no host has such a name
)

func webhookCall(body string) call {
	c := generateCall("application/json", body)
	c.path = webhooksPath
	return c
}

// post makes a call without a body at a path of a webhook.
func (s *suite) post(t *testing.T, token, path string) reply {
	t.Helper()
	return s.do(t, call{method: http.MethodPost, path: webhooksPath + path, token: token})
}

// newWebhook makes a webhook. events is JSON, "" for none.
func (s *suite) newWebhook(t *testing.T, token, url, events string) (w webhook) {
	t.Helper()
	if events != "" {
		events = `,"events":` + events
	}
	s.do(t, webhookCall(`{"url":"`+url+`"`+events+`}`).with(token)).into(t, &w)
	return w
}

// webhooks checks the calls for webhooks, and what a receiver gets where the service makes deliveries.
func (s *suite) webhooks(t *testing.T) {
	t.Run("refused", s.refuseWebhooks)
	t.Run("one", s.oneWebhook)
	t.Run("unknown", s.unknownWebhooks)
	t.Run("deliveries", s.listDeliveries)
	t.Run("webhook_url", s.webhookURL)
	t.Run("received", s.received)
	t.Run("gone", s.gone)
}

func (s *suite) refuseWebhooks(t *testing.T) {
	const rule = "url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	const events = "events must be of: lipsync.processing, lipsync.completed, lipsync.failed, lipsync.canceled, batch.completed"
	s.values(t, []row{
		{"type", call{method: http.MethodPost, path: webhooksPath, contentType: "text/plain", body: "{}"}, 400, "content-type must be application/json"},
		{"body", webhookCall(`{"url":`), 400, "invalid request body"},
		{"null", webhookCall(`null`), 400, "invalid request body"},
		{"no URL", webhookCall(`{}`), 400, rule},
		{"scheme", webhookCall(`{"url":"ftp://x.example/"}`), 400, rule},
		{"user", webhookCall(`{"url":"https://a:b@x.example/"}`), 400, rule},
		{"event", webhookCall(`{"url":"https://x.example/","events":["batch.started"]}`), 400, events},
		{"event twice", webhookCall(`{"url":"https://x.example/","events":["lipsync.failed","lipsync.failed"]}`), 400, "events has lipsync.failed twice"},
		{"events of no list", webhookCall(`{"url":"https://x.example/","events":"lipsync.failed"}`), 400, "invalid request body"},
		{"large", webhookCall(`{"url":"` + strings.Repeat("x", 1<<20) + `"}`), 413, "request body is larger than 1 MiB"},
		{"null events", webhookCall(`{"url":"https://x.example/","events":null,"later":1}`), 200, ""},
	})
	token := s.key(t)
	for i := range 10 {
		s.newWebhook(t, token, fmt.Sprint("https://x.example/", i), "")
	}
	s.do(t, webhookCall(`{"url":"https://x.example/10"}`).with(token)).refused(t, http.StatusConflict, "account has as many webhooks as it may have, 10; delete one first")
}

func (s *suite) oneWebhook(t *testing.T) {
	token := s.key(t)
	all := []string{"lipsync.processing", "lipsync.completed", "lipsync.failed", "lipsync.canceled", "batch.completed"}
	first := s.newWebhook(t, token, nowhere, "")
	second := s.newWebhook(t, token, nowhere+"2", `["lipsync.failed"]`)
	if first.Secret == second.Secret || !strings.HasPrefix(first.Secret, "whsec_") || !slices.Equal(first.Events, all) || !slices.Equal(second.Events, all[2:3]) {
		t.Errorf("got %+v and %+v", first, second)
	}
	s.do(t, webhookCall(`{"url":"`+nowhere+`?a=1"}`).with(token)).refused(t, 409, "account already has a webhook with this URL")
	secret := first.Secret
	first.Secret, second.Secret = "", ""
	wantWebhooks := func(want ...webhook) {
		t.Helper()
		var list struct{ Data []webhook }
		s.get(t, token, webhooksPath).into(t, &list)
		if fmt.Sprintf("%+v", list.Data) != fmt.Sprintf("%+v", want) {
			t.Errorf("got the list %+v, want %+v", list.Data, want)
		}
	}
	wantWebhooks(first, second)
	var got webhook
	s.get(t, token, webhooksPath+"/"+first.ID).into(t, &got)
	if fmt.Sprint(got) != fmt.Sprint(first) {
		t.Errorf("got %+v, want %+v", got, first)
	}
	s.post(t, token, "/"+first.ID+"/rotate").into(t, &got)
	if got.Secret == secret || got.Secret == "" || got.OldSecretUntil == "" {
		t.Errorf("rotated: got %+v", got)
	}
	var enabled webhook
	s.post(t, token, "/"+second.ID+"/enable").into(t, &enabled) // it wasn't disabled
	if fmt.Sprint(enabled) != fmt.Sprint(second) {
		t.Errorf("enabled: got %+v, want %+v", enabled, second)
	}
	var deleted webhook
	s.do(t, call{method: http.MethodDelete, path: webhooksPath + "/" + first.ID, token: token}).into(t, &deleted)
	if deleted.ID != first.ID || deleted.Secret != "" {
		t.Errorf("deleted: got %+v", deleted)
	}
	wantWebhooks(second)
}

func (s *suite) unknownWebhooks(t *testing.T) {
	token := s.key(t)
	others := s.newWebhook(t, s.key(t), nowhere, "").ID
	for _, id := range []string{"x", "00000000-0000-4000-8000-000000000000", others} {
		for _, c := range []call{
			{method: http.MethodGet, path: ""}, {method: http.MethodDelete, path: ""}, {method: http.MethodPost, path: "/rotate"},
			{method: http.MethodPost, path: "/enable"}, {method: http.MethodPost, path: "/test"}, {method: http.MethodGet, path: "/deliveries"},
			{method: http.MethodPost, path: "/deliveries/x/redeliver"},
			{method: http.MethodPost, path: "/redeliver"},
		} {
			if id != others && !s.tries(id+c.path) {
				continue
			}
			c.path, c.token = webhooksPath+"/"+id+c.path, token
			s.do(t, c).refused(t, http.StatusNotFound, "webhook not found")
		}
	}
}

func (s *suite) listDeliveries(t *testing.T) {
	token := s.key(t)
	w := s.newWebhook(t, token, nowhere, "")
	path := webhooksPath + "/" + w.ID + "/deliveries"
	read := func(query string) []delivery {
		t.Helper()
		var list struct{ Data []delivery }
		s.get(t, token, path+query).into(t, &list)
		return list.Data
	}
	if got := read(""); len(got) != 0 {
		t.Errorf("got %+v, want none", got)
	}
	var ids []string
	for range 3 {
		var d delivery
		s.post(t, token, "/"+w.ID+"/test").into(t, &d)
		if d.Type != "webhook.test" || d.Status != "waiting" || d.Attempts != 0 || d.NextAttemptAt == "" {
			t.Errorf("got %+v, want it to wait", d)
		}
		ids = append(ids, d.ID)
	}
	slices.Reverse(ids)
	for query, want := range map[string][]string{"": ids, "?limit=2": ids[:2], "?before=" + ids[0]: ids[1:], "?before=" + ids[2]: nil, "?limit=1&before=" + ids[0]: ids[1:2]} {
		var got []string
		for _, d := range read(query) {
			got = append(got, d.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	for query, message := range map[string]string{
		"?limit=0": "limit must be one whole number from 1 to 100", "?limit=1&limit=2": "limit must be one whole number from 1 to 100",
		"?before=": "before must be the id of a delivery", "?before=%00": "before must be the id of a delivery", "?%": "invalid query string",
	} {
		s.run(t, query, func(t *testing.T) { s.get(t, token, path+query).refused(t, 400, message) })
	}
	// The host does not exist, so the delivery waits for its next attempt.
	s.post(t, token, "/"+w.ID+"/deliveries/"+ids[0]+"/redeliver").refused(t, http.StatusConflict, "delivery is not finished")
	s.post(t, token, "/"+w.ID+"/deliveries/x/redeliver").refused(t, http.StatusNotFound, "delivery not found")
}

func (s *suite) webhookURL(t *testing.T) {
	token := s.key(t)
	const unknown = "webhook_url must be the URL of a webhook of the account, with any query"
	const rule = "webhook_url must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	with := func(url string) call {
		body := good()
		return generateCall("application/json", strings.TrimSuffix(body, "}")+`,"webhook_url":`+url+`}`).with(token)
	}
	s.newWebhook(t, token, nowhere, "[]")
	s.do(t, with(`"https://other.example/"`)).refused(t, 400, unknown)
	s.do(t, with(`""`)).refused(t, 400, rule)
	s.do(t, with(`null`)).requestID(t)
	s.do(t, with(`"`+nowhere+`?a=1"`)).requestID(t)
	s.do(t, formOf(t, video(), audio(), part{"webhook_url", "", "https://other.example/"}).with(token)).refused(t, 400, unknown)
	s.do(t, formOf(t, video(), audio(), part{"webhook_url", "", nowhere + "?a=2"}).with(token)).requestID(t)
}

// message is a call that a receiver got.
type message struct {
	query  string
	header http.Header
	body   []byte
	event  struct {
		Type, Timestamp string
		Data            map[string]any
	}
}

// received follows a request and a test event to a receiver on this machine. It also rotates the secret.
// A worker may fail the request before it is canceled, or the cancel may come first.
func (s *suite) received(t *testing.T) {
	if !s.FetchesHere {
		t.Skip("the service delivers no events to this machine")
	}
	got := make(chan message, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		m := message{query: r.URL.RawQuery, header: r.Header, body: body}
		if err := errors.Join(err, json.Unmarshal(body, &m.event)); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || len(body) >= 20_000 {
			t.Errorf("got %s of %q: %v", r.Method, body, err)
		}
		got <- m
	}))
	defer receiver.Close()
	next := func() message {
		t.Helper()
		select {
		case m := <-got:
			return m
		case <-time.After(2 * time.Minute):
			t.Fatal("no event came")
			return message{}
		}
	}
	token := s.key(t)
	w := s.newWebhook(t, token, receiver.URL+"/hook", "[]")
	var d delivery
	s.post(t, token, "/"+w.ID+"/test").into(t, &d)
	m := next()
	m.verify(t, d.ID, w.Secret)
	if m.event.Type != "webhook.test" || m.event.Data["webhook_id"] != w.ID {
		t.Errorf("got %s", m.body)
	}
	var rotated webhook
	s.post(t, token, "/"+w.ID+"/rotate").into(t, &rotated)
	s.waitFor(t, token, w.ID, d.ID, "delivered")
	s.post(t, token, "/"+w.ID+"/deliveries/"+d.ID+"/redeliver").into(t, &d)
	next().verify(t, d.ID, w.Secret, rotated.Secret)

	body := strings.TrimSuffix(good(), "}") + `,"webhook_url":"` + receiver.URL + `/hook?job=7"}`
	id := s.do(t, generateCall("application/json", body).with(token)).requestID(t)
	s.do(t, cancelCall(token, id))
	var types []string
	for m = next(); ; m = next() {
		m.verify(t, m.header.Get("webhook-id"), w.Secret, rotated.Secret)
		if m.event.Data["id"] != id || m.query != "job=7" {
			t.Errorf("got %s at ?%s", m.body, m.query)
		}
		if types = append(types, m.event.Type); m.event.Type != "lipsync.processing" {
			break
		}
	}
	r := s.read(t, token, id)
	want := map[string]string{"failed": "lipsync.failed"}[r.Status]
	if r.ErrorMessage == canceled {
		want = "lipsync.canceled"
	}
	if types[len(types)-1] != want || len(types) > 2 {
		t.Errorf("got the events %v of %+v", types, r)
	}
	for name, value := range map[string]any{"status": r.Status, "error_message": r.ErrorMessage, "created_at": r.CreatedAt, "finished_at": r.FinishedAt} {
		if m.event.Data[name] != value {
			t.Errorf("the event's %s is %v, want %v", name, m.event.Data[name], value)
		}
	}
}

// gone has a receiver that answers 410 once. Its webhook is disabled until it is enabled.
func (s *suite) gone(t *testing.T) {
	if !s.FetchesHere {
		t.Skip("the service delivers no events to this machine")
	}
	var calls atomic.Int32
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 1 {
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer receiver.Close()
	token := s.key(t)
	w := s.newWebhook(t, token, receiver.URL+"/hook", "[]")
	var d delivery
	s.post(t, token, "/"+w.ID+"/test").into(t, &d)
	s.waitFor(t, token, w.ID, d.ID, "undelivered")
	var now webhook
	s.get(t, token, webhooksPath+"/"+w.ID).into(t, &now)
	if now.DisabledAt == "" || now.FailingSince == "" {
		t.Errorf("got %+v, want it to be disabled, and to fail", now)
	}
	w.FailingSince = now.FailingSince
	for _, path := range []string{"/test", "/redeliver"} {
		s.post(t, token, "/"+w.ID+path).refused(t, http.StatusConflict, "webhook is disabled, since its URL answered 410; enable it first")
	}
	body := strings.TrimSuffix(good(), "}") + `,"webhook_url":"` + receiver.URL + `/hook?job=7"}`
	s.do(t, generateCall("application/json", body).with(token)).refused(t, http.StatusBadRequest,
		"webhook_url names a webhook that is disabled, since its URL answered 410; enable it first")
	for range 2 {
		now = webhook{}
		s.post(t, token, "/"+w.ID+"/enable").into(t, &now)
		w.Secret = ""
		if fmt.Sprint(now) != fmt.Sprint(w) {
			t.Errorf("enabled: got %+v, want %+v", now, w)
		}
	}
	var all struct {
		Redelivered int
		More        bool
	}
	if s.post(t, token, "/"+w.ID+"/redeliver").into(t, &all); all.Redelivered != 1 {
		t.Errorf("%d events are sent again, want 1", all.Redelivered)
	}
	s.waitFor(t, token, w.ID, d.ID, "delivered")
	now = webhook{}
	if s.get(t, token, webhooksPath+"/"+w.ID).into(t, &now); now.FailingSince != "" {
		t.Errorf("got %+v, want it to be well", now)
	}
}

// waitFor waits until the delivery has the status.
func (s *suite) waitFor(t *testing.T, token, webhook, id, status string) {
	t.Helper()
	var list struct{ Data []delivery }
	for range 600 {
		s.get(t, token, webhooksPath+"/"+webhook+"/deliveries").into(t, &list)
		for _, d := range list.Data {
			if d.ID == id && d.Status == status {
				return
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("got %+v, want %s %s", list.Data, id, status)
}

// verify checks the call by the library of Standard Webhooks, with each of the secrets.
func (m message) verify(t *testing.T, id string, secrets ...string) {
	t.Helper()
	if got := m.header.Get("webhook-id"); got != id {
		t.Errorf("got webhook-id %q, want %q", got, id)
	}
	for _, secret := range secrets {
		w, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = w.Verify(m.body, m.header)
		}
		if err != nil {
			t.Errorf("%s of %s: %v", m.header, m.body, err)
		}
	}
}
