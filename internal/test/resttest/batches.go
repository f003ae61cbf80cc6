package resttest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// batch is a batch as the API answers it.
type batch struct {
	ID         string         `json:"id"`
	CreatedAt  string         `json:"created_at"`
	Status     string         `json:"status"`
	Counts     map[string]int `json:"counts"`
	CanceledAt string         `json:"canceled_at"`
	FinishedAt string         `json:"finished_at"`
	Lines      []struct {
		Line         int    `json:"line"`
		Status       string `json:"status"`
		RequestID    string `json:"request_id"`
		ReferenceID  string `json:"reference_id"`
		ErrorMessage string `json:"error_message"`
	} `json:"lines"`
	DryRun   bool `json:"dry_run"`
	Problems []struct {
		Line    int    `json:"line"`
		Message string `json:"message"`
	} `json:"problems"`
}

const (
	batchesPath = "/v1/lipsync/batches"
	oneVariant  = `{"audio":"https://example.com/1.wav"}`
	goodVideo   = `"video":"https://example.com/v.mp4"`
)

func batchCall(contentType, query, body string) call {
	c := generateCall(contentType, body)
	c.path = batchesPath + query
	return c
}

// variantsBody returns the JSON of a batch with one video.
func variantsBody(variants ...string) string {
	return `{` + goodVideo + `,"variants":[` + strings.Join(variants, ",") + `]}`
}

// batches checks the calls for batches. No worker needs to run.
func (s *suite) batches(t *testing.T) {
	t.Run("one", s.oneBatch)
	t.Run("lines of JSON", s.batchOfLines)
	t.Run("dry run", s.dryRun)
	t.Run("list", s.listBatches)
	t.Run("lines", s.batchLines)
	t.Run("cancel", s.cancelBatch)
	t.Run("repeated", s.repeatBatch)
	t.Run("refused", s.refuseBatches)
}

func (s *suite) newBatch(t *testing.T, token string, c call) (b batch) {
	t.Helper()
	s.do(t, c.with(token)).into(t, &b)
	return b
}

// cancelLater cancels the requests of a batch, so that a worker isn't kept with media that it can't fetch.
func (s *suite) cancelLater(t *testing.T, token string, b batch) {
	t.Helper()
	s.do(t, call{method: http.MethodDelete, path: batchesPath + "/" + b.ID, token: token})
}

func (s *suite) oneBatch(t *testing.T) {
	account := "batch of " + s.name
	token, other := s.keyOf(t, account, 2), s.key(t) // the key may make two requests
	b := s.newBatch(t, token, batchCall("application/json", "", variantsBody(
		`{"audio":"https://example.com/1.wav","reference_id":"one"}`,
		`{"audio":"https://example.com/2.wav","video":"https://example.com/2.mp4","disable_active_speaker_detection":true,"options":{"sync_mode":"loop"},"output":{"quality":"low"}}`,
		`{"audio":"https://example.com/3.wav","options":null,"reference_id":null}`)))
	defer s.cancelLater(t, token, b)
	if b.ID == "" || b.CreatedAt == "" || b.Counts["lines"] != 3 || b.Counts["refused"] != 1 || len(b.Lines) != 3 {
		t.Fatalf("got %+v, want two requests, and one line for which the key has no use", b)
	}
	var made []string
	for i, l := range b.Lines {
		if refused := l.Status == "refused"; l.Line != i+1 || refused != (l.RequestID == "") || refused != (l.ErrorMessage == "token limit reached") {
			t.Errorf("got line %+v", l)
		}
		if l.RequestID != "" {
			made = append(made, l.RequestID)
			var r map[string]any
			s.get(t, token, "/v1/lipsync/requests/"+l.RequestID).into(t, &r)
			if r["id"] != l.RequestID {
				t.Errorf("got the request %v, want %s", r, l.RequestID)
			}
		}
	}
	answer := s.get(t, token, batchesPath+"/"+strings.ToUpper(b.ID))
	var got batch
	answer.into(t, &got)
	if got.ID != b.ID || len(got.Lines) != 3 || got.CreatedAt != b.CreatedAt {
		t.Errorf("got %+v, want %+v", got, b)
	}
	if got.FinishedAt == "" && got.Status == "processing" && (answer.header.Get("Retry-After") == "" || answer.header.Get("ETag") == "") {
		t.Errorf("got headers %v, want Retry-After and ETag", answer.header)
	}
	if made = slices.Compact(made); len(made) != 2 {
		t.Errorf("got requests %v, want 2", made)
	}
	s.get(t, other, batchesPath+"/"+b.ID).refused(t, http.StatusNotFound, "batch not found")
	for _, id := range []string{"x", "00000000-0000-4000-8000-000000000000", made[0]} {
		s.get(t, token, batchesPath+"/"+id).refused(t, http.StatusNotFound, "batch not found")
		s.do(t, call{method: http.MethodDelete, path: batchesPath + "/" + id, token: token}).refused(t, http.StatusNotFound, "batch not found")
	}
	same := s.do(t, call{method: http.MethodGet, path: batchesPath + "/" + b.ID, token: token, header: http.Header{"If-None-Match": {"*"}}})
	if same.status != http.StatusNotModified && got.Status == "processing" {
		t.Errorf("got %d for a known answer, want 304", same.status)
	}
}

