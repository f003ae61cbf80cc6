package gateway_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/domain/base"
	"lipsync/internal/http/rest"
	"lipsync/internal/test/lipsynctest"
)

// called is a call as the handler gets it.
type called struct {
	method, path, query, host, from string
	header                          http.Header
	body                            string
	length                          int64
}

// call passes an event to a handler that answers with text. It returns the call that the handler
// got, and the function's answer.
func call(t *testing.T, e events.APIGatewayProxyRequest) (c called, answer events.APIGatewayProxyResponse) {
	t.Helper()
	handler := gateway.Handler(rest.Base, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		c = called{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Host, r.RemoteAddr, r.Header, string(body), r.ContentLength}
		w.Header().Add("X-Twice", "1")
		w.Header().Add("X-Twice", "2")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprint(w, "text ü")
	}))
	answer, err := handler(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return c, answer
}

// TestPaths checks clients' paths, as API Gateway leaves them in events and as emulators decode
// them.
func TestPaths(t *testing.T) {
	const byID, progress = "/v1/lipsync/requests/{id}", "/v1/lipsync/requests/{id}/progress"
	for _, c := range []struct{ resource, path, want string }{
		{"/health", "/health", "/api/health"},
		{"/v1/lipsync/requests", "/v1/lipsync/requests", "/api/v1/lipsync/requests"},
		{byID, "/v1/lipsync/requests/abc-1_2.3~", "/api/v1/lipsync/requests/abc-1_2.3~"},
		{byID, "/v1/lipsync/requests/a%2Fb", "/api/v1/lipsync/requests/a%2Fb"},
		{byID, "/v1/lipsync/requests/a/b", "/api/v1/lipsync/requests/a%2Fb"},
		{byID, "/v1/lipsync/requests/%2E%2E", "/api/v1/lipsync/requests/%2E%2E"},
		{byID, "/v1/lipsync/requests/.", "/api/v1/lipsync/requests/%2E"},
		{byID, "/v1/lipsync/requests/a%20b%3F%23%25", "/api/v1/lipsync/requests/a%20b%3F%23%25"},
		{byID, "/v1/lipsync/requests/a b?#%", "/api/v1/lipsync/requests/a%20b%3F%23%25"},
		{byID, "/v1/lipsync/requests/100%", "/api/v1/lipsync/requests/100%25"},
		{byID, "/v1/lipsync/requests/%C3%BC", "/api/v1/lipsync/requests/%C3%BC"},
		{byID, "/v1/lipsync/requests/ü", "/api/v1/lipsync/requests/%C3%BC"},
		{byID, "/v1/lipsync/requests/%00%0A", "/api/v1/lipsync/requests/%00%0A"},
		{byID, "/v1/lipsync/requests/%2525", "/api/v1/lipsync/requests/%2525"},
		{progress, "/v1/lipsync/requests/abc/progress", "/api/v1/lipsync/requests/abc/progress"},
		{progress, "/v1/lipsync/requests/a%2Fprogress/progress", "/api/v1/lipsync/requests/a%2Fprogress/progress"},
		{progress, "/v1/lipsync/requests/a/b/progress", "/api/v1/lipsync/requests/a%2Fb/progress"},
		{progress, "/v1/lipsync/requests/%2E%2E/progress", "/api/v1/lipsync/requests/%2E%2E/progress"},
		{"/v1/webhooks/{id}/deliveries/{delivery}/redeliver", "/v1/webhooks/a%2Fb/deliveries/msg 1/redeliver", "/api/v1/webhooks/a%2Fb/deliveries/msg%201/redeliver"},
		{byID, "/base/v1/lipsync/requests/abc", "/api/v1/lipsync/requests/abc"},
		{"/dashboard/{proxy+}", "/dashboard/settings/keys", "/api/dashboard/settings/keys"},
		{"/dashboard/{proxy+}", "/dashboard/requests/a%2Fb/cancel", "/api/dashboard/requests/a%2Fb/cancel"},
		{"/dashboard/{proxy+}", "/dashboard/a b/ü/%C3%BC", "/api/dashboard/a%20b/%C3%BC/%C3%BC"},
		{"/dashboard/{proxy+}", "/dashboard/../%2e%2E/.", "/api/dashboard/%2E%2E/%2E%2E/%2E"},
		{"/dashboard/{proxy+}", "/base/dashboard/new/", "/api/dashboard/new/"},
		{"/v1/users/me", "/base/v1/users/me", "/api/v1/users/me"},
		{"/v1/users/me", "/v1/users/me/", "/api/v1/users/me/"},
		{"/dashboard", "/dashboard/", "/api/dashboard/"},
		{"/dashboard", "/base/dashboard", "/api/dashboard"},
	} {
		got, _ := call(t, events.APIGatewayProxyRequest{HTTPMethod: "GET", Resource: c.resource, Path: c.path})
		if got.path != c.want {
			t.Errorf("%s: got path %s, want %s", c.path, got.path, c.want)
		}
	}
}

