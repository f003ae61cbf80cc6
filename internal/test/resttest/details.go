package resttest

import (
	"crypto/rand"
	"encoding/json"
	"math"
	"net/http"
	"testing"
	"time"
)

// details is the answer with further data of a request.
type details struct {
	ID              string          `json:"id"`
	Status          string          `json:"status"`
	FailureCode     string          `json:"failure_code"`
	Reason          string          `json:"reason"`
	Attempts        int             `json:"attempts"`
	Engine          string          `json:"engine"`
	VideoSeconds    float64         `json:"video_seconds"`
	AudioSeconds    float64         `json:"audio_seconds"`
	OutputSeconds   float64         `json:"output_seconds"`
	OutputExpiresAt string          `json:"output_expires_at"`
	MediaDeletedAt  string          `json:"media_deleted_at"`
	Options         json.RawMessage `json:"options"` // only what isn't the default, as in Output
	Output          json.RawMessage `json:"output"`
	Segments        json.RawMessage `json:"segments"`
	Frames          *struct {
		Total  int `json:"total"`
		Synced int `json:"synced"`
		Kept   int `json:"kept"`
	} `json:"frames"`
	Warnings []string `json:"warnings"`
	Sync     *struct {
		Text         string   `json:"text"`
		Score        *float64 `json:"score"`
		Closures     *sounds  `json:"closures"`
		Vowels       *sounds  `json:"vowels"`
		SpokenFrames *struct {
			Total  int `json:"total"`
			Synced int `json:"synced"`
		} `json:"spoken_frames"`
		Confidence *float64 `json:"confidence"`
		Offset     *int     `json:"offset_frames"`
	} `json:"sync"`
}

type sounds struct {
	Heard    int       `json:"heard"`
	Shown    int       `json:"shown"`
	MissedAt []float64 `json:"missed_at"`
}

func detailsCall(token, id string) call {
	return call{method: http.MethodGet, path: requestPath(id) + "/details", token: token}
}

func (s *suite) readDetails(t *testing.T, token, id string) (d details) {
	t.Helper()
	s.do(t, detailsCall(token, id)).into(t, &d)
	if (d.FailureCode != "") != (d.Status == "failed") || d.Attempts < 0 || d.Engine == "" {
		t.Errorf("got details %+v", d)
	}
	return d
}

func (s *suite) details(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		s.notFound(t, detailsCall, s.key(t), "x", "00000000-0000-4000-8000-000000000000", "..", "a/b", "details")
	})
	t.Run("names", func(t *testing.T) {
		token := s.key(t)
		for _, name := range []string{"a/b", "details", "{id}"} {
			id := s.start(t, token, reference(name))
			for _, name := range []string{id, name} {
				if got := s.readDetails(t, token, name); got.ID != id || got.OutputExpiresAt != "" || got.MediaDeletedAt != "" {
					t.Errorf("%s: got %+v, want those of %s, with no output", name, got, id)
				}
			}
		}
	})
	t.Run("other account", func(t *testing.T) {
		id := s.start(t, s.key(t), reference("mine"))
		s.notFound(t, detailsCall, s.key(t), id, "mine")
	})
	t.Run("canceled", func(t *testing.T) {
		token := s.key(t)
		if got := s.readDetails(t, token, s.doomed(t, token, rand.Text()).ID); got.FailureCode != "canceled" {
			t.Errorf("got %+v, want it canceled", got)
		}
	})
}

// isCompleted reads the details of a request that completed, also by its reference id.
func (s *suite) isCompleted(t *testing.T, token string, r request) {
	t.Helper()
	d := s.readDetails(t, token, r.ID)
	if d.Attempts != 1 || d.VideoSeconds <= 0 || d.AudioSeconds <= 0 || math.Abs(d.OutputSeconds-d.AudioSeconds) > .1 || d.MediaDeletedAt != "" {
		t.Errorf("got %+v, want one attempt, and an output as long as the audio", d)
	}
	d.wantFrames(t)
	finished, err := time.Parse(time.RFC3339, r.FinishedAt)
	if err != nil {
		t.Fatal(err)
	}
	expires, err := time.Parse(time.RFC3339, d.OutputExpiresAt)
	if err != nil || expires.Sub(finished) != s.KeepOutputs {
		t.Errorf("got output_expires_at %q (%v), want %v after %v", d.OutputExpiresAt, err, s.KeepOutputs, finished)
	}
}
