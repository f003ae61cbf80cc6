package cloud_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lipsync/internal/aws/cloud"
	"lipsync/internal/aws/cloud/bus"
	"lipsync/internal/aws/cloud/jobs"
	"lipsync/internal/aws/cloud/media"
	"lipsync/internal/aws/cloud/messages"
	"lipsync/internal/aws/cloud/posts"
	"lipsync/internal/aws/gateway"
	"lipsync/internal/aws/sqs"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/agents"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/awstest/fakebatch"
	"lipsync/internal/test/sharedtest"
)

// requestID is the id of the request in the events of the queue.
const requestID = "0b8f8a52-7a5c-4f2e-9d7d-5f1f2f7a9c01"

// deployment is the service on an emulator, and a fake of Batch.
type deployment struct {
	*awstest.Emulator
	environment environment
	service     *service.Service // with every part
	caller      lipsync.Caller   // of the token in the events
	log         bytes.Buffer
}

func deploy(t *testing.T) *deployment {
	e := awstest.Shared(t)
	jobs := fakebatch.New(fakebatch.Options{Command: []string{"true"}, Limit: 0})
	server := httptest.NewServer(jobs)
	t.Cleanup(server.Close)
	cfg := e.Config()
	credentials, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := &deployment{Emulator: e, environment: environment{
		"AWS_REGION": cfg.Region, "AWS_ENDPOINT_URL": e.URL, "AWS_ENDPOINT_URL_BATCH": server.URL,
		"AWS_ACCESS_KEY_ID": credentials.AccessKeyID, "AWS_SECRET_ACCESS_KEY": credentials.SecretAccessKey,
		"LIPSYNC_NAME": "Trial", "LIPSYNC_TABLE": e.Table(t), "LIPSYNC_BUCKET": e.Bucket(t), "LIPSYNC_QUEUE_URL": e.Queue(t), "LIPSYNC_DELIVERIES_URL": e.Queue(t), "LIPSYNC_ALLOW_PRIVATE_NETWORKS": "true",
		"LIPSYNC_JOB_QUEUE": "queue", "LIPSYNC_JOB_DEFINITION": "definition", "LIPSYNC_MAX_WORKERS": "20", "LIPSYNC_MAX_NEURAL_WORKERS": "0",
		"LIPSYNC_ENGINES": "warp", "LIPSYNC_GENERATE_RATE": "60", "LIPSYNC_READ_RATE": "600", "LIPSYNC_MAX_VIDEO": "10000000", "LIPSYNC_MAX_AUDIO": "10000000",
		"LIPSYNC_KEEP_INPUTS": "24h", "LIPSYNC_KEEP_OUTPUTS": "720h", "LIPSYNC_KEEP_RECORDS": "8760h", "LIPSYNC_MAX_OPEN_REQUESTS": "1000", "LIPSYNC_MAX_STORED": "1000000000", "LIPSYNC_MAX_KEYS": "1000",
	}}
	d.service = d.open(t, cloud.Records, media.Kept, messages.Queue, cloud.Generating, cloud.Sizes).Service
	d.service.Random = bytes.NewReader(make([]byte, 32)) // gives the token that the events have
	_, key, err := d.service.CreateKey(t.Context(), "account", "name", 0)
	if err != nil {
		t.Fatal(err)
	}
	d.caller = lipsync.Caller{Account: "account", KeyID: key.ID, KeyName: key.Name}
	return d
}

