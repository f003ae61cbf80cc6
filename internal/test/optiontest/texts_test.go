package optiontest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/rest"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/store/sqlite"
	"lipsync/internal/test/dynamodbtest"
	"lipsync/internal/test/lipsynctest"
	"lipsync/internal/test/optiontest"
)

// TestTexts makes a request by the texts of each option, as JSON and as a form, in both stores. Workers must get
// the options that the texts describe.
func TestTexts(t *testing.T) {
	table := &dynamodbtest.Table{
		Keys:  dynamodbtest.Keys{Partition: table.PartitionKey, Sort: table.SortKey},
		Index: dynamodbtest.Keys{Partition: table.OpenPartition, Sort: table.OpenSort},
	}
	local, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	for name, store := range map[string]lipsync.Store{"sqlite": local.Store, "dynamodb": dynamodb.New(table.Config(), "t").Store} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, store)
			for option, job := range optiontest.Texts() {
				for way, call := range map[string]*http.Request{"JSON": asJSON(t, job), "form": asForm(t, job)} {
					got, want := f.request(t, call), job.Wishes(t)
					if !reflect.DeepEqual(got.Options, want) || got.LargestFace != job.LargestFace {
						t.Errorf("%s as %s: got %+v, largest face %t, want %+v, %t", option, way, got.Options, got.LargestFace, want, job.LargestFace)
					}
				}
			}
		})
	}
}

// fixture is a service without a worker.
type fixture struct {
	service *service.Service
	api     http.Handler
	token   string
}

type noQueue struct{}

func (noQueue) Send(context.Context, lipsync.Request) error { return nil }

func newFixture(t *testing.T, store lipsync.Store) *fixture {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	objects, err := disk.Open(filepath.Join(t.TempDir(), "objects"), time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { objects.Close() })
	s := lipsynctest.NewService(t, base.Config{GenerateRate: 1000, ReadRate: 1000, MaxVideo: 1 << 20, MaxAudio: 1 << 20, Engines: []string{"warp"}}, base.Ports{
		Store:   store,
		Objects: objects,
		Hints:   noQueue{},
	})
	token, _, err := s.CreateKey(t.Context(), "account", "name", 0)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{service: s, api: rest.New(s, rest.Options{Log: log}), token: token}
}

// request makes a call, and returns the request as a worker gets it.
func (f *fixture) request(t *testing.T, call *http.Request) lipsync.Request {
	t.Helper()
	call.Header.Set("Authorization", "Bearer "+f.token)
	answer := httptest.NewRecorder()
	f.api.ServeHTTP(answer, call)
	var made struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &made); err != nil || made.ID == "" {
		t.Fatalf("got %d %s", answer.Code, answer.Body)
	}
	r, err := f.service.Claim(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// asJSON returns the call that names media by URL.
func asJSON(t *testing.T, j optiontest.Job) *http.Request {
	t.Helper()
	inputs := []map[string]string{{"type": "video", "url": "https://example.com/v.mp4"}}
	for _, ref := range slices.Sorted(maps.Keys(j.Audios)) {
		audio := map[string]string{"type": "audio", "url": "https://example.com/a.wav"}
		if ref != "" {
			audio["ref"] = ref
		}
		inputs = append(inputs, audio)
	}
	body := map[string]any{"inputs": inputs, "disable_active_speaker_detection": j.LargestFace}
	for name, text := range texts(j) {
		body[name] = json.RawMessage(text)
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	call := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate", bytes.NewReader(encoded))
	call.Header.Set("Content-Type", "application/json")
	return call
}

// asForm returns the call that sends media.
func asForm(t *testing.T, j optiontest.Job) *http.Request {
	t.Helper()
	var body strings.Builder
	form := multipart.NewWriter(&body)
	send := func(name, content string) {
		file, err := form.CreateFormFile(name, "file")
		if err == nil {
			_, err = fmt.Fprint(file, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	send("video", "video")
	for ref := range j.Audios {
		if ref != "" {
			ref = "[" + ref + "]"
		}
		send("audio"+ref, "audio")
	}
	fields := texts(j)
	if j.LargestFace {
		fields["disable_active_speaker_detection"] = "true"
	}
	for name, text := range fields {
		if err := form.WriteField(name, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	call := httptest.NewRequest(http.MethodPost, "/api/v1/lipsync/generate-with-media", strings.NewReader(body.String()))
	call.Header.Set("Content-Type", form.FormDataContentType())
	return call
}

// texts returns the fields of a call that a job has.
func texts(j optiontest.Job) map[string]string {
	all := map[string]string{"options": j.Options, "output": j.Output, "segments": j.Segments}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}
