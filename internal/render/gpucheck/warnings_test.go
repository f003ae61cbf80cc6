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
	log.Warn("the driver starts in fewer layers", "error", errors.New("ffmpeg: no GPU\nmore\n"))
	log.Warn("the CPU encodes video", "error", errors.New("ffmpeg: no encoder"))
	for text, want := range map[string]string{
		"fewer layers": "the driver starts in fewer layers: ffmpeg: no GPU", "encodes": "the CPU encodes video: ffmpeg: no encoder", "sandbox": "",
	} {
		if got := w.about(text); got != want {
			t.Errorf("about %s: got %q, want %q", text, got, want)
		}
	}
}
