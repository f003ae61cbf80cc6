package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/lipsynctest"
)

// patience is the time that a small job may take on a busy machine.
const patience = 3 * time.Minute

// job is one request with a key of its own, which may make no other.
type job struct {
	*testDeployment
	id, account, token string
}

// newJob sends the small video and speech.
func (d *testDeployment) newJob(t *testing.T) job {
	t.Helper()
	return d.newJobOf(t, fixtures.speech)
}

// newJobOf sends the small video and a speech, whose length is also that of the output.
func (d *testDeployment) newJobOf(t *testing.T, speech string) job {
	t.Helper()
	j := job{testDeployment: d, account: rand.Text()}
	var err error
	if j.token, _, err = d.service.CreateKey(t.Context(), j.account, "job", 1); err != nil {
		t.Fatal(err)
	}
	j.id = j.send(t, speech)
	return j
}

// send sends the small video and a speech, and returns the id of the request.
func (j job) send(t *testing.T, speech string) string {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, path := range map[string]string{"video": fixtures.video, "audio": speech} {
		part, err := form.CreateFormFile(field, filepath.Base(path))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write(read(t, path)) // writing to memory can't fail
	}
	_ = form.Close()
	var made struct {
		ID string `json:"request_id"`
	}
	j.call(t, http.MethodPost, "/v1/lipsync/generate-with-media", form.FormDataContentType(), &body, &made)
	return made.ID
}

func (j job) call(t *testing.T, method, path, contentType string, body io.Reader, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, j.URL+"/"+stage+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+j.token)
	r.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: got %s %s (error %v)", method, path, response.Status, content, err)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		t.Fatalf("%s %s: %v: %s", method, path, err, content)
	}
}

// record returns the request as the store has it.
func (j job) record(t testing.TB) lipsync.Request {
	t.Helper()
	r, err := j.service.Store.Requests.ByID(t.Context(), j.id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// settle waits until the request is final. If no runner is left, it ends the request's lease or
// pause early, and calls the sweep.
func (j job) settle(t *testing.T) {
	t.Helper()
	await(t, "the end of the request", func() bool {
		r := j.record(t)
		if r.Status.Final() {
			return true
		}
		if j.Batch.Idle() {
			if err := j.endWait(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			j.invoke(t, "Sweep")
		}
		return false
	})
}

// endWait ends the lease of a dead worker or the pause after an attempt, so that the test need not
// wait for it.
func (d *testDeployment) endWait(ctx context.Context, r lipsync.Request) error {
	leases, now := d.service.Store.Leases, time.Now()
	var err error
	switch {
	case r.Lease != "":
		if err = leases.Renew(ctx, r.ID, r.Lease, now.Add(-time.Second)); err == nil {
			err = d.endEntry(ctx, r.ID)
		}
	case r.LeaseUntil.After(now):
		err = lipsynctest.EndPause(ctx, leases, r, now)
	}
	if failure.CodeOf(err) == failure.Conflict {
		return nil // it ended by itself
	}
	return err
}

// endEntry ends the queue entry of a request whose lease was ended. The entry still has the lease's
// first end, before which nothing reads the lease.
func (d *testDeployment) endEntry(ctx context.Context, id string) error {
	text := func(s string) *dynamodbtypes.AttributeValueMemberS {
		return &dynamodbtypes.AttributeValueMemberS{Value: s}
	}
	_, err := dynamodb.NewFromConfig(d.config).UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String(d.Outputs["TableName"]), Key: map[string]dynamodbtypes.AttributeValue{
			table.PartitionKey: text("request/" + id), table.SortKey: text("turn"),
		},
		UpdateExpression: aws.String("SET #until = :past"), ConditionExpression: aws.String("attribute_exists(#until)"),
		ExpressionAttributeNames:  map[string]string{"#until": "until"},
		ExpressionAttributeValues: map[string]dynamodbtypes.AttributeValue{":past": &dynamodbtypes.AttributeValueMemberN{Value: "1"}},
	})
	if _, ok := errors.AsType[*dynamodbtypes.ConditionalCheckFailedException](err); ok {
		return nil // it is no longer held
	}
	return err
}

// unlockScaling lets the next function start runners at once: it deletes the scaling lock.
func (d *testDeployment) unlockScaling(t testing.TB) {
	t.Helper()
	await(t, "the runners to leave", d.Batch.Idle)
	key := map[string]dynamodbtypes.AttributeValue{
		table.PartitionKey: &dynamodbtypes.AttributeValueMemberS{Value: queue.PoolKey}, table.SortKey: &dynamodbtypes.AttributeValueMemberS{Value: "pool"},
	}
	if _, err := dynamodb.NewFromConfig(d.config).DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(d.Outputs["TableName"]), Key: key}); err != nil {
		t.Fatal(err)
	}
}

