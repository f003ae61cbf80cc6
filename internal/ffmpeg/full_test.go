package ffmpeg

import (
	"errors"
	"syscall"
	"testing"
)

// TestFullDisk tells the words of ffmpeg on a full disk from the same words inside
// others.
func TestFullDisk(t *testing.T) {
	for said, want := range map[string]bool{
		"[out#0/mp4 @ 0x1] Error writing trailer: No space left on device\nConversion failed!\n": true,
		"av_interleaved_write_frame(): No space left on device":                                  true,
		"title: No space left on device, they said\n":                                            false,
		"": false,
	} {
		words := tail{[]byte(said)}
		if got := errors.Is(words.because(errors.New("exit status 1")), syscall.ENOSPC); got != want {
			t.Errorf("%q: got a full disk: %t, want %t", said, got, want)
		}
	}
}
