package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lipsync/internal/test/awstest"
)

// assistant uses the tools of a deployment with a key.
type assistant struct {
	*mcp.ClientSession
	token string
}

// RoundTrip adds the key to a call.
func (a *assistant) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+a.token)
	return http.DefaultTransport.RoundTrip(r)
}

// call calls a tool. It returns the answer's fields.
func (a *assistant) call(t *testing.T, tool string, arguments map[string]any) map[string]any {
	t.Helper()
	r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text := r.Content[0].(*mcp.TextContent).Text
	t.Logf("%s %v: %s", tool, arguments, text)
	var answer map[string]any
	if err := json.Unmarshal([]byte(text), &answer); err != nil || r.IsError {
		t.Fatalf("%s %v: got %s (%v)", tool, arguments, text, err)
	}
	return answer
}

// upload sends a file as the tool upload says, and returns the URL for create.
func (a *assistant) upload(t *testing.T, kind string, content []byte) any {
	t.Helper()
	u := a.call(t, "upload", map[string]any{"type": kind, "size": len(content)})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, u["upload_url"].(string), bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	headers, _ := u["headers"].(map[string]any)
	for name, value := range headers {
		r.Header.Set(name, value.(string))
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("the upload got %s", response.Status)
	}
	return u["url"]
}

// TestAssistant makes an output by the tools of assistants, with the rights of their function.
func TestAssistant(t *testing.T) {
	d := deployed(t, awstest.Enforcing(t))
	token, _, err := d.service.CreateKey(t.Context(), "assistant", "key", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := &assistant{token: token}
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	a.ClientSession, err = c.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: d.URL + "/" + stage + "/mcp", HTTPClient: &http.Client{Transport: a}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	video, audio := a.upload(t, "video", read(t, fixtures.video)), a.upload(t, "audio", read(t, fixtures.speech))
	made := a.call(t, "create", map[string]any{"video": video, "audio": audio})
	found := a.call(t, "analyze", map[string]any{"video": video})
	expected := a.call(t, "estimate", map[string]any{"video": video, "audio": audio})
	for _, id := range []any{made["id"], found["id"], expected["id"]} {
		await(t, "the end", func() bool {
			status := a.call(t, "get", map[string]any{"id": id, "wait_seconds": 50})["status"]
			return status != "queued" && status != "processing"
		})
	}
	if got := a.call(t, "get", map[string]any{"id": made["id"]}); got["status"] != "completed" || !strings.Contains(got["output_url"].(string), "Signature=") {
		t.Errorf("got %v, want it completed with a signed URL", got)
	}
	if got := a.call(t, "list", nil)["data"].([]any); len(got) != 1 {
		t.Errorf("got the requests %v, want one", got)
	}
	batch := a.call(t, "create_batch", map[string]any{"video": video, "variants": []any{map[string]any{"audio": "https://host.invalid/speech.wav"}}})
	if got := a.call(t, "get_batch", map[string]any{"id": batch["id"]}); len(got["lines"].([]any)) != 1 {
		t.Errorf("got the batch %v, want one line", got)
	}
	if got := a.call(t, "cancel_batch", map[string]any{"id": batch["id"]}); got["canceled_at"] == nil {
		t.Errorf("got the batch %v, want it canceled", got)
	}
	refused, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "cancel", Arguments: map[string]any{"id": made["id"]}})
	if err != nil || !refused.IsError || refused.Content[0].(*mcp.TextContent).Text != "lipsync request is already finished" {
		t.Errorf("cancel: got %+v (%v), want it refused", refused, err)
	}
	a.token = "wrong"
	if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "list"}); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("with a wrong key: got %v", err)
	}
}
