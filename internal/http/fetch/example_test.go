package fetch_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/fetch"
)

// A URL of a client reaches only public addresses, unless the operator allows others. So
// the server of this example, on this machine, can't be reached by default.
func ExampleClient_Fetch() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a video") }))
	defer server.Close()

	for _, private := range []bool{false, true} {
		client := fetch.New(fetch.Options{AllowPrivate: private, Total: time.Minute, Stall: 10 * time.Second})
		var file strings.Builder
		err := client.Fetch(context.Background(), server.URL, &file, 1<<20)
		fmt.Printf("private networks allowed: %t, got %q, code %q\n", private, &file, failure.CodeOf(err))
	}
	// Output:
	// private networks allowed: false, got "", code "private_host"
	// private networks allowed: true, got "a video", code ""
}
