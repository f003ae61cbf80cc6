package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"lipsync/internal/test/awstest/fakebatch"
)

// disturb repeats messages, delays them and changes their order, and throttles calls.
func (s *soaked) disturb(t *testing.T) {
	t.Helper()
	for _, function := range []string{"GenerateWithMedia", "GetRequest", "Dispatch", "Sweep", "Broker"} {
		for _, service := range []string{"DYNAMODB", "S3", "SQS"} {
			s.setVariable(t, function, "AWS_ENDPOINT_URL_"+service, s.between.URL)
		}
	}
	client := sqs.NewFromConfig(s.config)
	s.between.set(func(operation string, w http.ResponseWriter, r *http.Request, pass func(http.ResponseWriter)) {
		if operation == "SendMessage" {
			s.delay(t, client, r)
			pass(w)
			return
		}
		s.mu.Lock()
		refused := s.random.Float64() < throttled && isThrottled(operation)
		if refused {
			s.slowed++
		}
		s.mu.Unlock()
		switch {
		case !refused:
			pass(w)
		case strings.Contains(operation, " "):
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
		default:
			w.Header().Set("Content-Type", "application/x-amz-json-1.0")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}`)
		}
	})
}

// isThrottled reports whether the operation is one of DynamoDB or of S3.
func isThrottled(operation string) bool {
	_, path, isPath := strings.Cut(operation, " ")
	return isPath && strings.HasPrefix(path, "/") || strings.HasSuffix(operation, "Item") || strings.HasSuffix(operation, "Items") || operation == "Query"
}

// delay delays a message that is sent, and sends copies of it.
func (s *soaked) delay(t *testing.T, client *sqs.Client, r *http.Request) {
	var message map[string]any
	if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
		t.Error(err)
		return
	}
	message["DelaySeconds"] = s.number(latest)
	body, _ := json.Marshal(message) // it was JSON before
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Set("Content-Length", strconv.Itoa(len(body)))
	text, _ := message["MessageBody"].(string)
	more := s.number(copies)
	for range more {
		_, err := client.SendMessage(context.WithoutCancel(r.Context()), &sqs.SendMessageInput{
			QueueUrl: aws.String(s.Outputs["QueueUrl"]), MessageBody: &text, DelaySeconds: int32(s.number(latest)),
		})
		if err != nil {
			t.Error(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent, s.came = s.sent+1, s.came+1+more
}

// killSome kills runners, one whenever some more requests have ended.
func (s *soaked) killSome(t *testing.T, done <-chan struct{}) (killed int) {
	moments := make([]int, *soakKills)
	for i := range moments {
		moments[i] = s.number(*soakJobs * 9 / 10)
	}
	moments[0] = 0
	slices.Sort(moments)
	for _, ended := range moments {
		s.Batch.SetFaults(fakebatch.Faults{Throttled: s.number(5)})
		pause := time.Duration(s.number(2000)) * time.Millisecond
		for s.load.Ended() < ended || !s.killAny(t, pause) {
			select {
			case <-done:
				return killed
			case <-time.After(50 * time.Millisecond):
			}
		}
		killed++
	}
	return killed
}

// killAny kills a runner, if one runs before and after the pause.
func (s *soaked) killAny(t *testing.T, pause time.Duration) bool {
	if len(s.Batch.Running()) == 0 {
		return false
	}
	time.Sleep(pause)
	ids := s.Batch.Running()
	return len(ids) > 0 && s.Batch.Signal(ids[s.number(len(ids))], syscall.SIGKILL) == nil
}