func (s *suite) batchOfLines(t *testing.T) {
	token := s.key(t)
	for _, kind := range []string{"application/jsonl", "application/x-ndjson; charset=utf-8"} {
		b := s.newBatch(t, token, batchCall(kind, "?video=https://example.com/v.mp4&dry_run=false&x=1", oneVariant+"\n\n"+`{`+goodVideo+`,"audio":"https://example.com/2.wav"}`+"\r\n"))
		if b.ID == "" || b.Counts["lines"] != 2 || b.Counts["refused"] != 0 {
			t.Errorf("got %+v, want two lines", b)
		}
		s.cancelLater(t, token, b)
	}
}

func (s *suite) dryRun(t *testing.T) {
	token := s.key(t)
	for _, c := range []call{
		batchCall("application/json", "", `{"dry_run":true,"variants":[`+oneVariant+`,{`+goodVideo+`,"audio":"https://example.com/2.wav"},{`+goodVideo+`,"audio":"upload://x"},{"options":{"sync_mode":"x"}}]}`),
		batchCall("application/jsonl", "?dry_run=true", oneVariant+"\n{"+goodVideo+`,"audio":"https://example.com/2.wav"}`+"\n{"+goodVideo+`,"audio":"upload://x"}`+"\n"+`{"options":{"sync_mode":"x"}}`),
	} {
		b := s.newBatch(t, token, c)
		if b.ID != "" || !b.DryRun || b.Counts["lines"] != 4 || b.Counts["waiting"] != 1 || len(b.Problems) != 3 ||
			b.Problems[0].Line != 1 || !strings.HasPrefix(b.Problems[0].Message, "video URL must be") || b.Problems[1].Message != "audio upload does not exist" ||
			b.Problems[2].Line != 4 || !strings.HasPrefix(b.Problems[2].Message, "sync_mode must be") {
			t.Errorf("got %+v, want problems of the lines 1 and 3", b)
		}
	}
	b := s.newBatch(t, token, batchCall("application/json", "", `{"dry_run":true,`+variantsBody(oneVariant)[1:]))
	if b.Problems == nil || len(b.Problems) > 0 {
		t.Errorf("got problems %v, want an empty list", b.Problems)
	}
	var list struct{ Data []batch }
	s.get(t, token, batchesPath).into(t, &list)
	if list.Data == nil || len(list.Data) > 0 {
		t.Errorf("got batches %v, want an empty list", list.Data)
	}
}

