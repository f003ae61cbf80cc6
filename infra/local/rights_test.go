package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	sdk "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"

	"lipsync/internal/aws/broker"
	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
)

// takenOver is what an attacker has who took over a runner: its environment, the credentials of its role, and those that it got for the request that
// it claimed.
type takenOver struct {
	*testDeployment
	runner  aws.Config
	invoke  broker.Invoke
	records *broker.Records
	work    *service.Work

	mu       sync.Mutex
	sessions []aws.CredentialsProvider
}

func (d *testDeployment) takeOver(t *testing.T) *takenOver {
	t.Helper()
	answer, err := http.Get("http://" + d.batchAddress + credentialsPath)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var role struct{ AccessKeyID, SecretAccessKey, Token string }
	if err := json.NewDecoder(answer.Body).Decode(&role); err != nil {
		t.Fatal(err)
	}
	o := &takenOver{testDeployment: d, runner: d.config.Copy()}
	o.runner.Credentials = credentials.NewStaticCredentialsProvider(role.AccessKeyID, role.SecretAccessKey, role.Token)
	o.invoke = func(ctx context.Context, text []byte) ([]byte, error) {
		out, err := lambda.NewFromConfig(o.runner).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(d.function(t, "Broker")), Payload: text})
		if err != nil {
			return nil, err
		}
		return out.Payload, nil
	}
	o.records = broker.NewRecords(o.invoke, lipsync.DoesAll)
	open := func(c aws.CredentialsProvider) lipsync.Objects {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.sessions = append(o.sessions, c)
		config := o.runner.Copy()
		config.Credentials = c
		objects := s3.New(config, d.Outputs["BucketName"], s3.Signer{})
		objects.Unlisted = true
		return objects
	}
	b, err := base.New(base.Config{}, base.Ports{Objects: broker.NewObjects(o.records, open(o.runner.Credentials), open)})
	if err != nil {
		t.Fatal(err)
	}
	o.work = service.NewWork(b, o.records)
	return o
}

