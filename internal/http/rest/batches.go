package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// MaxBatchBody is the largest size of the body of a call that makes a batch, in bytes: 1000 lines with two signed URLs each. An event of
// Lambda has room for it.
const MaxBatchBody = 4 << 20

// batchBody is the JSON body of a call that makes a batch.
type batchBody struct {
	Video      string   `json:"video"` // of the variants that name none
	Variants   variants `json:"variants"`
	WebhookURL *string  `json:"webhook_url"`
	DryRun     bool     `json:"dry_run"`
}

// variants are the lines of a batch. A line that can't be read has the error.
type variants []batches.Variant

// UnmarshalJSON reads a list of objects. It ends at the first object that is one too many.
func (all *variants) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	switch t, err := d.Token(); {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != json.Delim('['):
		return fmt.Errorf("a list is wanted, not %v", t)
	}
	for d.More() {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return err
		}
		if err := all.add(one); err != nil {
			return err
		}
	}
	return nil
}

// add reads an object.
func (all *variants) add(text []byte) error {
	if len(*all) == lipsync.MostLines {
		return invalid(fmt.Sprintf("a batch has 1 to %d lines", lipsync.MostLines))
	}
	v, err := parseJSON[batches.Variant](text)
	v.value.Ignored, v.value.Err = v.ignored, err
	*all = append(*all, v.value)
	return nil
}

// refuseIgnored sets the errors of lines with unknown fields, as the function does for a body.
func (all variants) refuseIgnored(h http.Header) {
	for i := range all {
		all[i].Err = cmp.Or(all[i].Err, refuse(h, all[i].Ignored))
	}
}

// warnings names the fields of a body, and of its lines, that were ignored.
func (b batchBody) warnings(ignored []string) (all []batches.LineProblem) {
	warn := func(line int, fields []string) {
		for _, text := range order.IgnoredFields(fields).Texts() {
			all = append(all, batches.LineProblem{Line: line, Message: text})
		}
	}
	warn(0, ignored)
	for n, v := range b.Variants {
		warn(n+1, v.Ignored)
	}
	return all
}

// params returns the parameters of the batch.
func (b batchBody) params() batches.Params {
	for n := range b.Variants {
		b.Variants[n].Video = cmp.Or(b.Variants[n].Video, b.Video)
	}
	return batches.Params{Lines: b.Variants, WebhookURL: b.WebhookURL}
}

// decodeBatch reads a call that makes a batch. The body is one object of JSON, or one variant on each line (JSON Lines). The query may have
// the fields that JSON Lines has no place for. An object's own fields count more.
func decodeBatch(r *http.Request) (in sent[batchBody], err error) {
	b, err := parseBatchQuery(r.URL.RawQuery)
	if err != nil {
		return in, err
	}
	text, err := readBody(r, MaxBatchBody)
	if err != nil {
		return in, err
	}
	switch {
	case hasType(r, "application/json"):
		if in, err = parseJSON[batchBody](text); err == nil {
			err = refuse(r.Header, in.ignored)
		}
		body := &in.value
		body.Video = cmp.Or(body.Video, b.Video)
		body.WebhookURL = cmp.Or(body.WebhookURL, b.WebhookURL)
		body.DryRun = body.DryRun || b.DryRun
	case hasType(r, "application/jsonl"), hasType(r, "application/x-ndjson"):
		b.Variants, err = parseVariants(text)
		in.value = b
	default:
		err = invalid("content-type must be application/json, application/jsonl or application/x-ndjson")
	}
	in.value.Variants.refuseIgnored(r.Header)
	return in, err
}

// parseVariants reads a variant from each line of text that isn't empty.
func parseVariants(text []byte) (all variants, err error) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && err == nil {
			err = all.add(line)
		}
	}
	return all, err
}

// parseBatchQuery reads the fields of a batch that a body of JSON Lines has no place for.
func parseBatchQuery(raw string) (b batchBody, err error) {
	q := parseQuery(raw)
	fits := func(string) bool { return true }
	b.Video = q.text("video", "video must be given once", fits)
	if webhook := q.text("webhook_url", "webhook_url must be given once", fits); q.values.Has("webhook_url") {
		b.WebhookURL = &webhook
	}
	b.DryRun = oneOf(q, "dry_run", []string{"true", "false"}) == "true"
	return b, q.err
}

// batch is a batch in an answer or an event. Fields without a value are absent.
type batch struct {
	ID         string              `json:"id"`
	CreatedAt  time.Time           `json:"created_at"`
	Status     lipsync.BatchStatus `json:"status"`
	Counts     lipsync.Counts      `json:"counts"`
	CanceledAt time.Time           `json:"canceled_at,omitzero"`
	FinishedAt time.Time           `json:"finished_at,omitzero"`
	Lines      []line              `json:"lines,omitempty"`
}

