package rest

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// TestModels lists engines before any request was completed, and after one was.
func TestModels(t *testing.T) {
	f := newFixture(t)
	token := f.key(t)
	list := func() string {
		w := f.call(httptest.NewRequest("GET", Base+"/v1/models", nil), token)
		if w.Code != 200 {
			t.Errorf("got status %d, %s", w.Code, w.Body)
		}
		return strings.TrimSpace(w.Body.String())
	}
	const needs = `"needs":"a network of the operator; it is fast on an NVIDIA GPU"`
	if got, want := list(), `{"data":[{"name":"warp","default":true},{"name":"wav2lip","default":false,`+needs+`}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A second of 1080p at 25 frames/s: 50 frames are analysed or painted.
	if err := f.service.NoteSpeed(t.Context(), lipsync.Request{Engine: "wav2lip"}, 50*1920*1080/1000, 1500*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), `{"data":[{"name":"warp","default":true},{"name":"wav2lip","default":false,`+needs+`,"seconds_per_minute":90}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