// TestRunnerRights takes over a runner that has claimed one of two requests. It can do that request, and reach no byte and no record of the other one.
func TestRunnerRights(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	d.quiet(t)
	d.Batch.SetFaults(fakebatch.Faults{NoSubmit: true})
	first, second := d.newJob(t), d.newJob(t)
	o := d.takeOver(t)
	own, err := o.work.Claim(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	mine, other := first, second
	if own.ID == second.id {
		mine, other = second, first
	}
	// Claimed too, so that there is another runner's lease to take.
	theirs, err := d.service.Claim(t.Context(), other.id)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("own", func(t *testing.T) { o.doOwn(t, own) })
	before := other.record(t)
	t.Run("other's media", func(t *testing.T) { o.reachMedia(t, theirs) })
	t.Run("other's record", func(t *testing.T) { o.reachRecords(t, own, theirs) })
	t.Run("other rights", o.reachRest)
	if after := other.record(t); !reflect.DeepEqual(before, after) {
		t.Errorf("the other request is %+v, and was %+v", after, before)
	}
	if err := errors.Join(o.records.Release(t.Context(), own), d.service.Release(t.Context(), theirs)); err != nil {
		t.Fatal(err)
	}
	if err := o.records.Held(t.Context(), own); failure.CodeOf(err) != failure.Conflict {
		t.Errorf("held after the release: got %v, want a conflict", err)
	}
	if _, _, err := o.work.Objects.Open(lipsync.WithHeld(t.Context(), own), lipsync.FindingsOf(own.Account, [32]byte{7})+"x"); failure.CodeOf(err) != failure.Conflict {
		t.Errorf("a session after the release: got %v, want a conflict", err)
	}
	d.Batch.SetFaults(fakebatch.Faults{})
	for _, j := range []job{mine, other} {
		j.settle(t)
		j.want(t)
	}
}

// doOwn does with a claimed request what a runner does.
func (o *takenOver) doOwn(t *testing.T, own lipsync.Request) {
	ctx, w := lipsync.WithHeld(t.Context(), own), o.work
	for _, in := range own.Inputs() {
		content, _, err := w.OpenMedia(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, content); err != nil {
			t.Error(err)
		}
		content.Close()
	}
	video := [32]byte{1, 2, 3}
	_, none := w.OpenFindings(ctx, own, video, "x")
	_, missing := w.OpenPiece(ctx, own, own.Claims, 7)
	if failure.CodeOf(none) != failure.NotFound || failure.CodeOf(missing) != failure.NotFound {
		t.Errorf("got %v and %v, want neither found", none, missing)
	}
	many := bytes.Repeat([]byte("piece"), 4<<20) // sent in parts
	err := errors.Join(
		w.Renew(ctx, own), w.Held(ctx, own), w.Report(ctx, own, lipsync.Progress{Stage: "rendering", Percent: 50}),
		w.KeepPiece(ctx, own, 0, bytes.NewReader(many), int64(len(many))),
		w.KeepFindings(ctx, own, video, "x", strings.NewReader("findings")),
		w.StorePoster(ctx, &own, []byte("poster")), w.DeleteOutput(ctx, own.OutputKey(own.Claims)),
	)
	if err != nil {
		t.Error(err)
	}
	if _, err := w.OpenFindings(ctx, own, video, "x"); err != nil {
		t.Error(err)
	}
	if _, err := w.OpenPiece(ctx, own, own.Claims, 0); err != nil {
		t.Error(err)
	}
	if _, err := w.Worked(ctx, lipsync.Stint{Class: lipsync.Small, Took: time.Second}); err != nil {
		t.Error(err)
	}
}

// denied reports whether AWS refused a call because the caller has no right to make it.
func denied(err error) bool {
	refusal, ok := errors.AsType[smithy.APIError](err)
	return ok && (strings.HasPrefix(refusal.ErrorCode(), "AccessDenied") || refusal.ErrorCode() == "Forbidden")
}

// reachMedia tries all credentials on the media of another request, and on those of earlier claims of its own.
func (o *takenOver) reachMedia(t *testing.T, theirs lipsync.Request) {
	ctx, bucket := t.Context(), o.Outputs["BucketName"]
	all := s3.New(o.config, bucket, s3.Signer{})
	keys := []string{"models/models.txt"}
	for _, in := range theirs.Inputs() {
		keys = append(keys, in.Object)
	}
	keys = append(keys, "uploads/"+theirs.ID, theirs.OutputKey(1), theirs.OutputKey(2), theirs.Pieces()+"1/0", lipsync.FindingsOf(theirs.Account, [32]byte{1, 2, 3})+"x", "batches/x")
	for _, key := range keys[1:] {
		if strings.HasPrefix(key, lipsync.InputKeys) {
			continue
		}
		if err := all.Put(ctx, key, strings.NewReader("theirs"), 6); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		for _, key := range keys[1:] {
			if !strings.HasPrefix(key, lipsync.InputKeys) {
				_ = all.Delete(context.WithoutCancel(ctx), key) // the bucket ends with the emulator
			}
		}
	}()
	if len(o.sessions) < 5 { // the runner's own, one for each of two inputs, one for outputs, one for findings
		t.Errorf("got %d sessions, want more", len(o.sessions))
	}
	for n, c := range o.sessions {
		config := o.runner.Copy()
		config.Credentials = c
		client := sdk.NewFromConfig(config, func(o *sdk.Options) { o.UsePathStyle, o.RetryMaxAttempts = true, 1 })
		for _, key := range keys[1:] {
			_, get := client.GetObject(ctx, &sdk.GetObjectInput{Bucket: &bucket, Key: &key})
			_, head := client.HeadObject(ctx, &sdk.HeadObjectInput{Bucket: &bucket, Key: &key})
			_, put := client.PutObject(ctx, &sdk.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("mine")})
			_, parts := client.CreateMultipartUpload(ctx, &sdk.CreateMultipartUploadInput{Bucket: &bucket, Key: &key})
			_, remove := client.DeleteObject(ctx, &sdk.DeleteObjectInput{Bucket: &bucket, Key: &key})
			for what, err := range map[string]error{"get": get, "head": head, "put": put, "put in parts": parts, "delete": remove} {
				if !denied(err) {
					t.Errorf("session %d: %s %s: got %v, want it denied", n, what, key, err)
				}
			}
		}
		for _, prefix := range []string{"", "inputs/", "models/"} {
			_, list := client.ListObjectsV2(ctx, &sdk.ListObjectsV2Input{Bucket: &bucket, Prefix: &prefix})
			_, uploads := client.ListMultipartUploads(ctx, &sdk.ListMultipartUploadsInput{Bucket: &bucket, Prefix: &prefix})
			if !denied(list) || !denied(uploads) {
				t.Errorf("session %d: list %q: got %v and %v, want both denied", n, prefix, list, uploads)
			}
		}
	}
}