func (b batch) openSince() time.Time {
	if b.Status == lipsync.BatchCompleted || b.Status == lipsync.BatchCanceled {
		return time.Time{}
	}
	return b.CreatedAt
}

// line is a line of a batch in an answer.
type line struct {
	Line         int    `json:"line"` // from 1
	Status       string `json:"status"`
	RequestID    string `json:"request_id,omitempty"`
	ReferenceID  string `json:"reference_id,omitempty"`
	ErrorMessage string `json:"error_message,omitempty"` // why it failed, or why there is no request
}

// viewBatch returns a batch without its lines.
func viewBatch(b lipsync.Batch) batch {
	return batch{
		ID: b.ID, CreatedAt: b.CreatedAt.UTC(), Status: b.Status(), Counts: b.Counts(), CanceledAt: b.CanceledAt.UTC(), FinishedAt: b.FinishedAt.UTC(),
	}
}

// viewLines returns a batch with those of its lines that the query selects.
func (a *api) viewLines(ctx context.Context, b lipsync.Batch, q batches.LineQuery) (batch, error) {
	v := viewBatch(b)
	lines, _, err := a.service.Lines(ctx, b, q)
	for _, l := range lines {
		v.Lines = append(v.Lines, line{l.Number, l.State, l.Request, l.Record.ReferenceID, l.Problem})
	}
	return v, err
}

// allLines selects all lines of a batch.
var allLines = batches.LineQuery{Limit: lipsync.MostLines}

// parseLineQuery reads the query of a call that reads a batch.
func parseLineQuery(raw string) (batches.LineQuery, error) {
	q := parseQuery(raw)
	lines := batches.LineQuery{Offset: int(q.whole("offset", 0, 0, lipsync.MostLines)), Limit: int(q.whole("limit", lipsync.MostLines, 1, lipsync.MostLines))}
	lines.State = oneOf(q, "status", lipsync.LineStates())
	return lines, q.err
}

// madeBatch is the answer to a call that makes a batch, or only checks one.
type madeBatch struct {
	ID        string              `json:"id,omitempty"`
	CreatedAt time.Time           `json:"created_at,omitzero"`
	Status    lipsync.BatchStatus `json:"status,omitempty"`
	Counts    lipsync.Counts      `json:"counts"`
	Lines     []line              `json:"lines,omitempty"`

	DryRun   bool                  `json:"dry_run,omitempty"`
	Problems []batches.LineProblem `json:"problems,omitzero"`
	Warnings []batches.LineProblem `json:"warnings,omitempty"`

	again bool // see repeatable
}

func (b madeBatch) repeated() bool { return b.again }

func (a *api) createBatch(r *http.Request, c lipsync.Caller) (madeBatch, error) {
	in, err := decodeBatch(r)
	if err != nil {
		return madeBatch{}, err
	}
	p, warnings := in.value.params(), in.value.warnings(in.ignored)
	if in.value.DryRun {
		problems, err := a.service.CheckBatch(r.Context(), c, p)
		counts := lipsync.Counts{Lines: len(p.Lines), Waiting: len(p.Lines) - len(problems), Refused: len(problems)}
		return madeBatch{Counts: counts, DryRun: true, Problems: append([]batches.LineProblem{}, problems...), Warnings: warnings}, err
	}
	if p.IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
		return madeBatch{}, err
	}
	b, again, err := a.service.CreateBatch(r.Context(), c, p)
	if err != nil {
		return madeBatch{}, err
	}
	v, err := a.viewLines(r.Context(), b, allLines)
	return madeBatch{ID: v.ID, CreatedAt: v.CreatedAt, Status: v.Status, Counts: v.Counts, Lines: v.Lines, Warnings: warnings, again: again}, err
}

func (a *api) getBatch(r *http.Request, c lipsync.Caller) (batch, error) {
	q, err := parseLineQuery(r.URL.RawQuery)
	if err != nil {
		return batch{}, err
	}
	b, err := a.service.Batch(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return batch{}, err
	}
	return a.viewLines(r.Context(), b, q)
}

func (a *api) cancelBatch(r *http.Request, c lipsync.Caller) (batch, error) {
	b, err := a.service.CancelBatch(r.Context(), c, r.PathValue("id"))
	if err != nil {
		return batch{}, err
	}
	return a.viewLines(r.Context(), b, allLines)
}

// listBatches returns a page of the account's batches, newest first.
func (a *api) listBatches(r *http.Request, c lipsync.Caller) (list[batch], error) {
	limit, before, err := parsePageQuery(r.URL.RawQuery, "batch")
	if err != nil {
		return list[batch]{}, err
	}
	all, err := a.service.Batches(r.Context(), c, before, limit)
	return viewList(all, viewBatch), err
}