// TestUnknownPaths checks that the handler answers calls that match no other resource.
func TestUnknownPaths(t *testing.T) {
	service := lipsynctest.NewService(t, base.Config{}, base.Ports{})
	handler := gateway.Handler(rest.Base, rest.New(service, rest.Options{Log: slog.New(slog.DiscardHandler)}))
	for resource, paths := range map[string][]string{
		"/":         {"/"},
		"/{proxy+}": {"/v1", "/v2/users/me", "/health/", "//health", "/v1%2Fusers%2Fme", "/v1/lipsync/requests/x/y", "/%2E%2E/health", "/../health"},
	} {
		for _, path := range paths {
			answer, err := handler(t.Context(), events.APIGatewayProxyRequest{HTTPMethod: "GET", Resource: resource, Path: path})
			if want := `{"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"}`; err != nil || answer.StatusCode != http.StatusNotFound || strings.TrimSpace(answer.Body) != want {
				t.Errorf("%s: got %d %s (%v), want 404 %s", path, answer.StatusCode, answer.Body, err, want)
			}
		}
	}
}

func TestCall(t *testing.T) {
	body := "--b\r\n\x00\xff\xfe\r\n"
	e := events.APIGatewayProxyRequest{
		HTTPMethod: "POST", Resource: "/v1/uploads", Path: "/v1/uploads",
		Headers: map[string]string{"x-api-key": "last", "Authorization": ""},
		MultiValueHeaders: map[string][]string{
			"x-api-key": {"first", "last"}, "Authorization": {""}, "content-type": {"multipart/form-data; boundary=b"},
		},
		Body: base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
		RequestContext: events.APIGatewayProxyRequestContext{
			DomainName: "x.execute-api.us-east-1.amazonaws.com",
			Identity:   events.APIGatewayRequestIdentity{SourceIP: "203.0.113.7"},
		},
	}
	got, answer := call(t, e)
	want := called{
		"POST", "/api/v1/uploads", "", "x.execute-api.us-east-1.amazonaws.com", "203.0.113.7",
		http.Header{"X-Api-Key": {"first", "last"}, "Authorization": {""}, "Content-Type": {"multipart/form-data; boundary=b"}},
		body, int64(len(body)),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if answer.StatusCode != http.StatusTeapot || answer.Body != "text ü" || answer.IsBase64Encoded ||
		!reflect.DeepEqual(answer.MultiValueHeaders["X-Twice"], []string{"1", "2"}) {
		t.Errorf("got answer %+v", answer)
	}
}

// TestQueries checks that names and values, which API Gateway decodes and gives in two members,
// arrive once.
func TestQueries(t *testing.T) {
	for name, want := range map[string]url.Values{
		"none":   nil,
		"plain":  {"limit": {"10"}, "offset": {"0"}},
		"twice":  {"limit": {"1", "2"}},
		"empty":  {"limit": {""}},
		"odd":    {"reference_id": {"a&b=c%2F+d;e \x00ü#?"}, "ö & =": {"%zz"}},
		"a plus": {"reference_id": {"+"}},
	} {
		got, _ := call(t, events.APIGatewayProxyRequest{
			HTTPMethod: "GET", Resource: "/v1/lipsync/requests", Path: "/v1/lipsync/requests", MultiValueQueryStringParameters: want,
		})
		values, err := url.ParseQuery(got.query)
		if err != nil || values.Encode() != want.Encode() {
			t.Errorf("%s: got %q (%v), want %q", name, values, err, want)
		}
	}
}

func TestHead(t *testing.T) {
	got, answer := call(t, events.APIGatewayProxyRequest{HTTPMethod: "HEAD", Resource: "/health", Path: "/health"})
	if got.method != "HEAD" || answer.Body != "" || answer.StatusCode != http.StatusTeapot {
		t.Errorf("got method %s, %d %q, want HEAD and no body", got.method, answer.StatusCode, answer.Body)
	}
}

// TestContext checks that a handler's context ends with the function's time.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := gateway.Handler(rest.Base, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Err() == nil {
			t.Error("the handler's context outlives the function's")
		}
		w.WriteHeader(http.StatusOK)
	}))(ctx, events.APIGatewayProxyRequest{HTTPMethod: "GET", Resource: "/health", Path: "/health"})
	if err != nil {
		t.Error(err)
	}
}

// FuzzPath calls any path. The handler must get exactly that request.
func FuzzPath(f *testing.F) {
	for _, id := range []string{"a", "a/b", "a%2Fb", "%", "..", "?#", "\x00", "//", "%zz"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got, _ := call(t, events.APIGatewayProxyRequest{
			HTTPMethod: "GET", Resource: "/v1/lipsync/requests/{id}", Path: "/v1/lipsync/requests/" + id,
		})
		rest, ok := strings.CutPrefix(got.path, "/api/v1/lipsync/requests/")
		if !ok || strings.ContainsAny(rest, "/?# ") || got.query != "" {
			t.Errorf("got path %q and query %q", got.path, got.query)
		}
	})
}
