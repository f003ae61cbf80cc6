// Package agents gives assistants the service as tools of the Model Context Protocol. Each tool makes calls of the HTTP
// API with the key of its user, so the rules, limits and sentences are those of the API.
package agents

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/domain/version"
	"lipsync/internal/http/client"
)

// Options are the parts of a server of tools.
type Options struct {
	// Client returns the client of a call. The header is that of the call, nil on standard input.
	Client func(http.Header) *client.Client
	// Files says whether tools may read and write files by their paths. Set it only if the assistant runs on this machine.
	Files bool
	// Sleep waits between two reads of a request, or returns the error of a context that ends before.
	Sleep func(context.Context, time.Duration) error
	// NewID returns an idempotency key.
	NewID func() string
	// Whole says that a client gets each answer as a whole, after half a minute at most, as API Gateway sends it. Then there are no
	// progress notices, and the tools get and get_batch wait for less time.
	Whole bool
	// Now returns the time. Only a server with Files uses it.
	Now func() time.Time
}

// These are the longest times for which the tools get and get_batch wait. Clients give up on a call after a minute, and API Gateway after 29 seconds.
const (
	mostWait  = 50 * time.Second
	wholeWait = 10 * time.Second // meanwhile the call takes one of the executions that all functions share
)

const instructions = `Makes the lips of a video follow a speech track. create makes a request and returns its id at once. ` +
	`Rendering takes minutes: call get with the id again and again, until the status is completed or failed. ` +
	`Never submit the same job twice because it takes long: each create is rendered, and counts towards the key's limit.`

// New returns a server with the tools.
func New(o Options) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "lipsync", Version: version.String()}, &mcp.ServerOptions{
		// Without ToolCapabilities the library lets clients wait for changes of the list of tools. It never changes.
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	t := &tools{Options: o, sent: map[file]upload{}}
	media := "Name video and audio by URLs that the service can fetch, or by the url that the tool upload returned."
	if o.Files {
		media = "Name video and audio by paths of local files, which are uploaded, or by URLs that the service can fetch."
	}
	again := "Then call get with the id until the request is finished. Never submit twice: if the answer is lost, call create again with the same idempotency_key."
	add(s, &mcp.Tool{Name: "create", Description: "Make a request for a video whose lips follow a speech track, and return its id. " + media + " " + again}, t.create)
	add(s, &mcp.Tool{Name: "get", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !o.Files},
		Description: "Read a request, an analysis or an estimate by its id. With wait_seconds, wait until it is finished, 50 seconds at most. If it is still queued or processing then, call get again; don't create another one. A completed request has an output_url, which needs no key and works for an hour."}, t.get)
	add(s, &mcp.Tool{Name: "list", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		Description: "List the requests of the account, the newest first."}, t.list)
	add(s, &mcp.Tool{Name: "cancel", Description: "Cancel a request that isn't finished. It still counts towards the key's limit, so cancel only what the user no longer wants."}, t.cancel)
	add(s, &mcp.Tool{Name: "analyze", Description: "Find the people in a video, before create, to choose one by options.face. Returns the id of an analysis: call get with it until it is finished. " + media}, t.analyze)
	add(s, &mcp.Tool{Name: "estimate", Description: "Look before create: with the same arguments, find out what would make the request fail, how long the output will be, and how long rendering takes. Makes no request. Returns the id of an estimate: call get with it until it is finished."}, t.estimate)
	add(s, &mcp.Tool{Name: "create_batch", Description: "Make up to 1000 requests by one call, such as one for each language of a video, and return the id of the batch. All variants are checked first. " + media +
		" Then call get_batch with the id until the batch is finished. Never submit twice: if the answer is lost, call create_batch again with the same idempotency_key."}, t.createBatch)
	add(s, &mcp.Tool{Name: "get_batch", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		Description: "Read a batch by its id: its status, how many lines have which status, and some of the lines, which stand for its variants in their order. With wait_seconds, wait until it is finished, 50 seconds at most. Call get with the request_id of a line for its output."}, t.getBatch)
	add(s, &mcp.Tool{Name: "cancel_batch", Description: "Cancel all of a batch that isn't finished. Requests that were made still count towards the key's limit, so cancel only what the user no longer wants."}, t.cancelBatch)
	if !o.Files {
		add(s, &mcp.Tool{Name: "upload", Description: "Announce an upload of a file. Send the file by PUT to upload_url, with the headers of the answer, such as by curl. Then give url to create, create_batch or analyze."}, t.announce)
	}
	return s
}

// add adds a tool. Its answer is JSON, also as text: many assistants read only that.
func add[In, Out any](s *mcp.Server, tool *mcp.Tool, do func(context.Context, *mcp.CallToolRequest, In) (Out, error)) {
	if schema, err := schemaOf[In](); err == nil { // after an error, AddTool says what is wrong with In
		tool.InputSchema = schema
	}
	mcp.AddTool(s, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := do(ctx, r, in)
		if err != nil {
			return nil, out, err
		}
		text, err := plain(out)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, out, err
	})
}

// plain returns JSON in which signed URLs can be copied: an & stays an &.
func plain(out any) (string, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return strings.TrimSpace(text.String()), err
}
