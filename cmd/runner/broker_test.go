package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lipsync/internal/aws/broker"
	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// logged keeps what is written to it. It is safe for concurrent use.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// lateFunction is the name of a broker whose clock is late, so that its leases have ended.
const lateFunction = "late"

// serveLeases serves the functions of leases as Lambda does, in this process.
func (a *account) serveLeases(t *testing.T, cfg aws.Config) {
	t.Helper()
	handlers := map[string]func(context.Context, json.RawMessage) (json.RawMessage, error){}
	for name, now := range map[string]func() time.Time{"broker": time.Now, lateFunction: ago(2 * lipsync.Lease)} {
		d, err := cloud.New(cfg, a.getenv, &a.functionLog, cloud.Records, media.Kept, cloud.Demand, messages.Queue, messages.Deliveries, cloud.Broker)
		if err != nil {
			t.Fatal(err)
		}
		d.Service.Now = now
		handlers[name] = broker.Handler(d.Service, d.Table.Queue, broker.NewSessions(d.Config, d.MediaRole, d.Bucket), d.Log)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handle := handlers[strings.Split(r.URL.Path, "/")[3]] // after the version and "functions"
		if handle == nil {
			w.Header().Set("X-Amzn-Errortype", "ResourceNotFoundException")
			w.WriteHeader(http.StatusNotFound)
			return
		}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			text, err = handle(r.Context(), text)
		}
		if err != nil {
			w.Header().Set("X-Amz-Function-Error", "Unhandled")
			text = []byte(err.Error())
		}
		_, _ = w.Write(text) // the runner notices a lost answer
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL_LAMBDA", server.URL)
}

// TestInvoke has a function that is busy, and one that crashed. Neither means that the runner's lease is lost.
func TestInvoke(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		value  string
		status int
		want   failure.Code
	}{
		"answers": {"X-Answer", "yes", http.StatusOK, ""},
		"busy":    {"X-Amzn-Errortype", "TooManyRequestsException", http.StatusTooManyRequests, failure.RateLimited},
		"crashed": {"X-Amz-Function-Error", "Unhandled", http.StatusOK, failure.Unavailable},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(c.header, c.value)
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, `{}`) // the call notices a lost answer
		}))
		defer server.Close()
		client := lambda.New(lambda.Options{
			Region: "us-east-1", BaseEndpoint: &server.URL, RetryMaxAttempts: 1, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
		})
		answer, err := invoker(client, "broker")(t.Context(), []byte(`{}`))
		if failure.CodeOf(err) != c.want || (err == nil) != (string(answer) == "{}") {
			t.Errorf("%s: got %s, %v, want the code %q", name, answer, err, c.want)
		}
	}
}
