package resttest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// upload is the answer to the announcement of an upload.
type upload struct {
	ID        string            `json:"id"`
	UploadURL string            `json:"upload_url"`
	Headers   map[string]string `json:"headers"`
	URL       string            `json:"url"`
	ExpiresAt time.Time         `json:"expires_at"`
}

func (s *suite) announce(t *testing.T, token, kind string, size int) (u upload) {
	t.Helper()
	body := fmt.Sprintf(`{"type":%q,"size":%d,"content_type":"%s/mp4"}`, kind, size, kind)
	s.postJSON(t, token, "/v1/uploads", body).into(t, &u)
	return u
}

// put sends a file to the URL of the upload.
func (s *suite) put(t *testing.T, u upload, content string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, u.UploadURL, strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range u.Headers {
		req.Header.Set(name, value)
	}
	return s.send(t, req)
}

func (s *suite) uploads(t *testing.T) {
	t.Run("announced", s.announced)
	t.Run("refused", s.refusedUploads)
	t.Run("used", s.usedUploads)
	t.Run("sizes", func(t *testing.T) {
		u := s.announce(t, s.key(t), "video", 5)
		for _, content := range []string{"four", "sixsix", ""} {
			if got := s.put(t, u, content); got.status < 400 || got.status > 499 {
				t.Errorf("%d bytes where 5 were announced: got %d %s, want it refused", len(content), got.status, got.body)
			}
		}
	})
}

func (s *suite) announced(t *testing.T) {
	u := s.announce(t, s.key(t), "video", 5)
	if link, err := url.Parse(u.UploadURL); err != nil || link.Host == "" || !strings.HasPrefix(link.Scheme, "http") {
		t.Errorf("got upload_url %q (%v), want an absolute URL", u.UploadURL, err)
	}
	if life := time.Until(u.ExpiresAt); life < 23*time.Hour || life > 25*time.Hour {
		t.Errorf("got expires_at in %v, want 24 hours", life)
	}
	if u.ID == "" || u.URL == "" || u.Headers == nil {
		t.Errorf("got %+v, want all fields", u)
	}
}

func (s *suite) refusedUploads(t *testing.T) {
	post := func(body string) call {
		return call{method: http.MethodPost, path: "/v1/uploads", contentType: "application/json", body: body}
	}
	rows := []row{
		{"content type", call{method: http.MethodPost, path: "/v1/uploads", body: `{"type":"video","size":1}`}, 400, "content-type must be application/json"},
		{"no kind", post(`{"size":1}`), 400, `type must be "video" or "audio"`},
		{"other kind", post(`{"type":"image","size":1}`), 400, `type must be "video" or "audio"`},
		{"no size", post(`{"type":"video"}`), 400, "size must be at least 1"},
		{"size 0", post(`{"type":"video","size":0}`), 400, "size must be at least 1"},
		{"negative size", post(`{"type":"video","size":-5}`), 400, "size must be at least 1"},
		{"media type of a browser", post(`{"type":"video","size":1,"content_type":"video/webm;codecs=vp8,opus"}`), 200, ""},
		{"no media type at all", post(`{"type":"video","size":1,"content_type":"video"}`), 400, "content_type must be a media type such as video/mp4"},
		{"line break", post(`{"type":"video","size":1,"content_type":"video/mp4\r\nX: y"}`), 400, "content_type must be a media type such as video/mp4"},
		{"media type", post(`{"type":"video","size":1,"content_type":"no/ media"}`), 400, "content_type must be a media type such as video/mp4"},
		{"file name", post(`{"type":"video","size":1,"file_name":"C:\\fakepath\\é.mov"}`), 200, ""},
		{"no file name", post(`{"type":"video","size":1,"file_name":null}`), 200, ""},
		{"file name of two lines", post(`{"type":"video","size":1,"file_name":"a\nb"}`), 400, "file_name must be 1 to 255 characters with no control characters"},
		{"large video", post(fmt.Sprintf(`{"type":"video","size":%d}`, s.MaxVideo+1)), 413,
			fmt.Sprintf("video is larger than %d MiB: %d bytes", s.MaxVideo>>20, s.MaxVideo+1)},
		{"large audio", post(fmt.Sprintf(`{"type":"audio","size":%d}`, s.MaxAudio+1)), 413,
			fmt.Sprintf("audio is larger than %d MiB: %d bytes", s.MaxAudio>>20, s.MaxAudio+1)},
		{"largest video", post(fmt.Sprintf(`{"type":"video","size":%d}`, s.MaxVideo)), 200, ""},
		{"size as a float", post(`{"type":"video","size":5.0}`), 200, ""},
		{"size with an exponent", post(`{"type":"video","size":1e3}`), 200, ""},
		{"no media type", post(`{"type":"audio","size":1,"content_type":null}`), 200, ""},
	}
	for name, body := range map[string]string{
		"empty": "", "null": "null", "array": "[]", "size is text": `{"type":"video","size":"1"}`, "half a byte": `{"type":"video","size":1.5}`,
		"huge float": `{"type":"video","size":1e30}`, "huge size": `{"type":"video","size":99999999999999999999}`, "type is a number": `{"type":1,"size":1}`,
	} {
		rows = append(rows, row{name, post(body), 400, "invalid request body"})
	}
	s.values(t, rows)
}

// usedUploads checks that an input may name only an upload that is complete, of the input's kind and
// of the same account.
func (s *suite) usedUploads(t *testing.T) {
	token := s.key(t)
	u := s.announce(t, token, "video", 5)
	generate := func(token, videoURL, audioURL string) reply {
		t.Helper()
		return s.postJSON(t, token, "/v1/lipsync/generate", inputs([]string{"video " + videoURL, "audio " + audioURL}))
	}
	generate(token, u.URL, audioURL).refused(t, 400, "video upload is not complete")
	if got := s.put(t, u, "video"); got.status != http.StatusOK {
		t.Fatalf("PUT: got %d %s, want 200", got.status, got.body)
	}
	generate(s.key(t), u.URL, audioURL).refused(t, 400, "video upload does not exist")
	generate(token, "upload://00000000-0000-4000-8000-000000000000", audioURL).refused(t, 400, "video upload does not exist")
	generate(token, "upload://", audioURL).refused(t, 400, "video upload does not exist")
	generate(token, videoURL, u.URL).refused(t, 400, "audio upload was announced as video")
	generate(token, u.URL, audioURL).requestID(t)
}
