package dynamodb_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/lipsynctest"
)

// record is a record of the stream, in its JSON.
type record struct {
	Name   string `json:"eventName"`
	Change struct {
		Number string `json:"SequenceNumber"`
		Keys   map[string]value
		Old    map[string]value `json:"OldImage,omitempty"`
		New    map[string]value `json:"NewImage,omitempty"`
	} `json:"dynamodb"`
}

// recordOf returns the record of a change of an item. Either image may be nil.
func recordOf(number int, was, is item) (r record) {
	r.Name, r.Change.Number = "MODIFY", fmt.Sprint(number)
	r.Change.Old, r.Change.New = imageOf(was), imageOf(is)
	return r
}

func imageOf(i item) map[string]value {
	image := map[string]value{}
	for name, v := range i {
		image[name] = typed(v)
	}
	return image
}

// published has the results of a StreamHandler.
type published struct {
	changes []lipsync.Change
	failed  int
	log     string
	answer  string
	err     error
}

// stream passes records to a StreamHandler. Its publish does all changes, or only the first ones if it fails.
func stream(t testing.TB, publish func(n int) (int, error), records ...record) (p published) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		t.Fatal(err)
	}
	var e events.DynamoDBEvent
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	handler := dynamodb.StreamHandler(func(_ context.Context, all []lipsync.Change) (int, error) {
		p.changes = all
		return publish(len(all))
	}, func(n int) { p.failed += n }, slog.New(slog.NewTextHandler(&log, nil)))
	answer, err := handler(t.Context(), e)
	text, _ = json.Marshal(answer)
	p.log, p.answer, p.err = log.String(), string(text), err
	return p
}

func all(n int) (int, error) { return n, nil }

// TestStream reads the changes of a request and of a batch, among others.
func TestStream(t *testing.T) {
	b, now := openTable(t), time.Unix(1_800_000_000, 0).UTC()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r := lipsync.Request{ID: "r", Account: "a", Status: lipsync.Queued, Engine: "warp", CreatedAt: now, Targets: lipsync.NewTargets("")}
	_, _, err := b.Requests.Create(t.Context(), r, nil, nil, lipsync.DefaultLimits())
	ok(err)
	queued := b.get(t, "request/r", "request")
	_, err = b.Leases.Claim(t.Context(), "r", "token", now, time.Minute, lipsync.Choice{})
	ok(err)
	claimed, lease := b.get(t, "request/r", "request"), b.get(t, "request/r", "lease")
	ok(lipsynctest.Finish(t.Context(), b.Leases, "r", "token", now, lipsync.Outcome{Output: "outputs/r/1.mp4", Length: time.Second}))
	done := b.get(t, "request/r", "request")
	batch := lipsync.Batch{ID: "b", Account: "a", Lines: "c", CreatedAt: now, Version: 1}
	ok(b.Batches.Create(t.Context(), batch, lipsync.Limits{}))
	open := b.get(t, "batch/b", "batch")
	batch.FinishedAt = now
	ok(b.Batches.Swap(t.Context(), batch))
	closed := b.get(t, "batch/b", "batch")

	p := stream(t, all, recordOf(1, nil, queued), recordOf(2, queued, claimed), recordOf(3, lease, lease), recordOf(4, claimed, done),
		recordOf(5, open, closed), recordOf(6, done, nil))
	if p.err != nil || p.failed != 0 || p.answer != `{"batchItemFailures":[]}` || len(p.changes) != 3 {
		t.Fatalf("got %+v, want three changes", p)
	}
	stored, err := b.Requests.ByID(t.Context(), "r")
	ok(err)
	if c := p.changes[0]; c.Was != lipsync.Queued || c.Request.Status != lipsync.Processing || c.Request.ID != "r" {
		t.Errorf("got %+v, want the claim", c)
	}
	if c := p.changes[1]; c.Was != lipsync.Processing || !reflect.DeepEqual(c.Request, stored) {
		t.Errorf("got %+v, want the end of %+v", c, stored)
	}
	if c := p.changes[2]; c.Batch.ID != "b" || !c.Batch.FinishedAt.Equal(now) {
		t.Errorf("got %+v, want the end of the batch", c)
	}
}

