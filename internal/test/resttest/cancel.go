package resttest

import (
	"crypto/rand"
	"net/http"
	"testing"
)

// canceled is the error_message of a request that a client canceled.
const canceled = "canceled by the client"

func cancelCall(token, id string) call {
	return call{method: http.MethodDelete, path: requestPath(id), token: token}
}

// tries is the number of requests that the suite makes to cancel one of them while it is open. A
// worker may fail a request before, since it soon finds that the video does not exist.
const tries = 20

// doomed makes a request with a reference_id, and cancels it by that.
func (s *suite) doomed(t *testing.T, token, name string) request {
	t.Helper()
	for range tries {
		id := s.start(t, token, reference(name))
		got := s.do(t, cancelCall(token, name))
		if got.status == http.StatusConflict {
			continue // it has failed already
		}
		var r request
		got.into(t, &r)
		if checkState(t, r); r.ID != id || r.Status != "failed" || r.ErrorMessage != canceled {
			t.Errorf("got %+v, want %s canceled", r, id)
		}
		return r
	}
	t.Fatalf("%d requests were finished before they could be canceled", tries)
	return request{}
}

func (s *suite) cancel(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		s.notFound(t, cancelCall, s.key(t), "x", "00000000-0000-4000-8000-000000000000", "..", "a/b", "\x00")
	})
	t.Run("by reference", func(t *testing.T) {
		token := s.key(t)
		older := s.start(t, token, reference("a/progress"))
		newer := s.doomed(t, token, "a/progress")
		if r := s.read(t, token, older); r.ErrorMessage == canceled || newer.ID == older {
			t.Errorf("got %+v, want the newest canceled alone", r)
		}
	})
	t.Run("twice", func(t *testing.T) {
		token := s.key(t)
		r := s.doomed(t, token, rand.Text())
		var again request
		s.do(t, cancelCall(token, r.ID)).into(t, &again)
		if now := s.read(t, token, r.ID); again != r || now != r {
			t.Errorf("canceled %+v, again %+v, then read %+v: want the same", r, again, now)
		}
		if p := s.page(t, token, "?reference_id="+r.ReferenceID); p.Data[0] != r {
			t.Errorf("listed as %+v, want %+v", p.Data[0], r)
		}
	})
	t.Run("other account", func(t *testing.T) {
		token := s.key(t)
		id := s.start(t, token, reference("mine"))
		s.notFound(t, cancelCall, s.key(t), id, "mine")
		if r := s.read(t, token, id); r.ErrorMessage == canceled {
			t.Errorf("another account canceled %+v", r)
		}
	})
	t.Run("token limit", func(t *testing.T) {
		token := s.keyOf(t, rand.Text(), 1)
		s.do(t, cancelCall(token, s.start(t, token)))
		s.postJSON(t, token, "/v1/lipsync/generate", good()).refused(t, http.StatusPreconditionFailed, "token limit reached")
	})
}
