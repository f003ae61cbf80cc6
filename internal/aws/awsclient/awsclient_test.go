package awsclient_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/aws/awsclient"
)

// ended is a body that ends as the SDK's does once it is closed.
type ended struct{ io.ReadCloser }

func (ended) WriteTo(io.Writer) (int64, error) { return 0, io.EOF }

// TestAnswerIsWhole makes many calls, since it is random whether the body's end or the answer comes
// first.
func TestAnswerIsWhole(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body) // the client reports the failure
	}))
	defer server.Close()
	const want = "text"
	var cfg aws.Config // as LoadDefaultConfig returns it
	awsclient.KeepAnswers(&cfg)
	for range 20 {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(want))
		if err != nil {
			t.Fatal(err)
		}
		r.Body = ended{r.Body}
		response, err := cfg.HTTPClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		if err != nil || string(got) != want {
			t.Fatalf("got %q, %v, want %q", got, err, want)
		}
		response.Body.Close()
	}
}
