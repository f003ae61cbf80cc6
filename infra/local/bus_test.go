package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	eventtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"lipsync/internal/test/awstest"
)

// busName is the bus of all deployments. Each account of AWS has it.
const busName = "default"

// busQueue has the events that a rule of the bus selects.
type busQueue struct {
	client *sqs.Client
	url    string
	events map[string]published // by their ids
}

// published is an event as the bus gives it to targets.
type published struct {
	Source string
	Type   string `json:"detail-type"`
	Detail struct {
		ID, Account, Type string
		Data              struct {
			ID, Status string
			OutputURL  string `json:"output_url"`
		}
	}
}

// watchBus makes a rule that sends the events of an account to a queue.
func (d *testDeployment) watchBus(t *testing.T, account string) *busQueue {
	t.Helper()
	q := &busQueue{client: sqs.NewFromConfig(d.config), events: map[string]published{}}
	rules, name := eventbridge.NewFromConfig(d.config), aws.String("watch-"+rand.Text())
	made, err := q.client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: name})
	if err != nil {
		t.Fatal(err)
	}
	q.url = *made.QueueUrl
	about, err := q.client.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{
		QueueUrl: made.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn},
	})
	if err == nil {
		_, err = rules.PutRule(t.Context(), &eventbridge.PutRuleInput{
			Name: name, EventPattern: aws.String(fmt.Sprintf(`{"source":["lipsync"],"detail":{"account":[%q]}}`, account)),
		})
	}
	if err == nil {
		_, err = rules.PutTargets(t.Context(), &eventbridge.PutTargetsInput{
			Rule: name, Targets: []eventtypes.Target{{Id: aws.String("queue"), Arn: aws.String(about.Attributes["QueueArn"])}},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// count reads the queue, and returns the number of different events of each type.
func (q *busQueue) count(t *testing.T) map[string]int {
	t.Helper()
	for {
		out, err := q.client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &q.url, MaxNumberOfMessages: 10})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Messages) == 0 {
			break
		}
		for _, m := range out.Messages {
			var e published
			if err := json.Unmarshal([]byte(*m.Body), &e); err != nil {
				t.Fatal(err)
			}
			q.events[e.Detail.ID] = e
			if _, err := q.client.DeleteMessage(t.Context(), &sqs.DeleteMessageInput{QueueUrl: &q.url, ReceiptHandle: m.ReceiptHandle}); err != nil {
				t.Fatal(err)
			}
		}
	}
	types := map[string]int{}
	for _, e := range q.events {
		types[e.Type]++
	}
	return types
}

// want waits for the numbers of events, and checks each event.
func (q *busQueue) want(t *testing.T, account string, want map[string]int) {
	t.Helper()
	await(t, fmt.Sprint("the events ", want, " on the bus"), func() bool { return maps.Equal(q.count(t), want) })
	for id, e := range q.events {
		if e.Source != "lipsync" || e.Detail.Type != e.Type || e.Detail.Account != account || !strings.HasPrefix(id, "msg_") || e.Detail.Data.ID == "" {
			t.Errorf("got the event %+v", e)
		}
		if e.Type == "lipsync.completed" {
			if got := statusAt(t, e.Detail.Data.OutputURL, ""); got != http.StatusOK {
				t.Errorf("the output of %s: got %d", e.Detail.Data.ID, got)
			}
		}
	}
}

// TestBus runs a job while the emulator refuses calls that a role does not allow.
func TestBus(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	j := job{testDeployment: d, account: rand.Text()}
	var err error
	if j.token, _, err = d.service.CreateKey(t.Context(), j.account, "bus", 1); err != nil {
		t.Fatal(err)
	}
	bus := d.watchBus(t, j.account)
	j.id = j.send(t, fixtures.speech)
	j.settle(t)
	bus.want(t, j.account, map[string]int{"lipsync.processing": 1, "lipsync.completed": 1})
}

// killPublisher kills the processes of the function publish whose calls of EventBridge go through the proxy. It returns their number.
func (d *testDeployment) killPublisher(t *testing.T) (killed int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == publisherProxy+"="+d.between.URL }) {
			continue // it ended, or is another process
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	return killed
}

// publisherProxy is the variable with the address of EventBridge.
const publisherProxy = "AWS_ENDPOINT_URL_EVENTBRIDGE"
