package intake

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
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
	f := Files{Media: tools, Limits: DefaultLimits()}
	for _, s := range []Speech{{PCM: "/dev/full", Whole: os.DevNull}, {PCM: os.DevNull, Whole: "/dev/full"}} {
		s.Info = audio
		if _, err := f.decode(t.Context(), s, Track{}); failure.CodeOf(err) == failure.Invalid || !failure.DiskFull(err) {
			t.Errorf("%+v: got %v, want a full disk", s, err)
		}
	}
}

var errFull = errors.New("full")

// TestRoomOfSpeech takes space while speech is decoded that is longer than its file may state, and stops if there is none.
func TestRoomOfSpeech(t *testing.T) {
	for _, want := range []error{errFull, nil} {
		var asked int64
		r := &room{to: io.Discard, taken: roomStep, take: func(size int64) error {
			asked = size
			return want
		}}
		n, err := io.Copy(r, io.LimitReader(rand.Reader, 3*roomStep))
		if !errors.Is(err, want) || err != nil && n > roomStep || asked == 0 || err == nil && asked < n {
			t.Errorf("wrote %d bytes (%v) after asking for %d", n, err, asked)
		}
	}
}
