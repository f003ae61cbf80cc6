package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/client"
)

type getInput struct {
	ID          string `json:"id" jsonschema:"the id of a request, an analysis or an estimate, or the reference_id of a request"`
	WaitSeconds int    `json:"wait_seconds,omitempty" jsonschema:"how long to wait for the end, from 0 to 50 seconds"`
	SaveTo      string `json:"save_to,omitempty" jsonschema:"the path of a new local file for the output of a completed request; only on standard input"`
}

// get reads a request, an analysis or an estimate, and waits for its end.
func (t *tools) get(ctx context.Context, r *mcp.CallToolRequest, in getInput) (any, error) {
	left, err := t.patience(in.WaitSeconds)
	switch {
	case err != nil:
		return nil, err
	case in.SaveTo != "" && !t.Files:
		return nil, errors.New("save_to is only for a local server; download output_url instead")
	}
	c := t.client(r)
	for {
		p, after, err := c.Progress(ctx, in.ID)
		if client.StatusOf(err) == http.StatusNotFound {
			return t.getFound(ctx, c, in.ID, left)
		}
		if err != nil {
			return nil, err
		}
		if p.Status.Final() {
			return t.finished(ctx, c, in)
		}
		notify(ctx, r, cmp.Or(string(p.Stage), string(p.Status)), p.Percent)
		if left <= 0 {
			return progress{in.ID, p, "call get again; don't create another request"}, nil
		}
		pause := min(max(after, time.Second), left)
		left -= pause
		if err := t.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// patience returns how long a call waits for the end of what it reads.
func (t *tools) patience(seconds int) (time.Duration, error) {
	if seconds < 0 || seconds > int(mostWait/time.Second) {
		return 0, errors.New("wait_seconds must be from 0 to 50; call again to wait longer")
	}
	left := time.Duration(seconds) * time.Second
	if t.Whole {
		left = min(left, wholeWait)
	}
	return left, nil
}

// progress is the answer about a request that isn't finished.
type progress struct {
	ID string `json:"id"`
	client.Progress
	Next string `json:"next"`
}

// finished reads a finished request with its details, and saves its output where the input says so.
func (t *tools) finished(ctx context.Context, c *client.Client, in getInput) (any, error) {
	request, err := c.Request(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	answer := struct {
		client.Request
		Details *client.Details `json:"details,omitempty"`
		Reason  string          `json:"reason,omitempty"`
		SavedTo string          `json:"saved_to,omitempty"`
	}{Request: request}
	details, err := c.Details(ctx, request.ID)
	if err != nil {
		return nil, err
	}
	if request.Status == lipsync.Failed {
		answer.Reason = details.Reason
		return answer, nil
	}
	answer.Details = &details
	if in.SaveTo != "" {
		if _, err := os.Lstat(in.SaveTo); err == nil {
			return nil, errors.New("save_to names a file that exists: choose another name")
		}
		if err := c.Download(ctx, request, in.SaveTo, func(done, total int64) {}); err != nil {
			return nil, errors.Join(err, removed(in.SaveTo))
		}
		answer.SavedTo = in.SaveTo
	}
	return answer, nil
}

// removed removes what a download that failed has left, so that another call can use the path.
func removed(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// getFound reads an analysis or an estimate, and waits for its end.
func (t *tools) getFound(ctx context.Context, c *client.Client, id string, left time.Duration) (any, error) {
	for _, read := range []reader{c.Analysis, c.Estimated} {
		if text, err := t.await(ctx, read, id, left); client.StatusOf(err) != http.StatusNotFound {
			return text, err
		}
	}
	return nil, errors.New("there is no request, no analysis and no estimate with this id")
}

// reader reads an analysis, an estimate or a batch, and after which time to read it again: 0 once it is finished.
type reader func(ctx context.Context, id string) (text json.RawMessage, after time.Duration, err error)

// await reads until what it reads is finished, or the time left is over.
func (t *tools) await(ctx context.Context, read reader, id string, left time.Duration) (map[string]any, error) {
	for {
		text, after, err := read(ctx, id)
		if err != nil {
			return nil, err
		}
		if after == 0 || left <= 0 {
			return withoutPictures(text)
		}
		pause := min(after, left)
		left -= pause
		if err := t.Sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}
