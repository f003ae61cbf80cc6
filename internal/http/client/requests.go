package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/http/rest"
)

// Order is the body of a generate call. Absent fields have their defaults.
type Order struct {
	Inputs []Input `json:"inputs"`
	Choices
	Segments any `json:"segments,omitempty"` // order.Segments, or JSON of the same form
}

// Choices say how to render the media of an Order, or of a Variant.
type Choices struct {
	ReferenceID string `json:"reference_id,omitzero"`
	LargestFace bool   `json:"disable_active_speaker_detection,omitzero"`
	Model       string `json:"model,omitzero"`

	// These are sent as they are, so that the service judges them: an order.Options and an order.Output, or JSON of the same form.
	Options any `json:"options,omitempty"`
	Output  any `json:"output,omitempty"`
}

// Input is a medium of an Order, by a URL or as an upload.
type Input struct {
	Type failure.MediaKind `json:"type"`
	URL  string            `json:"url"`
	Ref  string            `json:"ref,omitzero"` // the name that segments have for an audio
}

// Request is a lip sync request. Its OutputURL is signed, and needs no key.
type Request = rest.Request

// Progress says how far a request is.
type Progress struct {
	Status      lipsync.Status `json:"status"`
	Percent     int            `json:"percent"`
	Stage       order.Stage    `json:"stage"`            // "" while no worker has it
	SecondsLeft int            `json:"seconds_left"`     // 0 if unknown
	Reason      string         `json:"reason,omitempty"` // what is known of why it failed or waits
}

// Details are further facts about a request.
type Details struct {
	Reason   string          `json:"reason,omitzero"` // what is known of why it failed or waits
	Frames   rest.Frames     `json:"frames"`
	Unsynced []order.Gap     `json:"unsynced,omitempty"` // parts of the output
	LeftOut  int             `json:"unsynced_left_out,omitempty"`
	Warnings []string        `json:"warnings"`
	Sync     *rest.SyncScore `json:"sync"` // nil if nothing is known
}

// Page is a page of the account's requests, the newest first.
type Page struct {
	Data       []Request `json:"data"`
	Pagination struct {
		Limit  int   `json:"limit"`
		Offset int64 `json:"offset"`
		Total  int64 `json:"total"`
	} `json:"pagination"`
}

// Me returns the name of the key. It tries again only if too many calls were made: a wrong address or key is found out
// at once.
func (c *Client) Me(ctx context.Context) (name string, err error) {
	var me struct {
		Name string `json:"name"`
	}
	impatient := c.Retry
	impatient.Patience = 0 // pauses after 429 need none
	err = impatient.do(ctx, func(ctx context.Context) error {
		_, err := c.try(ctx, call{method: http.MethodGet, path: rest.MePath}, &me)
		return err
	})
	return me.Name, err
}

// Generate makes a request and returns its id. The same idempotency key with the same order never makes a second
// one. A call that was begun goes on for a minute when ctx ends, so that the id of what it makes is known.
func (c *Client) Generate(ctx context.Context, o Order, key string) (id string, err error) {
	var made struct {
		ID string `json:"request_id"`
	}
	err = c.Retry.do(ctx, func(ctx context.Context) error {
		begun, stop := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
		defer stop()
		_, err := c.try(begun, call{http.MethodPost, rest.GeneratePath, o, key}, &made)
		return err
	})
	return made.ID, err
}

// get reads the answer at the path. after is the time to wait before the next read; 0 if the answer is final.
func get[T any](ctx context.Context, c *Client, path string) (answer T, after time.Duration, err error) {
	after, err = c.do(ctx, call{method: http.MethodGet, path: path}, &answer)
	return answer, after, err
}

// below returns path/id, escaped.
func below(path, id string) string { return path + "/" + url.PathEscape(id) }

// Request reads a request by its id or reference id.
func (c *Client) Request(ctx context.Context, id string) (r Request, err error) {
	r, _, err = get[Request](ctx, c, below(rest.RequestsPath, id))
	return r, err
}

// Progress reads how far a request is, and after which time to read it again.
func (c *Client) Progress(ctx context.Context, id string) (p Progress, after time.Duration, err error) {
	return get[Progress](ctx, c, below(rest.RequestsPath, id)+rest.ProgressPath)
}

// Details reads further facts about a request.
func (c *Client) Details(ctx context.Context, id string) (d Details, err error) {
	d, _, err = get[Details](ctx, c, below(rest.RequestsPath, id)+rest.DetailsPath)
	return d, err
}

// List reads a page of the account's requests. The query has the parameters of the call.
func (c *Client) List(ctx context.Context, query url.Values) (p Page, err error) {
	p, _, err = get[Page](ctx, c, rest.RequestsPath+"?"+query.Encode())
	return p, err
}