// TestStreamFails checks where the stream goes on after publish failed, and that items that can't be read stop nothing.
func TestStreamFails(t *testing.T) {
	is := func(id, status string) item {
		return item{"pk": text("request/" + id), "sk": text("request"), "id": text(id), "status": text(status), "account": text("a")}
	}
	odd := is("odd", "completed")
	odd["createdAt"] = text("yesterday")
	var records []record
	for n := range 5 {
		records = append(records, recordOf(n, is(fmt.Sprint(n), "queued"), is(fmt.Sprint(n), "processing")))
	}
	records = append(records[:2], append([]record{recordOf(9, is("odd", "processing"), odd)}, records[2:]...)...)
	broken := errors.New("broken")
	for done, want := range map[int]string{1: "1", 3: "3"} {
		p := stream(t, func(int) (int, error) { return done, broken }, records...)
		if p.answer != `{"batchItemFailures":[{"itemIdentifier":"`+want+`"}]}` || p.err != nil || p.failed != 1+5-done {
			t.Errorf("%d are done: got %s (%v), with %d that failed, want %s", done, p.answer, p.err, p.failed, want)
		}
		if len(p.changes) != 5 || !strings.Contains(p.log, "request/odd") {
			t.Errorf("got %d changes and the log %s, want the odd one left out", len(p.changes), p.log)
		}
	}
	if p := stream(t, func(int) (int, error) { return 0, broken }, records...); !errors.Is(p.err, broken) {
		t.Errorf("none are done: got %s (%v), want an error", p.answer, p.err)
	}
}

// TestStreamOfVersions reads the items that each version of the program wrote.
func TestStreamOfVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/items-*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v: %v", files, err)
	}
	for _, file := range files {
		cfg := inMemory()
		client := sdk.NewFromConfig(cfg)
		load(t, client, "t", file)
		var records []record
		requests := 0
		for line := range strings.Lines(scan(t, client, "t")) {
			var r record
			if err := json.Unmarshal([]byte(line), &r.Change.New); err != nil {
				t.Fatal(err)
			}
			r.Name, r.Change.Old = "MODIFY", r.Change.New
			records = append(records, r)
			if sort := *r.Change.New["sk"].S; sort == "request" && strings.HasPrefix(*r.Change.New["pk"].S, "request/") || sort == "batch" {
				requests++
			}
		}
		if p := stream(t, all, records...); p.failed != 0 || len(p.changes) != requests || requests == 0 {
			t.Errorf("%s: got %d changes, %d that can't be read, want %d: %s", file, len(p.changes), p.failed, requests, p.log)
		}
	}
}

// FuzzStream passes any event to the handler.
func FuzzStream(f *testing.F) {
	record := recordOf(1, item{"pk": text("request/r"), "sk": text("request")}, item{"pk": text("request/r"), "sk": text("request"), "id": text("r")})
	good, err := json.Marshal(map[string]any{"Records": []any{record}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), `{}`, `{"Records":[{"dynamodb":{"NewImage":{"pk":{"N":"1"}},"OldImage":{"pk":{"NULL":true}}}}]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var e events.DynamoDBEvent
		if json.Unmarshal([]byte(text), &e) != nil {
			return
		}
		handler := dynamodb.StreamHandler(func(_ context.Context, c []lipsync.Change) (int, error) { return len(c), nil }, func(int) {}, slog.New(slog.DiscardHandler))
		if _, err := handler(t.Context(), e); err != nil {
			t.Error(err)
		}
	})
}

// TestStreamDeadline ends publish some seconds before the function's time ends, so that the handler can tell how many changes are done.
func TestStreamDeadline(t *testing.T) {
	end := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), end)
	defer cancel()
	var got time.Time
	handler := dynamodb.StreamHandler(func(ctx context.Context, _ []lipsync.Change) (int, error) {
		got, _ = ctx.Deadline()
		return 0, nil
	}, func(int) {}, slog.New(slog.DiscardHandler))
	if _, err := handler(ctx, events.DynamoDBEvent{}); err != nil || !got.Equal(end.Add(-5*time.Second)) {
		t.Errorf("got %v (%v), want 5 s before %v", got, err, end)
	}
}
