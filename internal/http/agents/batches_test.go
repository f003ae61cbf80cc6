package agents_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
	"lipsync/internal/test/clienttest"
)

// TestBatches makes a batch of local files, reads it until it is finished, and cancels another one over HTTP.
func TestBatches(t *testing.T) {
	s := clienttest.New(t)
	a := local(t, s)
	folder := t.TempDir()
	paths := map[string]string{}
	for _, name := range []string{"talk.mp4", "other.mp4", "de.wav", "fr.wav"} {
		paths[name] = filepath.Join(folder, name)
		check.Must(t, os.WriteFile(paths[name], []byte(name), 0o600))
	}
	asked := map[string]any{"video": paths["talk.mp4"], "idempotency_key": "once", "variants": []any{
		map[string]any{"audio": paths["de.wav"], "reference_id": "de", "options": map[string]any{"sync_mode": "loop"}},
		map[string]any{"audio": paths["fr.wav"], "video": paths["other.mp4"], "output": map[string]any{"format": "mov"}},
	}}
	made, refusal := a.call(t, "create_batch", asked)
	again, _ := a.call(t, "create_batch", asked)
	if made["id"] == nil || made["id"] != again["id"] || made["lines"] != nil || made["idempotency_key"] != "once" {
		t.Fatalf("got %v (%s), then %v: want one batch", made, refusal, again)
	}
	get := map[string]any{"id": made["id"], "wait_seconds": 2, "limit": 1, "offset": 1}
	b, refusal := a.call(t, "get_batch", get)
	lines, _ := b["lines"].([]any)
	if b["status"] != "processing" || len(lines) != 1 || lines[0].(map[string]any)["line"] != 2. || len(a.slept) == 0 {
		t.Errorf("got %v (%s) after pauses of %v", b, refusal, a.slept)
	}
	b, _ = a.call(t, "get_batch", map[string]any{"id": made["id"]})
	var all []lipsync.Request
	for _, line := range b["lines"].([]any) {
		all = append(all, s.Work(t, line.(map[string]any)["request_id"].(string)))
	}
	if r := all[0]; r.ReferenceID != "de" || r.Options.SyncMode != order.Loop || r.Video.Name != "talk.mp4" || r.Audio.Name != "de.wav" {
		t.Errorf("got the request %+v", r)
	}
	if r := all[1]; r.Options.Output.Format != order.MOV || r.Video.Name != "other.mp4" || r.Audio.Name != "fr.wav" {
		t.Errorf("got the request %+v", r)
	}
	a.asleep = func() {
		a.asleep = func() {}
		s.Finish(t, all[0], "output")
		s.Finish(t, all[1], "")
	}
	get["wait_seconds"], get["offset"] = 50, 0
	b, refusal = a.call(t, "get_batch", get)
	if counts := fmt.Sprint(b["counts"]); b["status"] != "completed" || !strings.Contains(counts, "completed:1") || !strings.Contains(counts, "failed:1") {
		t.Fatalf("got %v (%s)", b, refusal)
	}
	first := b["lines"].([]any)[0].(map[string]any)
	if done, refusal := a.call(t, "get", map[string]any{"id": first["request_id"]}); done["output_url"] == nil {
		t.Errorf("got %v (%s), want the output of %v", done, refusal, first)
	}

	there, _ := remote(t, s, true)
	variants := []any{map[string]any{"audio": "https://example.com/a"}, map[string]any{"audio": "/etc/passwd"}}
	dry, refusal := there.call(t, "create_batch", map[string]any{"video": "https://example.com/v", "variants": variants, "dry_run": true})
	if problems, _ := dry["problems"].([]any); len(problems) != 1 || problems[0].(map[string]any)["line"] != 2. || dry["next"] != nil {
		t.Errorf("got %v (%s), want a problem of line 2", dry, refusal)
	}
	made, refusal = there.call(t, "create_batch", map[string]any{"video": "https://example.com/v", "variants": variants[:1]})
	if refusal != "" {
		t.Fatal(refusal)
	}
	canceled, refusal := there.call(t, "cancel_batch", map[string]any{"id": made["id"]})
	if canceled["canceled_at"] == nil || canceled["lines"] != nil {
		t.Errorf("got %v (%s), want it canceled", canceled, refusal)
	}
}

