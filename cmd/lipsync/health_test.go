package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lipsync/internal/test/check"
)

func TestHealth(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check.Want(t, "path", r.URL.Path, "/api/health")
		w.WriteHeader(status)
	}))
	_, address, _ := strings.Cut(server.URL, "//")
	_, said, exit := command(t, "health", "--addr", address)
	check.Want(t, "status", exit, ok)
	check.Want(t, "said", said, "")

	status = http.StatusServiceUnavailable
	_, said, exit = command(t, "health", "--addr", address)
	check.Want(t, "status of a server that fails", exit, failed)
	check.Want(t, "said", said, "lipsync: the server answers 503 Service Unavailable\n")

	server.Close()
	_, _, exit = command(t, "health", "--addr", address)
	check.Want(t, "status without a server", exit, failed)
}
