package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestIgnoredFields sends bodies with fields that the service doesn't know: details, estimates and answers name them and, if the
// client prefers that, the call is refused.
func TestIgnoredFields(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	send := func(path, kind, body, prefer string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/api"+path, strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		if prefer != "" {
			r.Header.Set("Prefer", prefer)
		}
		return f.call(r, token)
	}
	const known = `"inputs":[{"type":"video","url":"http://x.example","colour":1},{"type":"audio","url":"http://x.example","Ref":null}],"Model":"warp"`
	form := file("video", "v") + "--" + boundary + "\r\nContent-Disposition: form-data; name=\"a b\"\r\n\r\n1\r\n" + file("audio", "a") + last
	for _, c := range []struct{ path, kind, body, ignored, refused string }{
		{GeneratePath, "application/json", "{" + known + `,"refrence_id":"x","webhook_url":null}`,
			`["field \"inputs.colour\" of the request was ignored","field \"refrence_id\" of the request was ignored"]`, `"inputs.colour", "refrence_id"`},
		{GenerateWithMediaPath, "multipart/form-data; boundary=" + boundary, form, `["field \"a b\" of the request was ignored"]`, `"a b"`},
		{EstimatePath, "application/json", "{" + known + "}", `["field \"inputs.colour\" of the request was ignored"]`, `"inputs.colour"`},
		{AnalyzePath, "application/json", `{"url":"http://x.example","uri":""}`, `["field \"uri\" of the request was ignored"]`, `"uri"`},
		{UploadsPath, "application/json", `{"type":"video","size":1,"sise":1}`, `["field \"sise\" of the request was ignored"]`, `"sise"`},
		{webhooksPath, "application/json", `{"url":"https://x.example","event":[]}`, `["field \"event\" of the request was ignored"]`, `"event"`},
		{BatchesPath, "application/json", `{"variants":[{"video":"http://x.example","audio":"http://x.example"}],"dryrun":true}`,
			`[{"message":"field \"dryrun\" of the request was ignored"}]`, `"dryrun"`},
		{BatchesPath, "application/json", `{"variants":[{"video":"http://x.example","audio":"http://x.example","y":1}],"dry_run":true,"x":1}`,
			`[{"message":"field \"x\" of the request was ignored"},{"line":1,"message":"field \"y\" of the request was ignored"}]`, `"x"`},
	} {
		for _, prefer := range []string{"handling=strict", "respond-async, Handling = \"strict\"; x=1, handling=lenient"} {
			w := send(c.path, c.kind, c.body, prefer)
			if want := "request body has unknown fields: " + c.refused; w.Code != http.StatusBadRequest || errorOf(t, w) != want {
				t.Errorf("%s, %s: got %d %s, want 400 %s", c.path, prefer, w.Code, w.Body, want)
			}
		}
		if n := f.stored(t); n != 0 {
			t.Errorf("%s: a refused call left %d objects", c.path, n)
		}
		w := send(c.path, c.kind, c.body, "handling=lenient, handling=strict")
		if w.Code != http.StatusOK {
			t.Errorf("%s: got %d %s, want 200", c.path, w.Code, w.Body)
		}
		var made struct {
			RequestID string `json:"request_id"`
			ID        string `json:"id"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil {
			t.Fatal(err)
		}
		schema := map[string]string{BatchesPath: "BatchMade", AnalyzePath: "Analyzed", UploadsPath: "Upload", webhooksPath: "NewWebhook", EstimatePath: "Estimate"}[c.path]
		switch {
		case made.RequestID != "":
			schema = "Details"
			w = f.call(httptest.NewRequest(http.MethodGet, "/api"+RequestsPath+"/"+made.RequestID+DetailsPath, nil), token)
		case schema == "Estimate":
			validate(t, loadDocument(t), "EstimateMade", w.Body.Bytes())
			w = f.call(httptest.NewRequest(http.MethodGet, "/api"+EstimatesPath+"/"+made.ID, nil), token)
		}
		validate(t, loadDocument(t), schema, w.Body.Bytes())
		if !strings.Contains(w.Body.String(), `"warnings":`+c.ignored) {
			t.Errorf("%s: got %s, want the warnings %s", c.path, w.Body, c.ignored)
		}
		f.clear(t)
	}
}

// TestIgnoredAtOnce sends a form that breaks off after a field that the service doesn't know. If the client prefers that, the field is refused, and
// the rest isn't waited for. The name is long, and is told as far as its 60th character.
func TestIgnoredAtOnce(t *testing.T) {
	f := newFixture(t)
	begin := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("ü", 61) + "\"\r\n\r\n1\r\n--" + boundary + "\r\n"
	r := httptest.NewRequest(http.MethodPost, "/api"+GenerateWithMediaPath, strings.NewReader(begin))
	r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	r.Header.Set("Prefer", "handling=strict")
	w := f.call(r, f.key(t))
	if want := `request body has unknown fields: "` + strings.Repeat("ü", 60) + `"`; w.Code != http.StatusBadRequest || errorOf(t, w) != want {
		t.Errorf("got %d %s, want 400 %s", w.Code, w.Body, want)
	}
}
