package resttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// No server answers at these URLs, since their address is reserved for documentation.
const (
	videoURL = "http://192.0.2.1/video.mp4"
	audioURL = "http://192.0.2.1/audio.wav"
)

// inputs returns the body of a generate call with the inputs, each written as TYPE URL, and with
// more fields in JSON.
func inputs(list []string, more ...string) string {
	var items []string
	for _, in := range list {
		kind, url, _ := strings.Cut(in, " ")
		items = append(items, fmt.Sprintf(`{"type":%s,"url":%s}`, quote(kind), quote(url)))
	}
	fields := append([]string{`"inputs":[` + strings.Join(items, ",") + `]`}, more...)
	return "{" + strings.Join(fields, ",") + "}"
}

func quote(s string) string {
	b, _ := json.Marshal(s) // strings always encode
	return string(b)
}

// good returns the body of a generate call that the service accepts, with more fields in JSON.
func good(more ...string) string {
	return inputs([]string{"video " + videoURL, "audio " + audioURL}, more...)
}

func reference(id string) string { return `"reference_id":` + quote(id) }

// start makes a request and returns its id.
func (s *suite) start(t *testing.T, token string, more ...string) string {
	t.Helper()
	return s.postJSON(t, token, "/v1/lipsync/generate", good(more...)).requestID(t)
}

// requestID reads the id of a request that was made.
func (r reply) requestID(t *testing.T) string {
	t.Helper()
	var got struct {
		RequestID string `json:"request_id"`
		Status    string `json:"status"`
	}
	r.into(t, &got)
	if got.RequestID == "" || got.Status != "success" {
		t.Fatalf("got %s, want a request_id and status success", r.body)
	}
	return got.RequestID
}

func (s *suite) generate(t *testing.T) {
	t.Run("content type", s.jsonContentTypes)
	t.Run("accepted", s.acceptedBodies)
	t.Run("body", s.refusedBodies)
	t.Run("inputs", s.refusedInputs)
}

func (s *suite) jsonContentTypes(t *testing.T) {
	var rows []row
	for _, contentType := range []string{
		"", "text/plain", "application/xml", "application/jsonp", "multipart/form-data; boundary=x", "json", ";",
	} {
		rows = append(rows, row{"refused " + contentType, generateCall(contentType, good()), 400, "content-type must be application/json"})
	}
	for _, contentType := range []string{
		"application/json", "Application/JSON", "application/json; charset=utf-8", "application/json;charset=ISO-8859-1", "application/json; charset",
	} {
		rows = append(rows, row{"accepted " + contentType, generateCall(contentType, good()), 200, ""})
	}
	s.table(t, rows)
}

func generateCall(contentType, body string) call {
	return call{method: http.MethodPost, path: "/v1/lipsync/generate", contentType: contentType, body: body}
}

func (s *suite) acceptedBodies(t *testing.T) {
	for name, body := range map[string]string{
		"two URLs":        good(),
		"audio first":     inputs([]string{"audio " + audioURL, "video " + videoURL}),
		"all fields":      good(reference("order 1"), `"disable_active_speaker_detection":true`),
		"false":           good(`"disable_active_speaker_detection":false`),
		"nulls":           good(`"reference_id":null`, `"disable_active_speaker_detection":null`),
		"unknown fields":  good(`"webhook":{"url":[]}`),
		"https, port":     inputs([]string{"video https://example.com:8443/v", "audio https://example.com?q=a%20b#c"}),
		"long reference":  good(reference(strings.Repeat("é", 255))),
		"space around it": "\n\t " + good() + " \n",
	} {
		t.Run(name, func(t *testing.T) {
			s.postJSON(t, s.key(t), "/v1/lipsync/generate", body).requestID(t)
		})
	}
}

func (s *suite) refusedBodies(t *testing.T) {
	var rows []row
	for name, body := range map[string]string{
		"empty":                "",
		"no JSON":              "inputs=1",
		"null":                 "null",
		"array":                "[]",
		"text":                 `"inputs"`,
		"cut off":              good()[:40],
		"two values":           good() + good(),
		"rest after it":        good() + "x",
		"inputs no array":      `{"inputs":{}}`,
		"input no object":      `{"inputs":["video"]}`,
		"type no text":         `{"inputs":[{"type":1,"url":"http://example.com"}]}`,
		"url no text":          `{"inputs":[{"type":"video","url":1}]}`,
		"reference no text":    good(`"reference_id":7`),
		"flag no boolean":      good(`"disable_active_speaker_detection":"true"`),
		"no UTF-8":             good("\"reference_id\":\"\xff\""),
		"comment":              "/* */" + good(),
		"not a number at last": good(`"size":NaN`),
	} {
		rows = append(rows, row{name, generateCall("application/json", body), 400, "invalid request body"})
	}
	for name, id := range map[string]string{"empty reference": "", "too long reference": strings.Repeat("é", 256)} {
		rows = append(rows, row{name, generateCall("application/json", good(reference(id))), 400, "reference_id must be 1 to 255 characters"})
	}
	rows = append(rows, row{"too large", generateCall("application/json", good(reference(strings.Repeat("x", 1<<20)))),
		413, "request body is larger than 1 MiB"})
	s.values(t, rows)
}

func (s *suite) refusedInputs(t *testing.T) {
	const (
		badType  = `input type must be "video" or "audio"`
		oneVideo = "expected exactly one video input"
		oneAudio = "expected exactly one audio input"
		video    = "video " + videoURL
		audio    = "audio " + audioURL
	)
	rows := []row{
		{"no type", generateCall("application/json", `{"inputs":[{"url":"http://example.com"}]}`), 400, badType},
		{"null input", generateCall("application/json", `{"inputs":[null]}`), 400, badType},
		{"no inputs field", generateCall("application/json", `{}`), 400, oneVideo},
	}
	for _, c := range []struct {
		name    string
		inputs  []string
		message string
	}{
		{"none", nil, oneVideo},
		{"no video", []string{audio}, oneVideo},
		{"no audio", []string{video}, oneAudio},
		{"two videos", []string{video, video, audio}, oneVideo},
		{"two audios", []string{video, audio, audio}, oneAudio},
		{"two of each", []string{video, audio, video, audio}, oneVideo},
		{"other type", []string{"image http://example.com/i.png"}, badType},
		{"other type after good ones", []string{video, audio, "text x"}, badType},
		{"other case", []string{"Video " + videoURL, audio}, badType},
		{"type before numbers", []string{video, video, "image x"}, badType},
	} {
		rows = append(rows, row{c.name, generateCall("application/json", inputs(c.inputs)), 400, c.message})
	}
	for _, url := range []string{
		"", "video.mp4", "/video.mp4", "//example.com/v", "ftp://example.com/v", "file:///etc/passwd", "http://", "http:///v",
		"https:example.com", "data:video/mp4;base64,AAAA", "http://user:pass@example.com/v", "http://exa mple.com/", "javascript:1",
		"http://example.com/" + strings.Repeat("x", 8192),
	} {
		const rule = " URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
		rows = append(rows,
			row{fmt.Sprintf("video %.30s", url), generateCall("application/json", inputs([]string{"video " + url, audio})), 400, "video" + rule},
			row{fmt.Sprintf("audio %.30s", url), generateCall("application/json", inputs([]string{video, "audio " + url})), 400, "audio" + rule})
	}
	s.values(t, rows)
}