// TestManyLines makes a batch of more lines than get_batch returns by itself.
func TestManyLines(t *testing.T) {
	s := clienttest.New(t)
	a := local(t, s)
	var variants []any
	for n := range 60 {
		variants = append(variants, map[string]any{"audio": fmt.Sprint("https://example.com/", n)})
	}
	made, refusal := a.call(t, "create_batch", map[string]any{"video": "https://example.com/v", "variants": variants})
	if refusal != "" {
		t.Fatal(refusal)
	}
	for _, c := range []struct{ offset, limit, want int }{{0, 0, 50}, {50, 0, 10}, {60, 0, 0}, {1000, 5, 0}, {10, 3, 3}, {0, 1000, 60}} {
		b, refusal := a.call(t, "get_batch", map[string]any{"id": made["id"], "offset": c.offset, "limit": c.limit})
		if lines := b["lines"].([]any); len(lines) != c.want || len(lines) > 0 && lines[0].(map[string]any)["line"] != float64(c.offset+1) {
			t.Errorf("%+v: got %d lines (%s)", c, len(lines), refusal)
		}
	}
}

// TestLargeBatch checks a batch of 1000 lines with long URLs, which the API takes, over HTTP.
func TestLargeBatch(t *testing.T) {
	s := clienttest.New(t)
	a, _ := remote(t, s, true)
	query := strings.Repeat("x", 1900)
	var variants []any
	for n := range lipsync.MostLines {
		variants = append(variants, map[string]any{
			"video": fmt.Sprintf("https://example.com/v%d?%s", n, query), "audio": fmt.Sprintf("https://example.com/a%d?%s", n, query),
		})
	}
	dry, refusal := a.call(t, "create_batch", map[string]any{"variants": variants, "dry_run": true})
	if problems, ok := dry["problems"].([]any); !ok || len(problems) > 0 {
		t.Errorf("got %v (%s), want no problems", dry, refusal)
	}
}

// TestNoUpload checks batches of local files without an upload: one that has too many lines, and dry runs.
func TestNoUpload(t *testing.T) {
	s := clienttest.New(t)
	a := local(t, s)
	video := filepath.Join(t.TempDir(), "talk.mp4")
	check.Must(t, os.WriteFile(video, []byte("video"), 0o600))
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "uploads") {
			t.Errorf("got the call %s %s", r.Method, r.URL.Path)
		}
		return false
	})
	good := map[string]any{"audio": "https://example.com/a"}
	many := map[string]any{"video": video, "variants": slices.Repeat([]any{good}, lipsync.MostLines+1)}
	if _, refusal := a.call(t, "create_batch", many); refusal != "a batch has 1 to 1000 lines" {
		t.Errorf("got %q", refusal)
	}
	bad := map[string]any{"audio": "https://example.com/a", "options": map[string]any{"sync_mode": "none"}}
	dry, refusal := a.call(t, "create_batch", map[string]any{"video": video, "variants": []any{good, bad}, "dry_run": true})
	if problems, _ := dry["problems"].([]any); len(problems) != 1 || problems[0].(map[string]any)["line"] != 2. {
		t.Errorf("got %v (%s), want a problem of line 2", dry, refusal)
	}
	gone := map[string]any{"video": video + "x", "variants": []any{good}, "dry_run": true}
	if dry, refusal := a.call(t, "create_batch", gone); !strings.Contains(refusal, "talk.mp4x is not a file") {
		t.Errorf("got %v, %q", dry, refusal)
	}
}

// TestIDs checks that the tools for batches ask for the id of a batch.
func TestIDs(t *testing.T) {
	list, err := local(t, clienttest.New(t)).ListTools(t.Context(), nil)
	check.Must(t, err)
	for _, tool := range list.Tools {
		if !strings.HasSuffix(tool.Name, "_batch") || tool.Name == "create_batch" {
			continue
		}
		schema, err := json.Marshal(tool.InputSchema)
		check.Must(t, err)
		if !strings.Contains(string(schema), `"the id of the batch"`) {
			t.Errorf("%s: got the input %s", tool.Name, schema)
		}
	}
}
