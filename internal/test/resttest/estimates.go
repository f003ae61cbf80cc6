package resttest

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// estimate is an estimate as the API answers it.
type estimate struct {
	ID           string `json:"id"`
	Status       string `json:"status"`
	ErrorMessage string `json:"error_message"`
	CreatedAt    string `json:"created_at"`
	StartedAt    string `json:"started_at"`
	FinishedAt   string `json:"finished_at"`
	Problems     []struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"problems"`
	VideoSeconds     float64 `json:"video_seconds"`
	AudioSeconds     float64 `json:"audio_seconds"`
	OutputSeconds    float64 `json:"output_seconds"`
	Frames           int     `json:"frames"`
	EstimatedSeconds int     `json:"estimated_seconds"`
	Position         int     `json:"queue_position"`
	ETA              int     `json:"eta_seconds"`
}

func estimateCall(body string) call {
	c := generateCall("application/json", body)
	c.path = "/v1/lipsync/estimate"
	return c
}

func (s *suite) readEstimate(t *testing.T, token, id string) (e estimate) {
	t.Helper()
	s.get(t, token, "/v1/lipsync/estimates/"+id).into(t, &e)
	return e
}

// estimates checks the calls for estimates, except for their results.
func (s *suite) estimates(t *testing.T) {
	token, other := s.keyOf(t, "estimates of "+s.name, 1), s.key(t) // the key may make one request
	var made estimate
	for range 2 {
		s.do(t, estimateCall(good(reference("estimated"))).with(token)).into(t, &made)
	}
	if made.ID == "" || made.Status != "queued" {
		t.Errorf("got %+v, want it queued", made)
	}
	if got := s.readEstimate(t, token, made.ID); got.ID != made.ID || got.CreatedAt == "" || got.Status != "completed" && got.Problems != nil {
		t.Errorf("got %+v, want %+v", got, made)
	}
	path := "/v1/lipsync/estimates/" + made.ID
	s.get(t, other, path).refused(t, http.StatusNotFound, "estimate not found")
	for _, id := range []string{"x", "00000000-0000-4000-8000-000000000000", s.do(t, generateCall("application/json", good()).with(token)).requestID(t)} {
		s.get(t, token, "/v1/lipsync/estimates/"+id).refused(t, http.StatusNotFound, "estimate not found")
	}
	for _, id := range []string{made.ID, "estimated"} {
		s.get(t, token, requestPath(id)).refused(t, http.StatusNotFound, "lipsync request not found")
	}
	s.get(t, token, "/v1/lipsync/analyses/"+made.ID).refused(t, http.StatusNotFound, "analysis not found")
	s.table(t, []row{
		{"nothing", estimateCall(`{}`), 400, "expected exactly one video input"},
		{"no object", estimateCall(`[]`), 400, "invalid request body"},
		{"no upload", estimateCall(inputs([]string{"video upload://00000000-0000-4000-8000-000000000000", "audio " + audioURL})), 400, "video upload does not exist"},
		{"option", estimateCall(good(`"options":{"sync_mode":"x"}`)), 400, "sync_mode must be one of: bounce, loop, cut_off, silence, remap"},
		{"too large", estimateCall(good(reference(strings.Repeat("x", 1<<20)))), 413, "request body is larger than 1 MiB"},
	})
}

// isEstimated checks the results of estimates, and compares one with what happens.
func (s *suite) isEstimated(t *testing.T, token string) {
	t.Helper()
	sent := func(kind string, content []byte) (url string) {
		u := s.announce(t, token, kind, len(content))
		if got := s.put(t, u, string(content)); got.status != http.StatusOK {
			t.Fatalf("got %d %s from the upload", got.status, got.body)
		}
		return kind + " " + u.URL
	}
	video, audio := sent("video", s.Video), sent("audio", s.Audio)
	wanted := []struct {
		body     string
		problems string
	}{
		{inputs([]string{video, audio}), ""},
		{inputs([]string{sent("video", []byte("no video")), sent("audio", []byte("no audio"))}), "video is not a supported format\naudio is not a supported format\n"},
		{inputs([]string{video, audio}, `"output":{"width":4000}`), "output is wider than the video"},
		{inputs([]string{"video http://nothing.invalid/v.mp4", audio}), "video URL is not accessible\n"},
	}
	made := make([]estimate, len(wanted)) // at once, so that they wait together
	for i, c := range wanted {
		s.do(t, estimateCall(c.body).with(token)).into(t, &made[i])
	}
	for i, c := range wanted {
		got := made[i]
		for deadline := time.Now().Add(patience); time.Now().Before(deadline) && got.FinishedAt == ""; time.Sleep(time.Second) {
			got = s.readEstimate(t, token, got.ID)
		}
		problems := ""
		for _, p := range got.Problems {
			problems += p.Message + "\n"
		}
		if got.Status != "completed" || got.Problems == nil || !strings.HasPrefix(problems, c.problems) || (problems == "") != (c.problems == "") {
			t.Errorf("%s: got %+v, want it completed with the problems %q", c.body, got, c.problems)
		}
		if problems != "" {
			continue
		}
		id := s.do(t, generateCall("application/json", c.body).with(token)).requestID(t)
		s.final(t, token, id)
		d := s.readDetails(t, token, id)
		if d.Frames == nil || got.Frames != d.Frames.Total || got.OutputSeconds != d.OutputSeconds || got.AudioSeconds != d.AudioSeconds || got.VideoSeconds != d.VideoSeconds {
			t.Errorf("got the estimate %+v and the details %+v", got, d)
		}
		if got.EstimatedSeconds < 1 || got.ETA < got.EstimatedSeconds || got.Position < 1 {
			t.Errorf("got the estimate %+v, want times: others were finished before", got)
		}
	}
}