func (s *suite) listBatches(t *testing.T) {
	token := s.key(t)
	var ids []string // newest first
	for range 3 {
		b := s.newBatch(t, token, batchCall("application/json", "", variantsBody(oneVariant)))
		s.cancelLater(t, token, b)
		ids = slices.Insert(ids, 0, b.ID)
	}
	page := func(query string) (got []string) {
		var list struct{ Data []batch }
		s.get(t, token, batchesPath+query).into(t, &list)
		for _, b := range list.Data {
			if got = append(got, b.ID); b.Counts["lines"] != 1 || b.Lines != nil {
				t.Errorf("got %+v in a list, want counts and no lines", b)
			}
		}
		return got
	}
	for deadline := time.Now().Add(10 * time.Second); len(page("")) < 3 && time.Now().Before(deadline); { // a list may lag
		time.Sleep(100 * time.Millisecond)
	}
	for query, want := range map[string][]string{"": ids, "?limit=2": ids[:2], "?limit=2&before=" + ids[1]: ids[2:], "?before=" + ids[2]: nil} {
		if got := page(query); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", query, got, want)
		}
	}
	s.get(t, token, batchesPath+"?before=x").refused(t, http.StatusNotFound, "batch not found")
	s.get(t, token, batchesPath+"?before=").refused(t, http.StatusBadRequest, "before must be the id of a batch")
	s.get(t, token, batchesPath+"?limit=0").refused(t, http.StatusBadRequest, "limit must be one whole number from 1 to 100")
}

