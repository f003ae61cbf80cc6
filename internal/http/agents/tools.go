package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/http/client"
)

// tools has the handlers of the tools. An error of a handler becomes an error of the tool, with the API's sentence.
type tools struct {
	Options

	mu   sync.Mutex
	sent map[file]upload
}

// file is a local file in one state.
type file struct {
	kind    failure.MediaKind
	path    string
	size    int64
	changed time.Time
}

// upload is a file that was uploaded.
type upload struct {
	url  string
	when time.Time
}

// uploadLife is the time for which an upload is used again. Services keep uploads for an hour at least.
const uploadLife = 30 * time.Minute

func (t *tools) client(r *mcp.CallToolRequest) *client.Client {
	if r.Extra == nil {
		return t.Client(nil)
	}
	return t.Client(r.Extra.Header)
}

type createInput struct {
	orderInput
	IdempotencyKey string `json:"idempotency_key,omitempty" jsonschema:"any text, such as a UUID; the same key with the same input never makes a second request"`
}

// orderInput is the input of the tools create and estimate.
type orderInput struct {
	Video string `json:"video" jsonschema:"the video, with a face in it: MP4, MOV, WebM, MKV, AVI, MPEG-TS, FLV, WMV, GIF and APNG; or a picture: PNG, JPEG, WebP and AVIF"`
	Audio string `json:"audio" jsonschema:"the speech track: WAV, MP3, M4A, AAC, FLAC, OGG, WMA, AIFF, CAF and W64, or a video with sound"`
	client.Choices
}

// made is the answer of tools that create something.
type made struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	Next           string `json:"next"`
}

func (t *tools) create(ctx context.Context, r *mcp.CallToolRequest, in createInput) (made, error) {
	c := t.client(r)
	order, err := t.order(ctx, c, r, in.orderInput)
	if err != nil {
		return made{}, err
	}
	key := cmp.Or(in.IdempotencyKey, t.NewID())
	id, err := c.Generate(ctx, order, key)
	return made{id, string(lipsync.Queued), key, "call get with this id and wait_seconds 50; don't call create again for the same job"}, err
}

func (t *tools) estimate(ctx context.Context, r *mcp.CallToolRequest, in orderInput) (made, error) {
	c := t.client(r)
	order, err := t.order(ctx, c, r, in)
	if err != nil {
		return made{}, err
	}
	id, err := c.Estimate(ctx, order)
	return made{ID: id, Status: string(lipsync.Queued), Next: "call get with this id and wait_seconds 50"}, err
}

// order returns the order of the input, after it has uploaded the files that the input names.
func (t *tools) order(ctx context.Context, c *client.Client, r *mcp.CallToolRequest, in orderInput) (client.Order, error) {
	order := client.Order{Choices: in.Choices}
	for _, medium := range []client.Input{{Type: failure.Video, URL: in.Video}, {Type: failure.Audio, URL: in.Audio}} {
		u, err := t.place(ctx, c, r, medium)
		if err != nil {
			return client.Order{}, err
		}
		medium.URL = u
		order.Inputs = append(order.Inputs, medium)
	}
	return order, nil
}

// place returns the URL of a medium, after it has uploaded the file that a path names. A file that was uploaded lately
// keeps its URL, so that the same call with the same idempotency key stays the same for the service.
func (t *tools) place(ctx context.Context, c *client.Client, r *mcp.CallToolRequest, in client.Input) (string, error) {
	if !t.local(in.URL) {
		return in.URL, nil
	}
	info, err := stat(in.URL)
	if err != nil {
		return "", err
	}
	f := file{in.Type, in.URL, info.Size(), info.ModTime()}
	t.mu.Lock()
	before, sent := t.sent[f]
	t.mu.Unlock()
	if sent && t.Now().Sub(before.when) < uploadLife {
		return before.url, nil
	}
	told := int64(-1)
	u, err := c.Send(ctx, in.Type, in.URL, func(done, total int64) {
		if tenth := 10 * done / max(total, 1); tenth != told {
			told = tenth
			notify(ctx, r, fmt.Sprintf("sending the %s", in.Type), 10*int(tenth))
		}
	})
	if err == nil {
		t.mu.Lock()
		t.sent[f] = upload{u, t.Now()}
		t.mu.Unlock()
	}
	return u, err
}

// local reports whether the text names a file of this machine, and tools may read it.
func (t *tools) local(text string) bool { return t.Files && !strings.Contains(text, "://") }

// stat describes the file with the path, or returns an error that says that it isn't one.
func stat(path string) (os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return info, nil
}

// notify sends a progress notice, if the client has asked for such.
func notify(ctx context.Context, r *mcp.CallToolRequest, message string, percent int) {
	token := r.Params.GetProgressToken()
	if token == nil {
		return
	}
	// a client that is gone learns nothing more
	_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: float64(percent), Total: 100})
}

type listInput struct {
	Status      string `json:"status,omitempty" jsonschema:"only requests with this status: queued, processing, completed, failed (not canceled) or canceled"`
	ReferenceID string `json:"reference_id,omitempty" jsonschema:"only requests with this name of your own"`
	Limit       int    `json:"limit,omitempty" jsonschema:"the number of requests, from 1 to 100; 20 by default"`
	Offset      int64  `json:"offset,omitempty" jsonschema:"the number of newer requests to skip"`
}

func (t *tools) list(ctx context.Context, r *mcp.CallToolRequest, in listInput) (client.Page, error) {
	query := url.Values{}
	for name, value := range map[string]string{"status": in.Status, "reference_id": in.ReferenceID} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if in.Limit != 0 {
		query.Set("limit", strconv.Itoa(in.Limit))
	}
	if in.Offset != 0 {
		query.Set("offset", strconv.FormatInt(in.Offset, 10))
	}
	page, err := t.client(r).List(ctx, query)
	return page, err
}

type idInput struct {
	ID string `json:"id" jsonschema:"the id of the request"`
}

func (t *tools) cancel(ctx context.Context, r *mcp.CallToolRequest, in idInput) (client.Request, error) {
	return t.client(r).Cancel(ctx, in.ID)
}

type analyzeInput struct {
	Video string `json:"video" jsonschema:"the video or picture"`
}

func (t *tools) analyze(ctx context.Context, r *mcp.CallToolRequest, in analyzeInput) (made, error) {
	c := t.client(r)
	u, err := t.place(ctx, c, r, client.Input{Type: failure.Video, URL: in.Video})
	if err != nil {
		return made{}, err
	}
	id, err := c.Analyze(ctx, u)
	return made{ID: id, Status: string(lipsync.Queued), Next: "call get with this id and wait_seconds 50"}, err
}

type uploadInput struct {
	Type     failure.MediaKind `json:"type" jsonschema:"video or audio"`
	Size     int64             `json:"size" jsonschema:"bytes of the file"`
	FileName string            `json:"file_name,omitempty"`
}

func (t *tools) announce(ctx context.Context, r *mcp.CallToolRequest, in uploadInput) (client.Upload, error) {
	return t.client(r).Announce(ctx, client.Announcement(in))
}

// withoutPictures returns an analysis without the pictures of faces and their boxes, which would fill an assistant's context.
func withoutPictures(text json.RawMessage) (map[string]any, error) {
	var found map[string]any
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, err
	}
	faces, _ := found["faces"].([]any)
	for _, f := range faces {
		if face, ok := f.(map[string]any); ok {
			delete(face, "thumbnail")
			delete(face, "boxes")
		}
	}
	return found, nil
}
