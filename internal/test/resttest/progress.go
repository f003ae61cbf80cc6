package resttest

import (
	"crypto/rand"
	"net/http"
	"slices"
	"testing"
)

// progress is the answer about the progress of a request.
type progress struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Percent     *int   `json:"percent"`
	Stage       string `json:"stage"`
	SecondsLeft *int   `json:"seconds_left"`
	Position    *int   `json:"queue_position"`
	ETA         *int   `json:"eta_seconds"`
	Reason      string `json:"reason"`
}

func progressCall(token, id string) call {
	return call{method: http.MethodGet, path: requestPath(id) + "/progress", token: token}
}

func (s *suite) readProgress(t *testing.T, token, id string) (p progress) {
	t.Helper()
	s.do(t, progressCall(token, id)).into(t, &p)
	checkProgress(t, p)
	return p
}

// checkProgress checks that the fields fit the status.
func checkProgress(t *testing.T, p progress) {
	t.Helper()
	percent := -1
	if p.Percent != nil {
		percent = *p.Percent
	}
	bounds := map[string][2]int{"queued": {0, 0}, "processing": {0, 99}, "completed": {100, 100}, "failed": {-1, -1}}[p.Status]
	if percent < bounds[0] || percent > bounds[1] {
		t.Errorf("%s: got %d percent (-1 is none), want %d to %d", p.Status, percent, bounds[0], bounds[1])
	}
	if !slices.Contains([]string{"", "fetching", "analyzing", "rendering", "storing"}, p.Stage) {
		t.Errorf("got stage %q", p.Stage)
	}
	if p.Status != "processing" && (p.Stage != "" || p.SecondsLeft != nil) || p.SecondsLeft != nil && *p.SecondsLeft < 1 {
		t.Errorf("%s: got stage %q and seconds_left %v", p.Status, p.Stage, p.SecondsLeft)
	}
	if p.Reason != "" && (p.Status == "processing" || p.Status == "completed") {
		t.Errorf("%s: got the reason %q", p.Status, p.Reason)
	}
	waits := p.Status == "queued" || p.Status == "processing" && p.Stage == "" // its worker may have died
	if p.Position != nil && (!waits || *p.Position < 1) || p.ETA != nil && (p.Position == nil || *p.ETA < 1) || p.Status == "queued" && p.Position == nil {
		t.Errorf("%s: got queue_position %v and eta_seconds %v", p.Status, p.Position, p.ETA)
	}
}

func (s *suite) progress(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		s.notFound(t, progressCall, s.key(t), "x", "00000000-0000-4000-8000-000000000000", "..", "a/b", "progress")
	})
	t.Run("names", func(t *testing.T) {
		token := s.key(t)
		for _, name := range []string{"a/b", "progress", "a/progress", "{id}"} {
			id := s.start(t, token, reference(name))
			for _, name := range []string{id, name} {
				if got := s.readProgress(t, token, name).ID; got != id {
					t.Errorf("%s: got the progress of %s, want %s", name, got, id)
				}
			}
			if got := s.read(t, token, name).ID; got != id {
				t.Errorf("%s: got request %s, want %s", name, got, id)
			}
		}
	})
	t.Run("other account", func(t *testing.T) {
		id := s.start(t, s.key(t), reference("mine"))
		s.notFound(t, progressCall, s.key(t), id, "mine")
	})
	t.Run("canceled", func(t *testing.T) {
		token := s.key(t)
		if got := s.readProgress(t, token, s.doomed(t, token, rand.Text()).ID); got.Status != "failed" {
			t.Errorf("got %+v, want it failed", got)
		}
	})
}