// Cancel cancels a request. It is an Error with status 409 if the request is finished.
func (c *Client) Cancel(ctx context.Context, id string) (r Request, err error) {
	_, err = c.do(ctx, call{method: http.MethodDelete, path: below(rest.RequestsPath, id)}, &r)
	return r, err
}

// Erase deletes a finished request with its media and its record. It is an Error with status 409 if the request isn't finished.
func (c *Client) Erase(ctx context.Context, id string) error {
	_, err := c.do(ctx, call{method: http.MethodDelete, path: below(rest.RequestsPath, id) + rest.RecordPath}, new(json.RawMessage))
	return err
}

// EraseAll deletes all finished requests of the account as Erase does, and its finished batches, and returns how many. It makes as many calls as
// that takes, and stops with an error after one that had no time for any.
func (c *Client) EraseAll(ctx context.Context) (erased int, err error) {
	for more := true; more && err == nil; {
		var some struct {
			Erased int  `json:"erased"`
			More   bool `json:"more"`
		}
		_, err = c.do(ctx, call{method: http.MethodDelete, path: rest.RecordsPath}, &some)
		if erased, more = erased+some.Erased, some.More; err == nil && more && some.Erased == 0 {
			err = errors.New("the service had no time to erase anything; try again later")
		}
	}
	return erased, err
}

// Batch is the body of a call that makes a batch. Absent fields have their defaults.
type Batch struct {
	Video    string    `json:"video,omitzero"` // of the variants that name none
	Variants []Variant `json:"variants"`
	DryRun   bool      `json:"dry_run,omitzero"`
}

// Variant is one request of a Batch.
type Variant struct {
	Video string `json:"video,omitzero"`
	Audio string `json:"audio"`
	Choices
}

// CreateBatch makes a batch, or only checks it, and returns the answer in JSON. The same idempotency key with the same batch never makes a second
// one.
func (c *Client) CreateBatch(ctx context.Context, b Batch, key string) (text json.RawMessage, err error) {
	_, err = c.do(ctx, call{http.MethodPost, rest.BatchesPath, b, key}, &text)
	return text, err
}

// Batch reads a batch as JSON with its lines, and after which time to read it again: 0 once it is finished.
func (c *Client) Batch(ctx context.Context, id string) (text json.RawMessage, after time.Duration, err error) {
	return get[json.RawMessage](ctx, c, below(rest.BatchesPath, id))
}

// CancelBatch cancels all of a batch that isn't finished, and returns the batch as JSON with its lines.
func (c *Client) CancelBatch(ctx context.Context, id string) (text json.RawMessage, err error) {
	_, err = c.do(ctx, call{method: http.MethodDelete, path: below(rest.BatchesPath, id)}, &text)
	return text, err
}

// Analyze makes an analysis of a video and returns its id. It tries again only after an answer that says that there
// is none, since the call has no idempotency key.
func (c *Client) Analyze(ctx context.Context, video string) (id string, err error) {
	var made struct {
		ID string `json:"id"`
	}
	_, err = c.try(ctx, call{method: http.MethodPost, path: rest.AnalyzePath, body: map[string]string{"url": video}}, &made)
	return made.ID, err
}

// Estimate makes an estimate of an order and returns its id. It tries again as Analyze does.
func (c *Client) Estimate(ctx context.Context, o Order) (id string, err error) {
	var made struct {
		ID string `json:"id"`
	}
	_, err = c.try(ctx, call{method: http.MethodPost, path: rest.EstimatePath, body: o}, &made)
	return made.ID, err
}

// Estimated reads an estimate as JSON with its status, and after which time to read it again: 0 once it is finished.
func (c *Client) Estimated(ctx context.Context, id string) (text json.RawMessage, after time.Duration, err error) {
	return get[json.RawMessage](ctx, c, below(rest.EstimatesPath, id))
}

// Analysis reads an analysis as JSON with its status, and after which time to read it again: 0 once it is finished.
func (c *Client) Analysis(ctx context.Context, id string) (text json.RawMessage, after time.Duration, err error) {
	return get[json.RawMessage](ctx, c, below(rest.AnalysesPath, id))
}

// leastWait is the time between two reads if the service names none.
const leastWait = time.Second

// Wait waits until a request is finished, and returns it. It calls seen with each progress that it reads.
func (c *Client) Wait(ctx context.Context, id string, seen func(Progress)) (Request, error) {
	for {
		p, after, err := c.Progress(ctx, id)
		if err != nil {
			return Request{}, err
		}
		seen(p)
		if p.Status.Final() {
			return c.Request(ctx, id)
		}
		if err := c.Retry.Sleep(ctx, max(after, leastWait)); err != nil {
			return Request{}, err
		}
	}
}

// StatusOf returns the status of the answer that an error is about, and 0 for other errors.
func StatusOf(err error) int {
	if answer, ok := errors.AsType[*Error](err); ok {
		return answer.Status
	}
	return 0
}
