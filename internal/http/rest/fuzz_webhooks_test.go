package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzWebhook checks that any body gets a webhook or a refusal, and never a fault. Each webhook is deleted
// again, since an account may have few.
func FuzzWebhook(f *testing.F) {
	for _, seed := range []string{
		`{"url":"https://example.com/hook"}`, `{"url":"https://example.com/","events":[]}`, `{"url":"https://EXAMPLE.com:1/%41?a=b#c","events":["lipsync.failed"]}`,
		`{"url":"http://[::1%25x]/","events":null}`, `{"url":1}`, `{"events":["x"]}`, `null`, `[]`, `{"url":"https://ü.example/` + "\u00a0" + `"}`,
	} {
		f.Add(seed)
	}
	fx, token := newFuzzFixture(f)
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/webhooks", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := fx.call(r, token)
		fx.log.Reset()
		var made webhook
		if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusOK && w.Code != http.StatusBadRequest {
			t.Fatalf("%q: got %d %s", body, w.Code, w.Body)
		}
		if w.Code == http.StatusBadRequest {
			return
		}
		if w := fx.call(httptest.NewRequest(http.MethodDelete, "/api/v1/webhooks/"+made.ID, nil), token); w.Code != http.StatusOK {
			t.Errorf("%q: its webhook can't be deleted: %d %s", body, w.Code, w.Body)
		}
		fx.log.Reset()
	})
}

// FuzzDeliveryQuery checks that any query of a list of deliveries or batches is taken within its bounds, or refused.
func FuzzDeliveryQuery(f *testing.F) {
	for _, seed := range []string{"", "limit=1&before=msg_1", "limit=101", "limit=0", "before=", "before=%00", "before=a&before=b", "a;b", "%", "limit=%31"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		limit, before, err := parsePageQuery(query, "delivery")
		if err == nil && (limit < 1 || limit > 100 || len(before) > 255 || !printable(before)) {
			t.Errorf("%q was taken as %d and %q", query, limit, before)
		}
	})
}
