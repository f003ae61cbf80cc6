package main

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"
)

// TestErase erases canceled requests of a server: one by its id, and then all.
func TestErase(t *testing.T) {
	data := t.TempDir()
	s := startServer(t, data)
	c := testClient{s.url, newKey(t, data)}
	var ids []string
	for range 3 {
		id, err := c.generate(t.Context(), fixtures.video, fixtures.speech)
		if err != nil {
			t.Fatal(err)
		}
		c.cancel(t, id)
		ids = append(ids, id)
	}
	for _, call := range []struct {
		args []string
		says string
		left int
	}{
		{nil, "name requests, or give --all", 3},
		{[]string{"unknown"}, "unknown: lipsync request not found", 3},
		{[]string{ids[1]}, "erased: 1\n", 2},
		{[]string{"--all"}, "erased: 2\n", 0},
	} {
		said, _ := exec.CommandContext(t.Context(), fixtures.program, append([]string{"erase", "--url", s.url, "--key", c.token}, call.args...)...).CombinedOutput()
		var list struct{ Data []request }
		err := c.call(t.Context(), http.MethodGet, "/api/v1/lipsync/requests", "", nil, &list)
		if !strings.Contains(string(said), call.says) || len(list.Data) != call.left || err != nil {
			t.Errorf("%v: got %q, %d requests are left (%v), want %q and %d", call.args, said, len(list.Data), err, call.says, call.left)
		}
	}
	if err := s.stop(t); err != nil {
		t.Error(err)
	}
}