// batchLines reads some of the lines of a batch, with the names of their requests.
func (s *suite) batchLines(t *testing.T) {
	token := s.key(t)
	var variants []string
	for _, name := range []string{"de", "fr", "es"} {
		variants = append(variants, `{"audio":"https://example.com/1.wav","reference_id":"`+name+`"}`)
	}
	b := s.newBatch(t, token, batchCall("application/json", "", variantsBody(variants...)))
	s.do(t, call{method: http.MethodDelete, path: "/v1/lipsync/requests/" + b.Lines[1].RequestID, token: token})
	defer s.cancelLater(t, token, b)
	path := batchesPath + "/" + b.ID
	for query, want := range map[string]string{
		"": "1 de, 2 fr canceled by the client, 3 es", "?offset=1&limit=1": "2 fr canceled by the client", "?offset=2": "3 es", "?limit=1": "1 de",
		"?status=canceled": "2 fr canceled by the client", "?status=refused": "",
	} {
		var read batch
		s.get(t, token, path+query).into(t, &read)
		var got []string
		for _, l := range read.Lines {
			got = append(got, strings.TrimSpace(fmt.Sprint(l.Line, " ", l.ReferenceID, " ", l.ErrorMessage)))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	s.get(t, token, path+"?status=done").refused(t, http.StatusBadRequest, "status must be one of: waiting, queued, processing, completed, failed, canceled, refused")
	s.get(t, token, path+"?offset=1001").refused(t, http.StatusBadRequest, "offset must be one whole number from 0 to 1000")
	s.get(t, token, path+"?limit=0").refused(t, http.StatusBadRequest, "limit must be one whole number from 1 to 1000")
}

func (s *suite) cancelBatch(t *testing.T) {
	token := s.key(t)
	b := s.newBatch(t, token, batchCall("application/json", "", variantsBody(oneVariant, oneVariant)))
	path := batchesPath + "/" + b.ID
	var canceled, again batch
	s.do(t, call{method: http.MethodDelete, path: path, token: token}).into(t, &canceled)
	if canceled.Status != "canceled" || canceled.CanceledAt == "" || canceled.FinishedAt == "" || canceled.Counts["canceled"]+canceled.Counts["failed"] != 2 {
		t.Errorf("got %+v, want it canceled", canceled)
	}
	s.do(t, call{method: http.MethodDelete, path: path, token: token}).into(t, &again)
	if fmt.Sprint(again) != fmt.Sprint(canceled) {
		t.Errorf("got %+v by a repeated call, want %+v", again, canceled)
	}
	one := s.newBatch(t, token, batchCall("application/json", "", variantsBody(oneVariant)))
	s.do(t, call{method: http.MethodDelete, path: "/v1/lipsync/requests/" + one.Lines[0].RequestID, token: token})
	s.do(t, call{method: http.MethodDelete, path: batchesPath + "/" + one.ID, token: token}).refused(t, http.StatusConflict, "batch is already finished")
}

func (s *suite) repeatBatch(t *testing.T) {
	token := s.key(t)
	c := batchCall("application/json", "", variantsBody(oneVariant))
	c.header = http.Header{"Idempotency-Key": {"k"}}
	b := s.newBatch(t, token, c)
	defer s.cancelLater(t, token, b)
	if again := s.newBatch(t, token, c); again.ID != b.ID || again.Lines[0].RequestID != b.Lines[0].RequestID {
		t.Errorf("got %+v by a repeated call, want %+v", again, b)
	}
	c.body = variantsBody(oneVariant, oneVariant)
	s.do(t, c.with(token)).refused(t, http.StatusUnprocessableEntity, "idempotency key was used with a different request")
}

func (s *suite) refuseBatches(t *testing.T) {
	const body, number = "invalid request body", "a batch has 1 to 1000 lines"
	large := `{"variants":[{"audio":"` + strings.Repeat("x", 4<<20) + `"}]}`
	json := func(body string) call { return batchCall("application/json", "", body) }
	jsonl := func(query, body string) call { return batchCall("application/jsonl", query, body) }
	s.values(t, []row{
		{"other type", batchCall("text/csv", "", oneVariant), 400, "content-type must be application/json, application/jsonl or application/x-ndjson"},
		{"no JSON", json("{"), 400, body},
		{"null", json("null"), 400, body},
		{"no lines", json("{}"), 400, number},
		{"too many", json(variantsBody(slices.Repeat([]string{oneVariant}, 1001)...)), 400, number},
		{"too many of JSON Lines", jsonl("", strings.Repeat(oneVariant+"\n", 1002)), 400, number},
		{"no lines of JSON", jsonl("", "\n"), 400, number},
		{"a bad line", jsonl("?video=https://example.com/v.mp4", oneVariant+"\n{"), 400, "line 2: invalid request body"},
		{"a bad line after an empty one", jsonl("?video=https://example.com/v.mp4", oneVariant+"\n\n{"), 400, "line 2: invalid request body"},
		{"a null line", jsonl("", "null"), 400, "line 1: invalid request body"},
		{"a null in a list", json(variantsBody(oneVariant, "null")), 400, "line 2: invalid request body"},
		{"an option in a list", json(variantsBody(oneVariant, `{"options":{"sync_mode":"x"}}`)), 400, "line 2: sync_mode must be one of: bounce, loop, cut_off, silence, remap"},
		{"no list", json(`{"variants":{}}`), 400, body},
		{"an option", jsonl("", `{"options":{"sync_mode":"x"}}`), 400, "line 1: sync_mode must be one of: bounce, loop, cut_off, silence, remap"},
		{"dry_run", jsonl("?dry_run=1", oneVariant), 400, "dry_run must be one of: true, false"},
		{"two videos", jsonl("?video=a&video=b", oneVariant), 400, "video must be given once"},
		{"query", jsonl("?%", oneVariant), 400, "invalid query string"},
		{"query of a list", call{method: http.MethodGet, path: batchesPath + "?%"}, 400, "invalid query string"},
		{"no audio", json(variantsBody(oneVariant, "{}")), 400, "line 2: audio URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes"},
		{"webhook", json(`{"webhook_url":"https://example.com/none",` + variantsBody(oneVariant)[1:]), 400, "webhook_url must be the URL of a webhook of the account, with any query"},
		{"large", json(large), 413, "request body is larger than 4 MiB"},
	})
}
