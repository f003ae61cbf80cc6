package gpucheck

import (
	"errors"
	"log/slog"
	"testing"
)

// TestWarnings logs errors of several lines. The sentences have the first.
func TestWarnings(t *testing.T) {
	var w warnings
	log := slog.New(&w)
	log.Warn("the CPU decodes video", "error", errors.New("ffmpeg: no GPU\nmore\n"))
	log.Warn("the CPU encodes video", "error", errors.New("ffmpeg: no encoder"))
	for text, want := range map[string]string{
		"decodes": "the CPU decodes video: ffmpeg: no GPU", "encodes": "the CPU encodes video: ffmpeg: no encoder", "layers": "",
	} {
		if got := w.about(text); got != want {
			t.Errorf("about %s: got %q, want %q", text, got, want)
		}
	}
}