// reachRecords tries all credentials on the table, and the broker on a request of which the runner has no lease, with and without a token.
func (o *takenOver) reachRecords(t *testing.T, own, theirs lipsync.Request) {
	ctx, table := t.Context(), o.Outputs["TableName"]
	text := func(s string) dynamodbtypes.AttributeValue { return &dynamodbtypes.AttributeValueMemberS{Value: s} }
	for n, c := range o.sessions {
		config := o.runner.Copy()
		config.Credentials = c
		client := dynamodb.NewFromConfig(config, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
		for _, id := range []string{own.ID, theirs.ID} {
			key := map[string]dynamodbtypes.AttributeValue{"pk": text("request/" + id), "sk": text("request")}
			_, get := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: key})
			_, put := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: key})
			_, remove := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key})
			_, update := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: key})
			_, scan := client.Scan(ctx, &dynamodb.ScanInput{TableName: &table})
			_, batch := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]dynamodbtypes.KeysAndAttributes{
				table: {Keys: []map[string]dynamodbtypes.AttributeValue{key}},
			}})
			_, query := client.Query(ctx, &dynamodb.QueryInput{
				TableName: &table, KeyConditionExpression: aws.String("pk = :pk"),
				ExpressionAttributeValues: map[string]dynamodbtypes.AttributeValue{":pk": text("request/" + id)},
			})
			for what, err := range map[string]error{"get": get, "put": put, "delete": remove, "update": update, "scan": scan, "batch": batch, "query": query} {
				if !denied(err) {
					t.Errorf("credentials %d: %s of %s: got %v, want it denied", n, what, id, err)
				}
			}
		}
	}
	for _, token := range []string{own.Lease, "", theirs.ID} {
		r := theirs
		r.Lease = token
		_, _, fault := o.records.Fault(ctx, r, errors.New("fault"), time.Second)
		_, session := o.session(ctx, r, theirs.Video.Object)
		for what, err := range map[string]error{
			"held": o.records.Held(ctx, r), "renew": o.records.Renew(ctx, r), "report": o.records.Report(ctx, r, lipsync.Progress{Stage: "rendering", Percent: 7}),
			"note the video": o.records.NoteVideo(ctx, r, [32]byte{9}), "release": o.records.Release(ctx, r), "fault": fault, "session": session,
			"finish": o.records.Finish(ctx, r, lipsync.Outcome{Output: r.OutputKey(r.Claims)}), "speed": o.records.NoteSpeed(ctx, r, 1, time.Second),
		} {
			if code := failure.CodeOf(err); code != failure.Conflict && code != failure.Invalid {
				t.Errorf("%s with the token %q: got %v, want it refused", what, token, err)
			}
		}
	}
	// With its own lease it gets no session for what isn't a part of its request.
	findings := lipsync.FindingsOf(theirs.Account, [32]byte{1, 2, 3}) + "x"
	second := lipsync.FindingsOf(own.Account, [32]byte{4, 5, 6}) + "x"
	for _, key := range []string{theirs.Video.Object, theirs.OutputKey(1), theirs.Pieces() + "1/0", findings, second, "uploads/" + theirs.ID, "models/models.json", "", "*", "outputs/*"} {
		if _, err := o.session(ctx, own, key); err == nil {
			t.Errorf("a session for %q: got one, want none", key)
		}
	}
}

// session asks the function for a session for the object with the key.
func (o *takenOver) session(ctx context.Context, r lipsync.Request, key string) (aws.Credentials, error) {
	text, err := o.invoke(ctx, fmt.Appendf(nil, `{"do":"session","id":%q,"lease":%q,"key":%q}`, r.ID, r.Lease, key))
	if err != nil {
		return aws.Credentials{}, err
	}
	var answer struct {
		Error   struct{ Code failure.Code }
		Session struct{ Key string }
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return aws.Credentials{}, err
	}
	if answer.Error.Code != "" {
		return aws.Credentials{}, failure.New(answer.Error.Code, "refused")
	}
	return aws.Credentials{AccessKeyID: answer.Session.Key}, nil
}

// reachRest tries to get rights that the runner has not, by other ways.
func (o *takenOver) reachRest(t *testing.T) {
	ctx := t.Context()
	_, sweep := lambda.NewFromConfig(o.runner).Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(o.function(t, "Sweep"))})
	_, code := lambda.NewFromConfig(o.runner).GetFunction(ctx, &lambda.GetFunctionInput{FunctionName: aws.String(o.function(t, "Broker"))})
	_, hint := sqs.NewFromConfig(o.runner).SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: aws.String(o.Outputs["QueueUrl"]), MessageBody: aws.String("x")})
	_, role := sts.NewFromConfig(o.runner).AssumeRole(ctx, &sts.AssumeRoleInput{RoleArn: aws.String(o.variable(t, "Broker", "LIPSYNC_MEDIA_ROLE")), RoleSessionName: aws.String("x")})
	for what, err := range map[string]error{"call sweep": sweep, "read a function": code, "send a hint": hint, "assume the role of media": role} {
		if !denied(err) {
			t.Errorf("%s: got %v, want it denied", what, err)
		}
	}
}

// variable returns the value of a variable of a function.
func (d *testDeployment) variable(t *testing.T, function, name string) string {
	t.Helper()
	out, err := lambda.NewFromConfig(d.config).GetFunctionConfiguration(t.Context(), &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(d.function(t, function))})
	if err != nil {
		t.Fatal(err)
	}
	return out.Environment.Variables[name]
}
