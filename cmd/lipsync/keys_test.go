package main

import (
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// createKey makes a key as the command line does, in this process: starting another takes longer than most tests of the API.
func createKey(t testing.TB, data, account, name string, limit int64) (token string) {
	t.Helper()
	c := createKeyCommand{deploymentFlags: deploymentFlags{dataFlag: dataFlag{Data: data}}, Name: name, Account: account}
	if limit > 0 {
		c.Limit = &limit
	}
	var out strings.Builder
	if err := c.Run(t.Context(), streams{Out: &out, Err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// revokeKey revokes the newest key of an account.
func revokeKey(t testing.TB, data, account string) {
	t.Helper()
	var id string
	for _, k := range keyList(t, "--data", data) {
		if k.Account == account {
			id = k.ID // the newest is last
		}
	}
	if out, err := exec.Command(fixtures.program, "keys", "revoke", "--data", data, id).CombinedOutput(); err != nil {
		t.Fatalf("keys revoke: %v: %s", err, out)
	}
}

// keyList lists the keys of a deployment: --data or --table and its value.
func keyList(t testing.TB, deployment ...string) []keyJSON {
	t.Helper()
	out, err := exec.Command(fixtures.program, append([]string{"keys", "list", "--json"}, deployment...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []keyJSON
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("keys list: %v in %s", err, out)
	}
	return list
}

func TestKeys(t *testing.T) { testKeys(t, "--data", t.TempDir()) }

// testKeys makes, lists and revokes keys of a deployment: --data or --table and its value.
func testKeys(t *testing.T, deployment ...string) {
	keys := func(args ...string) (stdout, stderr string, status int) {
		t.Helper()
		return command(t, slices.Concat([]string{"keys"}, args[:1], deployment, args[1:])...)
	}
	if deployment[0] == "--data" { // that is made with the first key
		for _, args := range [][]string{{"list"}, {"revoke", "id"}} {
			if _, said, status := keys(args...); status != failed || !strings.Contains(said, deployment[1]+" has no data of the service; choose another with --data") {
				t.Errorf("%s: got %q, status %d, want it refused", args, said, status)
			}
		}
		wantFiles(t, deployment[1])
	} else if out, _, status := keys("list", "--json"); status != ok || strings.TrimSpace(out) != "[]" {
		t.Errorf("no key: got %q, status %d, want []", out, status)
	}
	out, said, status := keys("create", "--name", "a name", "--account", "acme", "--limit", "3")
	if status != ok || !strings.Contains(said, deployment[1]) || !regexp.MustCompile(`^\S{40,}\n$`).MatchString(out) {
		t.Fatalf("create: got %q, %q, status %d, want only the key, and its deployment on standard error", out, said, status)
	}
	token := strings.TrimSpace(out)
	if _, said, status := keys("create", "--name", "second", "--account", "acme", "--max-keys", "1"); status != failed || !strings.Contains(said, "active keys as it may have, 1") {
		t.Errorf("one too many: got %q, status %d, want it refused", said, status)
	}
	for _, n := range []string{"0", "-1"} {
		if _, said, status := keys("create", "--name", "second", "--max-keys="+n); status != usage || !strings.Contains(said, "--max-keys must be more than 0") {
			t.Errorf("--max-keys=%s: got %q, status %d, want it refused", n, said, status)
		}
	}
	for _, n := range []string{"0", "-1"} {
		if _, said, status := keys("create", "--name", "second", "--limit="+n); status != usage || !strings.Contains(said, "--limit must be 1 or more") {
			t.Errorf("--limit=%s: got %q, status %d, want it refused", n, said, status)
		}
	}
	list := keyList(t, deployment...)
	if len(list) != 1 {
		t.Fatalf("list: got %+v, want one key", list)
	}
	k := list[0]
	if k.Name != "a name" || k.Account != "acme" || k.Limit == nil || *k.Limit != 3 || k.Used != 0 || k.LastUsed != nil || k.RevokedAt != nil {
		t.Errorf("list: got %+v", k)
	}
	table, _, _ := keys("list")
	if !strings.Contains(table, k.ID) || strings.Contains(table, token) {
		t.Errorf("list: got %q, want the id and not the key", table)
	}
	for _, id := range []string{k.ID, k.ID} { // the second call changes nothing
		if _, said, status := keys("revoke", id); status != ok {
			t.Errorf("revoke: got status %d, %q", status, said)
		}
	}
	if k := keyList(t, deployment...)[0]; k.RevokedAt == nil {
		t.Errorf("after revoke: got %+v", k)
	}
	if _, said, status := keys("revoke", "nobody"); status != failed || said != "lipsync: key not found\n" {
		t.Errorf("revoke an unknown key: got status %d, %q", status, said)
	}
}

// TestRevokeWhileServing revokes a key that a running server has just accepted.
func TestRevokeWhileServing(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	token := createKey(t, data, "account", "name", 0)
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		if got := s.me(t, token); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
		revokeKey(t, data, "account")
	}
}

// me returns the status with which the server answers the owner of a key.
func (s *server) me(t *testing.T, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/users/me", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", key)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

// TestExpiry makes a key that has expired by the time of its first call, and one that hasn't.
func TestExpiry(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	for expires, want := range map[string]int{"1ms": http.StatusUnauthorized, "1h": http.StatusOK} {
		key, said, status := command(t, "keys", "create", "--data", data, "--name", expires, "--expires", expires)
		if got := s.me(t, strings.TrimSpace(key)); status != ok || got != want {
			t.Errorf("%s: got status %d, %s and the answer %d, want %d", expires, status, said, got, want)
		}
	}
	for _, k := range keyList(t, "--data", data) {
		if k.ExpiresAt == nil || k.ExpiresAt.After(k.CreatedAt.Add(2*time.Hour)) {
			t.Errorf("got %+v, want it to expire", k)
		}
	}
	if _, said, status := command(t, "keys", "create", "--data", data, "--name", "k", "--expires", "0s"); status != usage {
		t.Errorf("got status %d, %s, want a refusal", status, said)
	}
}
