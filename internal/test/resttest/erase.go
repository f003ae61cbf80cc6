package resttest

import (
	"crypto/rand"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

func eraseCall(token, id string) call {
	return call{method: http.MethodDelete, path: requestPath(id) + "/record", token: token}
}

func eraseAllCall(token string) call {
	return call{method: http.MethodDelete, path: "/v1/lipsync/records", token: token}
}

// erased is the answer to a call that erases.
type erased struct {
	Erased int
	More   bool
}

// erase erases a request, a line of a batch that isn't finished, and all of an account.
func (s *suite) erase(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		s.notFound(t, eraseCall, s.key(t), "x", "00000000-0000-4000-8000-000000000000", "..", "a/b", "record")
	})
	t.Run("other account", func(t *testing.T) {
		r := s.doomed(t, s.key(t), "mine")
		s.notFound(t, eraseCall, s.key(t), r.ID, "mine")
	})
	t.Run("one", func(t *testing.T) {
		token := s.key(t)
		kept, r := s.doomed(t, token, "kept"), s.doomed(t, token, "a/record")
		for _, other := range s.page(t, token, "").Data { // requests that had failed before they could be canceled
			if other.ID != kept.ID && other.ID != r.ID {
				s.do(t, eraseCall(token, other.ID))
			}
		}
		var got erased
		s.do(t, eraseCall(token, "a/record")).into(t, &got)
		if want := (erased{1, false}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		s.get(t, token, requestPath(r.ID)).refused(t, http.StatusNotFound, "lipsync request not found")
		s.notFound(t, eraseCall, token, r.ID, "a/record")
		for _, query := range []string{"", "?status=canceled", "?reference_id=kept"} {
			if p := s.page(t, token, query); len(p.Data) != 1 || p.Data[0] != kept {
				t.Errorf("%q: listed %+v, want %+v", query, p.Data, kept)
			}
		}
	})
	t.Run("account at once", func(t *testing.T) {
		token := s.key(t)
		for n := range 5 {
			s.doomed(t, token, strconv.Itoa(n))
		}
		n := len(s.page(t, token, "").Data)
		var all sync.WaitGroup
		var sum atomic.Int64
		for range 3 {
			all.Go(func() {
				for got := (erased{More: true}); got.More && !t.Failed(); sum.Add(int64(got.Erased)) {
					s.do(t, eraseAllCall(token)).into(t, &got)
				}
			})
		}
		all.Wait()
		if left := s.page(t, token, "").Data; int(sum.Load()) < n || len(left) > 0 {
			t.Errorf("%d of %d were erased, and %+v are left", sum.Load(), n, left)
		}
	})
	t.Run("account", func(t *testing.T) {
		account := rand.Text()
		token := s.keyOf(t, account, 0)
		s.doomed(t, token, "mine")
		other := s.doomed(t, s.key(t), "mine")
		b := s.newBatch(t, token, batchCall("application/json", "", variantsBody(`{"audio":"https://example.com/1.wav"}`)))
		line := b.Lines[0].RequestID
		s.do(t, cancelCall(token, line))
		for _, refused := range []call{eraseCall(token, line), eraseAllCall(token)} {
			if got := s.do(t, refused); got.status != http.StatusOK && got.status != http.StatusConflict { // unless a sweep has finished the batch
				t.Errorf("%s: got %d %s, want 409", refused.path, got.status, got.body)
			}
		}
		for _, r := range s.page(t, token, "").Data {
			if r.ID != line {
				t.Errorf("%+v is left", r)
			}
		}
		s.notFound(t, deleteCall, token, other.ID)
	})
}
