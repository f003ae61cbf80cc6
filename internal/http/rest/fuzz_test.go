package rest

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"lipsync/internal/domain/failure"
)

// post calls an endpoint with a JSON body.
func (f *fixture) post(token, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return f.call(r, token)
}

// newFuzzFixture returns a service without limits of rates and of what an account may have.
func newFuzzFixture(f *testing.F) (fx *fixture, token string) {
	fx = newFixture(f)
	fx.service.GenerateRate, fx.service.ReadRate = math.MaxInt, math.MaxInt
	l := &fx.service.Limits
	l.Open, l.Stored, l.Keys, l.Webhooks = math.MaxInt, math.MaxInt64, math.MaxInt, math.MaxInt
	return fx, fx.key(f)
}

// wantRefusal checks that the body got the status 400 or 413 and a message.
func wantRefusal(t *testing.T, body []byte, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusBadRequest && w.Code != http.StatusRequestEntityTooLarge || errorOf(t, w) == "" {
		t.Errorf("%q: got %d %s, want 400 or 413 with a message", body, w.Code, w.Body)
	}
}

// FuzzGenerateBody checks that an accepted body is JSON with one video and one audio, and that
// every other body gets 400 or 413. A call for an estimate takes the same bodies.
func FuzzGenerateBody(f *testing.F) {
	for _, seed := range []string{
		`{"inputs":[{"type":"video","url":"http://a.example/v"},{"type":"audio","url":"https://a.example/a"}]}`,
		`{"inputs":[{"type":"audio","url":"upload://x"},{"type":"video","url":"http://[::1]:80/"}],"reference_id":"é","disable_active_speaker_detection":true}`,
		`{"inputs":[{"type":"video"},{"type":"video"}],"reference_id":null}`, `{"inputs":null}`, `null`, `[]`, `{}{}`, `{"inputs":[null]}`, "\xff", "",
		`{"inputs":[{"type":"video","url":"http://a.example/v"},{"type":"audio","url":"https://a.example/a"}],"options":{"sync_mode":"loop","silence":null}}`,
		`{"options":{"voice_gain":0.5,"original_gain":1e-3,"duck":true,"preview":{"start":0,"seconds":1.5},"mask":{"feather":0.5,"expand":1.2}}}`,
		`{"inputs":[{"type":"video","url":"http://a.example/v"},{"type":"audio","url":"https://a.example/a"}],"output":{"format":"mov","codec":"prores","fps":23.976,"file_name":"a","upload_url":"https://a.example/o?s=1"}}`,
		`{"output":{"width":1e2,"fps":"source"},"options":{"output":{}}}`, `{"options":{"no_face":"fail","x":1}}`, `{"options":null,"options":{"silence":1,"silence":"keep"}}`,
		`{"inputs":[{"type":"image","url":"http://a"}]}`, `{"inputs":[],"inputs":[]}`, `{"reference_id":"\ud800"}`, strings.Repeat("[", 20000),
	} {
		f.Add([]byte(seed))
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		w, estimate := fx.post(token, "/api/v1/lipsync/generate", string(body)), fx.post(token, "/api/v1/lipsync/estimate", string(body))
		fx.log.Reset()
		if w.Code != estimate.Code {
			t.Errorf("%q: got %d, and %d for an estimate", body, w.Code, estimate.Code)
		}
		if w.Code != http.StatusOK {
			wantRefusal(t, body, w)
			return
		}
		kinds := map[failure.MediaKind]int{}
		var in generateBody
		if err := json.Unmarshal(body, &in); err != nil || !utf8.Valid(body) {
			t.Errorf("%q was taken", body)
		}
		for _, i := range in.Inputs {
			kinds[i.Type]++
		}
		if kinds[failure.Video] != 1 || kinds[failure.Audio] != 1 || len(in.Inputs) != 2 {
			t.Errorf("%q was taken", body)
		}
	})
}

// FuzzUpload checks that an accepted upload is within its bounds, and that every other one gets 400
// or 413.
func FuzzUpload(f *testing.F) {
	for _, seed := range []string{
		`{"type":"video","size":1}`, `{"type":"audio","size":1048576,"content_type":"audio/wav; a=\"b\""}`, `{"type":"audio","size":1048577}`,
		`{"type":"video","size":1e3}`, `{"type":"video","size":-0}`, `{"type":"video","size":9223372036854775808}`, `{"type":"video","content_type":"x/y\r\nA: b"}`,
		`null`, `{}`, `[`, "",
	} {
		f.Add([]byte(seed))
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		w := fx.post(token, "/api/v1/uploads", string(body))
		fx.log.Reset()
		if w.Code != http.StatusOK {
			wantRefusal(t, body, w)
			return
		}
		var got upload
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.UploadURL == "" || got.URL == "" {
			t.Errorf("%q: got %s", body, w.Body)
		}
		var in uploadBody
		err := json.Unmarshal(body, &in)
		if err != nil || in.Size < 1 || int64(in.Size) > fx.service.MaxSize(in.Type) || strings.ContainsAny(in.ContentType, "\r\n") {
			t.Errorf("%q was taken", body)
		}
	})
}

// FuzzListQuery checks that an accepted query is within its bounds, and that every other one gets a
// message.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1&offset=0&reference_id=a", "limit=100", "limit=101", "offset=9007199254740992", "limit=%31", "limit=1&limit=2", "a;b", "%", "reference_id=%ff",
		"reference_id=a%2Fb+c", "limit", "&&", "offset=-1", "offset=007", "cursor=", "cursor=x", "cursor=&offset=1", "cursor=Y2Nj&cursor=",
	} {
		f.Add(seed)
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, query string) {
		q, place, err := parseListQuery(query)
		if err == nil && (q.Limit < 1 || q.Limit > 100 || q.Offset < 0 || q.Offset >= 1<<53 || utf8.RuneCountInString(q.ReferenceID) > 255) {
			t.Errorf("%q was taken as %+v", query, q)
		}
		r := httptest.NewRequest(http.MethodGet, "/api/v1/lipsync/requests", nil)
		r.URL.RawQuery = query
		w := fx.call(r, token)
		fx.log.Reset()
		want := http.StatusOK
		if err != nil || place != nil && *place != "" && w.Code == http.StatusBadRequest { // only the store knows its places
			want = http.StatusBadRequest
		}
		if w.Code != want || !json.Valid(bytes.TrimSpace(w.Body.Bytes())) {
			t.Errorf("%q: got %d %s, want %d", query, w.Code, w.Body, want)
		}
	})
}