// open wires the parts of a program as its main does.
func (d *deployment) open(t *testing.T, parts ...cloud.Part) *cloud.Deployment {
	t.Helper()
	program, err := cloud.New(cloud.Config(d.environment.get), d.environment.get, &d.log, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

// invoke calls a function with the sample event of that name, as Lambda does.
func invoke(t *testing.T, name string, function any) (answer []byte, err error) {
	t.Helper()
	event, err := os.ReadFile(filepath.Join(sharedtest.Root(t), "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return lambda.NewHandler(function).Invoke(t.Context(), event)
}

// call calls a function of the API with its sample event, and decodes the body of the answer.
func (d *deployment) call(t *testing.T, name string, body any, parts ...cloud.Part) {
	t.Helper()
	answer, err := invoke(t, name, gateway.Handler(rest.Base, d.open(t, parts...).API()))
	var got events.APIGatewayProxyResponse
	if err := errors.Join(err, json.Unmarshal(answer, &got)); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(got.Body), body); err != nil || got.StatusCode != 200 {
		t.Fatalf("%s: got %d %s (%v), want 200", name, got.StatusCode, got.Body, err)
	}
	if strings.Contains(d.log.String(), "lipsync_A") {
		t.Errorf("%s: the token is in the log", name)
	}
}

// useTool lets the function of the tools of assistants list the requests, of which the newest has the id.
func (d *deployment) useTool(t *testing.T, id string) {
	t.Helper()
	api := d.open(t, cloud.Records, media.Signed, cloud.Reading).API()
	answer, err := invoke(t, "mcp", gateway.Handler(rest.Base, agents.Handler(api, agents.Options{Whole: true})))
	var got events.APIGatewayProxyResponse
	if err := errors.Join(err, json.Unmarshal(answer, &got)); err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != 200 || got.MultiValueHeaders["Content-Type"][0] != "application/json" || !strings.Contains(got.Body, `"id":"`+id+`"`) {
		t.Errorf("mcp: got %d %v %s, want the request %s", got.StatusCode, got.MultiValueHeaders, got.Body, id)
	}
}

// TestAPIEvents calls the functions of the API with their sample events.
func TestAPIEvents(t *testing.T) {
	d := deploy(t)
	var health struct{ Status string }
	d.call(t, "health", &health)
	if health.Status != "ok" {
		t.Errorf("health: got %q", health.Status)
	}
	var me struct{ Name string }
	d.call(t, "me", &me, cloud.Records, cloud.Reading)
	if me.Name != "name" {
		t.Errorf("me: got %q", me.Name)
	}
	var models struct{ Data []struct{ Name string } }
	d.call(t, "list-models", &models, cloud.Records, cloud.Reading, cloud.Engines)
	if len(models.Data) != 1 || models.Data[0].Name != "warp" {
		t.Errorf("list-models: got %+v", models)
	}
	var made, stored struct {
		ID string `json:"request_id"`
	}
	generating := []cloud.Part{cloud.Records, media.Kept, messages.Queue, cloud.Generating, cloud.Sizes, cloud.Limits}
	d.call(t, "generate", &made, generating...)
	d.call(t, "generate-with-media", &stored, generating...)
	reading := []cloud.Part{cloud.Records, media.Signed, cloud.Reading}
	var got struct {
		ID        string
		Reference string `json:"reference_id"`
	}
	d.call(t, "get-request", &got, reading...)
	if got.ID != made.ID || got.Reference != "scene/12 a" {
		t.Errorf("get-request: got %+v, want id %s", got, made.ID)
	}
	d.useTool(t, stored.ID)
	d.cancel(t, made.ID)
	d.deleteMedia(t, made.ID)
	var list struct {
		Data []struct{ ID string }
	}
	d.call(t, "list-requests", &list, reading...)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID {
		t.Errorf("list-requests: got %+v, want id %s", list, made.ID)
	}
	var upload struct {
		URL string `json:"upload_url"`
	}
	d.call(t, "create-upload", &upload, append(reading, cloud.Sizes, cloud.Limits)...)
	if !strings.HasPrefix(upload.URL, d.URL) {
		t.Errorf("create-upload: got %q, want an address of the emulator", upload.URL)
	}
	d.wantMedia(t, stored.ID)
	d.wantBatch(t)
}

// wantBatch makes a batch by the sample event, and lists the batches.
func (d *deployment) wantBatch(t *testing.T) {
	t.Helper()
	var made struct {
		ID     string
		Counts lipsync.Counts
	}
	d.call(t, "create-batch", &made, cloud.Records, media.Kept, messages.Queue, cloud.Generating, cloud.Sizes, cloud.Limits)
	if made.ID == "" || made.Counts != (lipsync.Counts{Lines: 2, Queued: 2}) {
		t.Errorf("create-batch: got %+v, want two queued lines", made)
	}
	var list struct{ Data []struct{ ID string } }
	d.call(t, "read-batches", &list, cloud.Records, cloud.Reading)
	if len(list.Data) != 1 || list.Data[0].ID != made.ID {
		t.Errorf("read-batches: got %+v, want the batch %s", list, made.ID)
	}
}

// cancel reads the progress of the request that the events name, and cancels it.
func (d *deployment) cancel(t *testing.T, id string) {
	t.Helper()
	var got struct {
		ID, Status string
		Percent    *int
		Error      string `json:"error_message"`
	}
	d.call(t, "get-progress", &got, cloud.Records, cloud.Reading)
	if got.ID != id || got.Status != "queued" || got.Percent == nil || *got.Percent != 0 {
		t.Errorf("get-progress: got %+v, want id %s queued at 0 percent", got, id)
	}
	d.call(t, "cancel-request", &got, cloud.Records, media.Kept, cloud.Reading)
	if got.ID != id || got.Status != "failed" || got.Error != "canceled by the client" {
		t.Errorf("cancel-request: got %+v, want id %s canceled", got, id)
	}
}

// deleteMedia deletes the media of the request that was canceled.
func (d *deployment) deleteMedia(t *testing.T, id string) {
	t.Helper()
	var got struct{ ID, Status string }
	d.call(t, "delete-media", &got, cloud.Records, media.Kept, cloud.Reading)
	if got.ID != id || got.Status != "failed" {
		t.Errorf("delete-media: got %+v, want id %s", got, id)
	}
	var more struct {
		ID      string
		Code    string    `json:"failure_code"`
		Deleted time.Time `json:"media_deleted_at"`
	}
	d.call(t, "get-details", &more, cloud.Records, cloud.Reading)
	if more.ID != id || more.Code != "canceled" || more.Deleted.IsZero() {
		t.Errorf("get-details: got %+v, want id %s canceled, with its media deleted", more, id)
	}
}

// TestLargeForm sends a form that may be too large for an event of Lambda.
func TestLargeForm(t *testing.T) {
	d := deploy(t)
	form := events.APIGatewayProxyRequest{
		HTTPMethod: "POST", Resource: "/v1/lipsync/generate-with-media", Path: "/v1/lipsync/generate-with-media",
		MultiValueHeaders: map[string][]string{
			"Authorization": {"Bearer lipsync_" + strings.Repeat("A", 43)}, "Content-Type": {"multipart/form-data; boundary=b"},
		},
		Body: strings.Repeat("x", gateway.MaxForm+1),
	}
	handler := gateway.Handler(rest.Base, d.open(t, cloud.Records, media.Kept, messages.Queue, cloud.Generating, cloud.Sizes).API())
	answer, err := handler(t.Context(), form)
	want := `{"error":"request body is larger than 4400000 bytes; send larger files by POST /v1/uploads"}` + "\n"
	if err != nil || answer.StatusCode != 413 || answer.Body != want {
		t.Errorf("got %d %s (%v), want 413 %s", answer.StatusCode, answer.Body, err, want)
	}
}

// wantMedia checks that a binary form arrived whole.
func (d *deployment) wantMedia(t *testing.T, id string) {
	t.Helper()
	r, err := d.service.Store.Requests.ByID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	media, _, err := d.service.OpenMedia(t.Context(), r.Video)
	if err != nil {
		t.Fatal(err)
	}
	defer media.Close()
	if got, err := io.ReadAll(media); err != nil || string(got) != "\x00\xff binary video" {
		t.Errorf("stored %q (%v)", got, err)
	}
}

// generate makes the request that the events of the queue name.
func (d *deployment) generate(t *testing.T) {
	t.Helper()
	_, err := d.service.Generate(t.Context(), d.caller, requests.Params{
		ID:    requestID,
		Video: requests.Source{URL: "https://example.com/v"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDispatch handles an event with a malformed message before a good one.
func TestDispatch(t *testing.T) {
	d := deploy(t)
	d.generate(t)
	program := d.open(t, cloud.Records, cloud.Demand, jobs.Pool)
	for range 2 {
		answer, err := invoke(t, "dispatch", sqs.Handler(program.Service, program.Metrics.MessagesFailed, program.Log))
		if want := `{"batchItemFailures":[{"itemIdentifier":"059f36b4-87a3-44ab-83d2-661975830a7d"}]}`; err != nil || string(answer) != want {
			t.Errorf("got %s (%v), want %s", answer, err, want)
		}
	}
	d.wantWorkers(t, program, 1)
}

// TestDispatchNeural starts a runner with a GPU for a request whose engine needs a network.
func TestDispatchNeural(t *testing.T) {
	d := deploy(t)
	d.environment["LIPSYNC_MAX_NEURAL_WORKERS"], d.environment["LIPSYNC_NEURAL_QUEUE"], d.environment["LIPSYNC_NEURAL_DEFINITION"] = "2", "gpu-queue", "gpu-definition"
	d.service.Engines = []string{"wav2lip"}
	d.generate(t)
	program := d.open(t, cloud.Records, cloud.Demand, jobs.Pool)
	if err := program.Service.Scale(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.wantWorkers(t, program, 0)
	if waiting, _, err := program.Service.NeuralPool.Count(t.Context()); waiting != 1 || err != nil {
		t.Errorf("got %d runners with a GPU that wait (%v), want 1", waiting, err)
	}
}

// wantWorkers checks that n workers were started, none of which runs yet.
func (d *deployment) wantWorkers(t *testing.T, program *cloud.Deployment, n int) {
	t.Helper()
	if waiting, running, err := program.Service.Pool.Count(t.Context()); waiting != n || running != 0 || err != nil {
		t.Errorf("got %d workers that wait and %d that run (%v), want %d and none", waiting, running, err, n)
	}
}

// TestDeliver handles an event with a malformed message before one about a delivery.
func TestDeliver(t *testing.T) {
	d := deploy(t)
	got := make(chan string, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("webhook-id") }))
	defer receiver.Close()
	const webhook, id = "5d1b8a52-7a5c-4f2e-9d7d-5f1f2f7a9c02", "msg_000642c79e8f400020b8f8a527a5c4f2e9d7d5f1f2f7a9c01"
	err := d.service.Store.Webhooks.Put(t.Context(), lipsync.AccountWebhooks{Account: "account", List: []lipsync.Webhook{
		{ID: webhook, URL: receiver.URL, Secret: "whsec_AAAA"},
	}})
	if err == nil {
		now := time.Now().Truncate(time.Microsecond).UTC()
		err = d.service.Store.Webhooks.Add(t.Context(), lipsync.Delivery{
			ID: id, Webhook: webhook, Account: "account", Type: lipsync.TestEvent, CreatedAt: now, State: lipsync.DeliveryWaiting, Due: now, Version: 1,
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	program := d.open(t, cloud.Records, media.Signed, messages.Deliveries, posts.Client, cloud.Retention)
	for range 2 { // the second event finds the delivery made
		answer, err := invoke(t, "deliver", sqs.DeliveryHandler(program.Service.Deliver, program.Metrics.MessagesFailed, program.Log))
		if want := `{"batchItemFailures":[{"itemIdentifier":"059f36b4-87a3-44ab-83d2-661975830a7d"}]}`; err != nil || string(answer) != want {
			t.Errorf("got %s (%v), want %s", answer, err, want)
		}
	}
	if len(got) != 1 || <-got != id {
		t.Errorf("got %d calls more, want one with the id %s", len(got), id)
	}
	if log := d.log.String(); !strings.Contains(log, `"EventsDelivered":1`) {
		t.Errorf("got log %s, want the delivery", log)
	}
}

func TestSweep(t *testing.T) {
	d := deploy(t)
	d.generate(t)
	program := d.open(t, cloud.Records, media.Kept, cloud.Demand, jobs.Pool)
	if _, err := invoke(t, "sweep", program.Service.Sweep); err != nil {
		t.Fatal(err)
	}
	d.wantWorkers(t, program, 1)
	if log := d.log.String(); !strings.Contains(log, `"OldestQueued":`) {
		t.Errorf("got log %s, want how long the oldest request waits", log)
	}
}

// TestPublish handles an event with a change of a request.
func TestPublish(t *testing.T) {
	d := deploy(t)
	d.environment["LIPSYNC_EVENT_BUS"] = "default"
	program := d.open(t, media.Signed, bus.Events, cloud.Retention)
	answer, err := invoke(t, "publish", dynamodb.StreamHandler(program.Service.Publish, program.Metrics.MessagesFailed, program.Log))
	if err != nil || string(answer) != `{"batchItemFailures":[]}` || strings.Contains(d.log.String(), "ERROR") {
		t.Errorf("got %s (%v), want no failure: %s", answer, err, d.log.String())
	}
}
