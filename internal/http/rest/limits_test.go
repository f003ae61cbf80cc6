package rest

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
)

// reachLimits checks accounts at their limits of open requests and of stored bytes: each endpoint
// must refuse calls that would exceed them, with a sentence that names the limit.
func (f *fixture) reachLimits(t *testing.T, c *http.Client, base string) {
	t.Helper()
	const url, form, upload = "/lipsync/generate", "/lipsync/generate-with-media", "/uploads"
	const many = "account has as many open requests as it may have, 1; try again when one is finished"
	const full = "account's uploads, outputs and records may take 1000 bytes, and there is no room for more"
	bodies := map[string]string{
		url:    `{"inputs":[{"type":"video","url":"http://x.example"},{"type":"audio","url":"http://x.example"}]}`,
		form:   file("video", "v") + file("audio", "a") + last,
		upload: `{"type":"audio","size":1000}`,
	}
	defer func(l lipsync.Limits) { f.service.Limits = l }(f.service.Limits)
	for _, test := range []struct {
		limit               func(*lipsync.Limits)
		taken               string   // endpoint that accepts the first call
		refused             []string // endpoints that refuse the next calls
		status              int
		message, retryAfter string
	}{
		{func(l *lipsync.Limits) { l.Open = 1 }, url, []string{url, form}, 429, many, "60"},
		{func(l *lipsync.Limits) { l.Stored = 1000 }, upload, []string{url, form, upload}, 507, full, ""},
	} {
		f.service.Limits = lipsync.DefaultLimits()
		test.limit(&f.service.Limits)
		token := f.key(t)
		for i, path := range append([]string{test.taken}, test.refused...) {
			r, err := http.NewRequest(http.MethodPost, base+"/api/v1"+path, strings.NewReader(bodies[path]))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("x-api-key", token)
			r.Header.Set("Content-Type", "application/json")
			if path == form {
				r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
			}
			resp, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Error string }
			err = json.NewDecoder(resp.Body).Decode(&got)
			resp.Body.Close()
			status, message, retryAfter := test.status, test.message, test.retryAfter
			if i == 0 {
				status, message, retryAfter = 200, "", ""
			}
			if retry := resp.Header.Get("Retry-After"); err != nil || resp.StatusCode != status || got.Error != message || retry != retryAfter {
				t.Errorf("call %d of %s: got %d %q, Retry-After %q (%v); want %d %q, %q",
					i+1, path, resp.StatusCode, got.Error, retry, err, status, message, retryAfter)
			}
		}
	}
}
