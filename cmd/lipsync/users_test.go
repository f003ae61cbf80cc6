package main

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
)

// TestEndSessions ends the sessions of a running server's dashboard.
func TestEndSessions(t *testing.T) {
	s := startServer(t, t.TempDir())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	path := func(response *http.Response, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.Request.URL.Path
	}
	if got := path(browser.PostForm(s.link(t), nil)); got != "/dashboard" {
		t.Fatalf("sign-in leads to %s", got)
	}
	if _, said, status := command(t, "users", "end-sessions", "--data", s.data); status != ok || !strings.Contains(said, "the account default") {
		t.Fatalf("got status %d, %q", status, said)
	}
	if got := path(browser.Get(s.url + "/dashboard")); got != "/dashboard/sign-in" {
		t.Errorf("after the end of all sessions the browser gets %s", got)
	}
	if got := path(browser.PostForm(s.link(t), nil)); got != "/dashboard" {
		t.Errorf("a new sign-in leads to %s", got)
	}
}

func TestEndSessionsRefused(t *testing.T) {
	for want, args := range map[string][]string{
		"has no data of the service": {"--data", t.TempDir()},
		"--account is missing":       {"--table", "t"},
	} {
		if _, said, status := command(t, append([]string{"users", "end-sessions"}, args...)...); status != failed || !strings.Contains(said, want) {
			t.Errorf("%q: got status %d, %q, want %q", args, status, said, want)
		}
	}
}

func TestEndSessionsOnAWS(t *testing.T) {
	e := awsEnvironment(t)
	table := e.Table(t)
	store := dynamodb.New(e.Config(), table)
	before, err := store.Sessions.Generation(t.Context(), "sub-1")
	if err != nil {
		t.Fatal(err)
	}
	end := []string{"users", "end-sessions", "--table", table, "--account", "sub-1"}
	if _, said, status := command(t, end...); status != ok || !strings.Contains(said, "has no keys and no requests of the account sub-1") {
		t.Fatalf("got status %d, %q", status, said)
	}
	if err := store.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "sub-1"}); err != nil {
		t.Fatal(err)
	}
	if _, said, status := command(t, end...); status != ok || !strings.HasPrefix(said, "All sessions of the account sub-1") {
		t.Fatalf("got status %d, %q", status, said)
	}
	after, err := store.Sessions.Generation(t.Context(), "sub-1")
	other, err2 := store.Sessions.Generation(t.Context(), "sub-2")
	if err != nil || err2 != nil || after == before || other != before {
		t.Errorf("got generations %q to %q, and %q of another account, %v, %v", before, after, other, err, err2)
	}
}
