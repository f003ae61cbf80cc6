package account_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/infra/account"
)

// TestLogged reads messages from two pages, of which the first is empty, as AWS may answer.
func TestLogged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		switch {
		case r.Header.Get("X-Amz-Target") != "Logs_20140328.FilterLogEvents" || !strings.Contains(string(asked), `"startTime":1700000000000`):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"__type":"InvalidParameterException","message":"no"}`)
		case strings.Contains(string(asked), `"nextToken":"t"`):
			fmt.Fprint(w, `{"events":[{"message":"first"},{"message":"second"}]}`)
		default:
			fmt.Fprint(w, `{"events":[],"nextToken":"t"}`)
		}
	}))
	defer server.Close()
	a := account.Account{Config: aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}}
	got, err := a.Logged(t.Context(), "group", "model", time.Unix(1_700_000_000, 0))
	if want := []string{"first", "second"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q (%v), want %q", got, err, want)
	}
}