// want checks the data of a completed request, which must be the same after any fault: one final
// state, one use of the key, and one output.
func (j job) want(t *testing.T) {
	t.Helper()
	r := j.record(t)
	if r.Status != lipsync.Completed {
		t.Errorf("got %+v, want it completed", r)
	}
	objects := s3.New(j.config, j.Outputs["BucketName"], s3.Signer{})
	wanted := []string{strings.TrimSuffix(r.Output, ".mp4") + ".jpg", r.Output}
	if !r.Poster {
		t.Error("the output has no poster")
	}
	await(t, "no output but "+r.Output, func() bool { // at its end, the last runner deletes the outputs of others
		var outputs []string
		err := objects.List(t.Context(), "outputs/"+j.id+"/", func(key string, _ time.Time) error {
			outputs = append(outputs, key)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return slices.Equal(outputs, wanted)
	})
	keys, err := j.service.Store.Keys.List(t.Context(), j.account)
	if err != nil || len(keys) != 1 || keys[0].Used != 1 {
		t.Errorf("got keys %+v (error %v), want one that was used once", keys, err)
	}
	var page struct{ Pagination struct{ Total int } }
	j.call(t, http.MethodGet, "/v1/lipsync/requests", "", http.NoBody, &page)
	if page.Pagination.Total != 1 {
		t.Errorf("got %d requests, want 1", page.Pagination.Total)
	}
}

// invoke calls a function of the stack by its name in the template, as the schedule does.
func (d *testDeployment) invoke(t *testing.T, name string) {
	t.Helper()
	out, err := lambda.NewFromConfig(d.config).Invoke(t.Context(), &lambda.InvokeInput{
		FunctionName: aws.String(d.function(t, name)), Payload: []byte("{}"),
	})
	if err != nil || out.FunctionError != nil {
		t.Fatalf("%s: %v %s %s", name, err, aws.ToString(out.FunctionError), out.Payload)
	}
}

// function returns the name of the function whose name in the template begins with name.
func (d *testDeployment) function(t testing.TB, name string) string {
	t.Helper()
	resources, err := cloudformation.NewFromConfig(d.config).DescribeStackResources(t.Context(),
		&cloudformation.DescribeStackResourcesInput{StackName: &d.stack})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range resources.StackResources {
		// The CDK adds 8 digits of a hash to a name.
		if *r.ResourceType == "AWS::Lambda::Function" && len(*r.LogicalResourceId) == len(name)+8 && (*r.LogicalResourceId)[:len(name)] == name {
			return *r.PhysicalResourceId
		}
	}
	t.Fatalf("the stack has no function %s", name)
	return ""
}

// await waits until f reports true.
func await(t testing.TB, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !f(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting for %s", what)
		}
	}
}

// quiet waits until no request of an earlier test is left, and stops runners. The next one can be started at once.
func (d *testDeployment) quiet(t *testing.T) {
	t.Helper()
	told := map[string]time.Time{} // a second signal soon ends a runner before it removes its files
	await(t, "earlier requests", func() bool {
		open, err := d.service.Store.Leases.Open(t.Context(), time.Now().Add(lipsync.Lease), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range d.Batch.Running() {
			if len(open) == 0 && time.Since(told[id]) > 10*time.Second { // it may have been started again
				told[id] = time.Now()
				_ = d.Batch.Signal(id, syscall.SIGTERM) // it may have ended
			}
		}
		return len(open) == 0 && d.Batch.Idle()
	})
	d.unlockScaling(t)
}
