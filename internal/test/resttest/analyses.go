package resttest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/jpeg"
	"net/http"
	"strings"
	"testing"
	"time"
)

// analysis is an analysis as the API answers it.
type analysis struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ErrorMessage string `json:"error_message"`
	CreatedAt    string `json:"created_at"`
	StartedAt    string `json:"started_at"`
	FinishedAt   string `json:"finished_at"`
	Video        *struct {
		Seconds float64 `json:"seconds"`
		FPS     float64 `json:"fps"`
		Width   int     `json:"width"`
		Height  int     `json:"height"`
		Frames  int     `json:"frames"`
	} `json:"video"`
	Faces []struct {
		ID    string  `json:"id"`
		First float64 `json:"first_second"`
		Last  float64 `json:"last_second"`
		Share float64 `json:"share"`
		Boxes []struct {
			Frame int    `json:"frame"`
			Box   [4]int `json:"box"`
		} `json:"boxes"`
		Thumbnail string `json:"thumbnail"`
	} `json:"faces"`
}

func analyzeCall(body string) call {
	c := generateCall("application/json", body)
	c.path = "/v1/lipsync/analyze"
	return c
}

// analyses checks the calls for analyses, except for their results.
func (s *suite) analyses(t *testing.T) {
	token, other := s.key(t), s.key(t)
	var made analysis
	s.do(t, analyzeCall(`{"url":"`+videoURL+`"}`).with(token)).into(t, &made)
	if made.ID == "" || made.Status != "queued" {
		t.Errorf("got %+v, want it queued", made)
	}
	path := "/v1/lipsync/analyses/" + made.ID
	if got := s.readAnalysis(t, token, made.ID); got.ID != made.ID || got.Status == "completed" || got.Video != nil || got.CreatedAt == "" {
		t.Errorf("got %+v, want %+v", got, made)
	}
	s.get(t, other, path).refused(t, http.StatusNotFound, "analysis not found")
	remove := call{method: http.MethodDelete, path: path}
	s.do(t, remove.with(other)).refused(t, http.StatusNotFound, "analysis not found")
	var deleted analysis
	s.do(t, remove.with(token)).into(t, &deleted)
	if deleted.ID != made.ID || deleted.Status != "failed" || deleted.ErrorMessage == "" {
		t.Errorf("got %+v, want it failed", deleted)
	}
	for _, id := range []string{"x", "00000000-0000-4000-8000-000000000000", s.do(t, generateCall("application/json", good()).with(token)).requestID(t)} {
		s.get(t, token, "/v1/lipsync/analyses/"+id).refused(t, http.StatusNotFound, "analysis not found")
	}
	s.get(t, token, requestPath(made.ID)).refused(t, http.StatusNotFound, "lipsync request not found")
	const badURL = "video URL must be an absolute http or https URL with a host, no user name and at most 8192 bytes"
	s.table(t, []row{
		{"no URL", analyzeCall(`{}`), 400, badURL},
		{"file", analyzeCall(`{"url":"file:///etc/passwd"}`), 400, badURL},
		{"no object", analyzeCall(`[]`), 400, "invalid request body"},
		{"URL no text", analyzeCall(`{"url":1}`), 400, "invalid request body"},
		{"too large", analyzeCall(`{"url":"` + strings.Repeat("x", 1<<20) + `"}`), 413, "request body is larger than 1 MiB"},
		{"no upload", analyzeCall(`{"url":"upload://00000000-0000-4000-8000-000000000000"}`), 400, "video upload does not exist"},
	})
}

func (s *suite) readAnalysis(t *testing.T, token, id string) (a analysis) {
	t.Helper()
	s.get(t, token, "/v1/lipsync/analyses/"+id).into(t, &a)
	return a
}

// isAnalyzed checks the results of analyses, and renders with a face that one has found.
func (s *suite) isAnalyzed(t *testing.T, token string) {
	t.Helper()
	sent := func(kind string, content []byte) (url string) {
		u := s.announce(t, token, kind, len(content))
		if got := s.put(t, u, string(content)); got.status != http.StatusOK {
			t.Fatalf("got %d %s from the upload", got.status, got.body)
		}
		return u.URL
	}
	url := sent("video", s.Video)
	made := map[string]analysis{} // at once, so that they wait together
	for message, url := range map[string]string{"": url, "video is not a supported format": sent("video", []byte("no video"))} {
		var got analysis
		s.do(t, analyzeCall(`{"url":"`+url+`"}`).with(token)).into(t, &got)
		made[message] = got
	}
	var a analysis
	for message, got := range made {
		for deadline := time.Now().Add(patience); time.Now().Before(deadline) && got.FinishedAt == ""; time.Sleep(time.Second) {
			got = s.readAnalysis(t, token, got.ID)
		}
		if (got.Status == "completed") != (message == "") || got.ErrorMessage != message {
			t.Fatalf("got %+v, want the message %q", got, message)
		}
		if message == "" {
			a = got
		}
	}
	if a.Video == nil || a.Video.Seconds <= 0 || a.Video.FPS < 1 || a.Video.Width < 2 || a.Video.Height < 2 || a.Video.Frames < 1 || len(a.Faces) == 0 {
		t.Fatalf("got %+v, want a video with a face", a)
	}
	defer func() { // last: its face is used before
		var deleted analysis
		s.do(t, call{method: http.MethodDelete, path: "/v1/lipsync/analyses/" + a.ID, token: token}).into(t, &deleted)
		if now := s.readAnalysis(t, token, a.ID); deleted.Status != "completed" || now.Status != "completed" || now.Video != nil || now.Faces != nil {
			t.Errorf("got %+v, then %+v, want it deleted", deleted, now)
		}
	}()
	f := a.Faces[0]
	if f.First < 0 || f.Last > a.Video.Seconds+.001 || f.First >= f.Last || f.Share <= 0 || f.Share > 1 || len(f.Boxes) == 0 {
		t.Errorf("got %+v", f)
	}
	picture, err := base64.StdEncoding.DecodeString(f.Thumbnail)
	if _, decoded := jpeg.Decode(bytes.NewReader(picture)); err != nil || decoded != nil {
		t.Errorf("thumbnail: %v, %v", err, decoded)
	}
	body := fmt.Sprintf(`{"inputs":[{"type":"video","url":%q},{"type":"audio","url":%q}],"options":{"face":{"id":%q}}}`,
		url, sent("audio", s.Audio), f.ID)
	id := s.do(t, generateCall("application/json", body).with(token)).requestID(t)
	if r := s.final(t, token, id); r.Status != "completed" {
		t.Errorf("got %+v, want it completed", r)
	}
	if d := s.readDetails(t, token, id); !strings.HasPrefix(string(d.Options), fmt.Sprintf(`{"face":{"frame":%d,`, f.Boxes[0].Frame)) || d.Frames == nil || d.Frames.Synced == 0 {
		t.Errorf("got %+v, want the face of frame %d synced", d, f.Boxes[0].Frame)
	}
}
