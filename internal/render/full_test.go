package render

import (
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/test/ffmpegtest"
)

// TestFullDisk finds no space for the speech track: the audio is not at fault.
func TestFullDisk(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	audio, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "sine=d=1"))
	if err != nil {
		t.Fatal(err)
	}
	w := work{Renderer: &Renderer{Media: tools, Limits: DefaultLimits()}}
	if _, err := w.decodeSpeech(t.Context(), soundtrack{info: audio, pcm: "/dev/full"}, 0); failure.CodeOf(err) == failure.Invalid || !failure.DiskFull(err) {
		t.Errorf("got %v, want a full disk", err)
	}
}
