// Package batchtest has what tests of batches in all deployments need: a server of the batch's media, which also takes its event.
package batchtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Host serves one video and the speech of each line, and takes events.
type Host struct {
	*httptest.Server
	video, speech string // paths

	mutex  sync.Mutex
	events map[string]string // bodies by webhook-id
	held   chan struct{}     // closed when a worker fetches a speech that Hold holds back; nil if none is held back
}

// NewHost starts a host, which ends with the test.
func NewHost(t *testing.T, video, speech string) *Host {
	h := &Host{video: video, speech: speech, events: map[string]string{}}
	h.Server = httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *Host) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if err == nil {
			h.mutex.Lock()
			h.events[r.Header.Get("webhook-id")] = string(body)
			h.mutex.Unlock()
		}
	case strings.HasPrefix(r.URL.Path, "/video"):
		http.ServeFile(w, r, h.video)
	default:
		h.mutex.Lock()
		held := h.held
		h.held = nil
		h.mutex.Unlock()
		if held != nil {
			close(held)
			<-r.Context().Done()
			return
		}
		http.ServeFile(w, r, h.speech)
	}
}

// Hold holds back the next speech that a worker fetches until the worker is gone. The channel is closed when the worker fetches it.
func (h *Host) Hold() <-chan struct{} {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.held = make(chan struct{})
	return h.held
}

// Body returns the body of a call that makes a batch of n lines of the host's media.
func (h *Host) Body(n int) string {
	type variant struct {
		Audio string `json:"audio"`
	}
	variants := make([]variant, n)
	for i := range variants {
		variants[i].Audio = fmt.Sprintf("%s/%d.wav", h.URL, i)
	}
	body, err := json.Marshal(map[string]any{"video": h.URL + "/video.mp4", "variants": variants})
	if err != nil {
		panic(err) // these values can't fail
	}
	return string(body)
}

// Got reports whether the event with the id has come.
func (h *Host) Got(id string) bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	_, got := h.events[id]
	return got
}

// WantEvent waits for an event, and checks that there is only one, of the batch with the id, and that it counts n completed lines.
func (h *Host) WantEvent(t *testing.T, id string, n int) {
	t.Helper()
	var events []string
	for deadline := time.Now().Add(3 * time.Minute); len(events) == 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		h.mutex.Lock()
		for _, body := range h.events {
			events = append(events, body)
		}
		h.mutex.Unlock()
	}
	var event struct {
		Type string
		Data struct {
			ID     string
			Counts struct{ Completed int }
		}
	}
	if len(events) != 1 || json.Unmarshal([]byte(events[0]), &event) != nil || event.Type != "batch.completed" || event.Data.ID != id || event.Data.Counts.Completed != n {
		t.Errorf("got the events %q, want one of the batch %s with %d completed lines", events, id, n)
	}
}
