package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// FuzzVariants checks that any lines of a batch are read as some variants or refused with a message, and that a call with them, or with a body of
// JSON, gets an answer or a refusal.
func FuzzVariants(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"video":"https://example.com/v","audio":"https://example.com/a"}`, ""}, {"{}\n\n{}\r\n", "dry_run=true"}, {"null", "dry_run=1"}, {"{", "%"},
		{`{"options":{"sync_mode":"x"}}`, "video=a&video=b"}, {`{"output":{"fps":1e3}}`, "webhook_url="}, {strings.Repeat("{}\n", 1002), "dry_run=true"}, {"\xff", ""},
		{`{"video":"https://example.com/v","dry_run":true,"variants":[{"audio":"https://example.com/a"},{"options":1},null]}`, "dry_run=true"}, {`{"variants":{}}`, "dry_run=true"},
		{`{"audio":"https://example.com/a","options":{"face":{"at":[1,2]}}}`, "video=https://example.com/v&dry_run=false"}, {"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, body, query string) {
		all, err := parseVariants([]byte(body))
		if err != nil && failure.CodeOf(err) != failure.Invalid || len(all) > lipsync.MostLines {
			t.Errorf("%q: got %d variants and %v", body, len(all), err)
		}
		b, err := parseBatchQuery(query)
		if err == nil && !b.DryRun {
			query += "&dry_run=x" // refuse it: no batch of the test must be made
		}
		for _, kind := range []string{"application/jsonl", "application/json"} {
			r := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/batches", strings.NewReader(body))
			r.URL.RawQuery = query
			r.Header.Set("Content-Type", kind)
			w := fx.call(r, token)
			fx.log.Reset()
			if w.Code != http.StatusBadRequest && (w.Code != http.StatusOK || !b.DryRun) {
				t.Errorf("%q %q %s: got %d %s", query, body, kind, w.Code, w.Body)
			}
		}
	})
}
