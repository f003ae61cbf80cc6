package main

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
)

// TestAccounts has two users. Neither may find what belongs to the other.
func TestAccounts(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	owner, other := d.user(t), d.user(t)
	d.Batch.SetFaults(fakebatch.Faults{NoSubmit: true}) // nothing begins
	defer d.Batch.SetFaults(fakebatch.Faults{})
	made := owner.submit(t, owner.signInTo(t, "/new"), "/dashboard/new", map[string]string{
		"video": "https://example.com/v.mp4", "audio": "https://example.com/a.wav", "model": "warp", "reference_id": "mine",
	})
	path, ok := strings.CutPrefix(made.URL.String(), d.Outputs["DashboardUrl"])
	if made.Status != http.StatusOK || !ok || !strings.HasPrefix(path, "/requests/") {
		t.Fatalf("got %d at %s, want the page of a request: %s", made.Status, made.URL, made.Body)
	}
	other.signIn(t)
	if got := other.open(t, path); got.Status != http.StatusNotFound {
		t.Errorf("another's request: got %d, want 404", got.Status)
	}
	if got := other.open(t, ""); strings.Contains(got.Body, "mine") {
		t.Errorf("another's list shows it: %s", got.Body)
	}
	if got := other.submit(t, other.open(t, "/new"), "/dashboard/new", map[string]string{"video": "ftp://x"}); got.Status != http.StatusBadRequest {
		t.Errorf("a bad form: got %d, want 400", got.Status)
	}
	for _, filter := range []string{"?status=queued", "?reference_id=mine", "?status=queued&reference_id=mine"} {
		if got := owner.open(t, filter); got.Status != http.StatusOK || !strings.Contains(got.Body, path) {
			t.Errorf("the owner's list with %s: got %d, %s", filter, got.Status, got.Body)
		}
	}
	if got := owner.open(t, "/usage"); got.Status != http.StatusOK {
		t.Errorf("usage: got %d", got.Status)
	}
	canceled := owner.submit(t, owner.open(t, path), "/cancel", nil)
	if canceled.Status != http.StatusOK || !strings.Contains(canceled.Body, "canceled by the client") {
		t.Errorf("cancel: got %d, %s", canceled.Status, canceled.Body)
	}
}

// TestSource plays the source video of a request in the dashboard. The request's files came with the
// API call. Once the request is canceled, the video must be gone.
func TestSource(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	d.Batch.SetFaults(fakebatch.Faults{NoSubmit: true}) // nothing begins
	defer d.Batch.SetFaults(fakebatch.Faults{})
	p := d.user(t)
	keys := p.submit(t, p.signInTo(t, "/settings/keys"), "/settings/keys", map[string]string{"name": "program"})
	program := job{testDeployment: d, token: first(tokenOf, keys.Body)}
	path := "/requests/" + program.send(t, fixtures.speech)
	source := html.UnescapeString(first(sourceOf, p.open(t, path).Body))
	if got := p.do(t, http.MethodGet, source, nil); got.Status != http.StatusOK || got.Body != string(read(t, fixtures.video)) {
		t.Errorf("got %d and %d bytes, want the video that was sent", got.Status, len(got.Body))
	}
	canceled := p.submit(t, p.open(t, path), "/cancel", nil)
	if canceled.Status != http.StatusOK || !strings.Contains(canceled.Body, "canceled by the client") || sourceOf.MatchString(canceled.Body) {
		t.Errorf("canceled: got %d, %s, want no source", canceled.Status, canceled.Body)
	}
	if got := p.do(t, http.MethodGet, source, nil); got.Status != http.StatusNotFound {
		t.Errorf("the source of a canceled request: got %d, want 404", got.Status)
	}
}

var (
	tokenOf  = regexp.MustCompile(`id="token">([^<]*)<`)
	sourceOf = regexp.MustCompile(`<video src="([^"]*)"`)
)

// signInTo signs in and opens a page.
func (p *person) signInTo(t *testing.T, path string) visited {
	t.Helper()
	p.signIn(t)
	return p.open(t, path)
}
