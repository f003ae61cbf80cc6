package resttest

import (
	"bytes"
	"math"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is the time that a small job may take.
const patience = 5 * time.Minute

// results checks that a request ends: as completed with an output, or as failed with a message.
func (s *suite) results(t *testing.T) {
	if s.Video == nil || s.Audio == nil {
		t.Skip("no worker runs: nothing completes")
	}
	token := s.key(t)
	form := formOf(t, part{"video", "v.mp4", string(s.Video)}, part{"audio", "a.wav", string(s.Audio)})
	good := s.do(t, form.with(token)).requestID(t)
	bad := s.postJSON(t, token, "/v1/lipsync/generate", inputs([]string{
		"video http://nothing.invalid/v.mp4", "audio http://nothing.invalid/a.wav",
	})).requestID(t)
	cut := s.do(t, formOf(t, part{"video", "v.mp4", string(s.Video)}, part{"audio", "a.wav", string(s.Long)},
		part{"options", "", `{"sync_mode":"cut_off"}`}).with(token)).requestID(t)
	other := s.do(t, formOf(t, part{"video", "v.mp4", string(s.Video)}, part{"audio", "a.wav", string(s.Audio)},
		part{"output", "", `{"format":"webm","fps":10,"width":240,"file_name":"talk.mp4"}`}).with(token)).requestID(t)
	dubbed := s.do(t, formOf(t, part{"video", "v.mp4", string(s.Video)}, part{"audio[ana]", "a.wav", string(s.Audio)}, part{"audio", "b.wav", string(s.Long)},
		part{"segments", "", `[{"start":0,"end":0.2,"audio":{"ref":"ana"}},{"start":0.2,"end":0.4,"audio":{"start":0.1,"end":0.3}}]`}).with(token)).requestID(t)
	junk := s.do(t, formOf(t, video(), audio()).with(token)).requestID(t)

	t.Run("completed", func(t *testing.T) {
		r := s.final(t, token, good)
		if r.Status != "completed" {
			t.Fatalf("got %+v, want it completed", r)
		}
		s.wantOutput(t, r.OutputURL, "video/mp4", ".mp4", "ftyp")
		s.isFinal(t, token, r)
		s.isCompleted(t, token, r)
		s.isDeleted(t, token, r)
	})
	t.Run("estimated", func(t *testing.T) { s.isEstimated(t, token) })
	t.Run("analyzed", func(t *testing.T) { s.isAnalyzed(t, token) })
	t.Run("WebM", func(t *testing.T) {
		r := s.final(t, token, other)
		if r.Status != "completed" {
			t.Fatalf("got %+v, want it completed", r)
		}
		s.wantOutput(t, r.OutputURL, "video/webm", "talk.webm", "webm")
		d := s.readDetails(t, token, other)
		if frames := int(math.Ceil(10*d.AudioSeconds - 1e-3)); d.Frames == nil || d.Frames.Total != frames || d.AudioSeconds <= 0 {
			t.Errorf("got %+v, want %d frames", d, frames)
		}
	})
	t.Run("cut off", func(t *testing.T) { s.isCutOff(t, token, cut) })
	t.Run("looks", func(t *testing.T) { s.looks(t, "") })
	t.Run("segments", func(t *testing.T) { s.isDubbed(t, token, dubbed) })
	for id, want := range map[string]string{bad: "video URL is not accessible", junk: "video is not a supported format"} {
		t.Run(want, func(t *testing.T) {
			codes := map[string][]string{bad: {"media_not_accessible", "media_host_missing"}, junk: {"media_unsupported"}}[id]
			r := s.final(t, token, id)
			if r.Status != "failed" || r.ErrorMessage != want {
				t.Errorf("got %s with %q, want failed with %q", r.Status, r.ErrorMessage, want)
			}
			if d := s.readDetails(t, token, id); !slices.Contains(codes, d.FailureCode) {
				t.Errorf("got details %+v, want one of the codes %s", d, codes)
			}
			s.isFinal(t, token, r)
		})
	}
}

// isFinal checks that a finished request can't be canceled, and that its progress has its status.
func (s *suite) isFinal(t *testing.T, token string, r request) {
	t.Helper()
	s.do(t, cancelCall(token, r.ID)).refused(t, http.StatusConflict, "lipsync request is already finished")
	if p := s.readProgress(t, token, r.ID); p.Status != r.Status || p.ID != r.ID {
		t.Errorf("got progress %+v of a request that is %s", p, r.Status)
	}
	if now := s.read(t, token, r.ID); now.Status != r.Status || now.FinishedAt != r.FinishedAt || now.ErrorMessage != r.ErrorMessage {
		t.Errorf("it was %+v, and is %+v", r, now)
	}
}

// final waits until the request is final. It reads as often as the service asks, so that a long wait doesn't use up
// the rate of the key.
func (s *suite) final(t *testing.T, token, id string) request {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		got := s.get(t, token, requestPath(id))
		var r request
		got.into(t, &r)
		checkState(t, r)
		s.readProgress(t, token, id)
		if r.Status == "completed" || r.Status == "failed" {
			return r
		}
		pause, err := strconv.Atoi(got.header.Get("Retry-After"))
		if err != nil {
			t.Fatalf("request %s is %s without a Retry-After: %v", id, r.Status, err)
		}
		time.Sleep(time.Duration(pause) * time.Second)
	}
	t.Fatalf("request %s is not final after %v", id, patience)
	return request{}
}

// wantOutput checks that the link serves a file without a key: of a media type, with a name that has an
// end, and with a text in its first bytes.
func (s *suite) wantOutput(t *testing.T, link, kind, end, begin string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := s.send(t, req)
	if got.status != http.StatusOK || !bytes.Contains(got.body[:min(64, len(got.body))], []byte(begin)) {
		t.Errorf("got %d and %d bytes from the output's URL, want them to begin with %q", got.status, len(got.body), begin)
	}
	_, disposition, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
	if err != nil || !strings.HasSuffix(disposition["filename"], end) || got.header.Get("Content-Type") != kind {
		t.Errorf("got %s with the name %q (%v), want %s with %q", got.header.Get("Content-Type"), disposition["filename"], err, kind, end)
	}
}
