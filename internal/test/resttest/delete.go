package resttest

import (
	"crypto/rand"
	"net/http"
	"reflect"
	"testing"
)

func deleteCall(token, id string) call {
	return call{method: http.MethodDelete, path: requestPath(id) + "/media", token: token}
}

const (
	unfinished = "lipsync request is not finished; cancel it first, or wait for its end"
	shared     = "another lipsync request that is not finished uses the same upload; cancel it first, or wait for its end"
)

// deleteMedia deletes the media of requests that failed. isDeleted does that for a request that
// completed.
func (s *suite) deleteMedia(t *testing.T) {
	t.Run("unknown", func(t *testing.T) {
		s.notFound(t, deleteCall, s.key(t), "x", "00000000-0000-4000-8000-000000000000", "..", "a/b", "media")
	})
	t.Run("other account", func(t *testing.T) {
		token := s.key(t)
		r := s.doomed(t, token, "mine")
		s.notFound(t, deleteCall, s.key(t), r.ID, "mine")
	})
	t.Run("not finished", func(t *testing.T) {
		token := s.key(t)
		for range tries {
			got := s.do(t, deleteCall(token, s.start(t, token)))
			if got.status != http.StatusOK { // otherwise it has failed already
				got.refused(t, http.StatusConflict, unfinished)
				return
			}
		}
		t.Errorf("%d requests were finished before their media could be deleted", tries)
	})
	t.Run("by reference", func(t *testing.T) {
		token := s.key(t)
		r := s.doomed(t, token, "a/media")
		for range 2 {
			var got request
			s.do(t, deleteCall(token, "a/media")).into(t, &got)
			if now := s.read(t, token, r.ID); got != r || now != r {
				t.Errorf("it was %+v, got %+v, then read %+v: want the same", r, got, now)
			}
		}
	})
	t.Run("uploads", s.deleteUploads)
}

// deleteUploads deletes the media of the first of two requests that use the same upload.
func (s *suite) deleteUploads(t *testing.T) {
	token := s.key(t)
	content := "no video"
	u := s.announce(t, token, "video", len(content))
	if got := s.put(t, u, content); got.status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", got.status, got.body)
	}
	body := inputs([]string{"video " + u.URL, "audio https://example.com/a.wav"})
	header := http.Header{"Idempotency-Key": {rand.Text()}}
	generate := call{method: http.MethodPost, path: "/v1/lipsync/generate", token: token, contentType: "application/json", body: body, header: header}
	first := s.do(t, generate).requestID(t)
	s.do(t, cancelCall(token, first))
	second := s.postJSON(t, token, "/v1/lipsync/generate", body).requestID(t)
	got := s.do(t, deleteCall(token, first))
	s.do(t, cancelCall(token, second))
	if got.status != http.StatusOK { // otherwise the second has failed already
		got.refused(t, http.StatusConflict, shared)
		got = s.do(t, deleteCall(token, first))
	}
	if got.status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", got.status, got.body)
	}
	s.postJSON(t, token, "/v1/lipsync/generate", body).refused(t, http.StatusBadRequest, "video upload does not exist")
	if again := s.do(t, generate).requestID(t); again != first {
		t.Errorf("the idempotency key made %s, and now answers with %s", first, again)
	}
}

// isDeleted deletes the media of a request that completed.
func (s *suite) isDeleted(t *testing.T, token string, r request) {
	t.Helper()
	link := r.OutputURL
	r.OutputURL = ""
	before := s.readDetails(t, token, r.ID)
	before.OutputExpiresAt = ""
	for range 2 {
		var got request
		s.do(t, deleteCall(token, r.ID)).into(t, &got)
		d := s.readDetails(t, token, r.ID)
		if before.MediaDeletedAt == "" {
			before.MediaDeletedAt = d.MediaDeletedAt
		}
		if !reflect.DeepEqual(d, before) || d.MediaDeletedAt == "" {
			t.Errorf("got details %+v, want %+v and a time", d, before)
		}
		if now := s.read(t, token, r.ID); got != r || now != r {
			t.Errorf("it was %+v, got %+v, then read %+v: want the same with no output", r, got, now)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.send(t, req); got.status != http.StatusNotFound {
		t.Errorf("got %d from the output's URL, want 404", got.status)
	}
	for _, listed := range s.page(t, token, "").Data {
		if listed.ID == r.ID && listed != r {
			t.Errorf("listed as %+v, want %+v", listed, r)
		}
	}
}
