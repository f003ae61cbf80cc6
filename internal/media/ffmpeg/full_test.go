package ffmpeg

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
)

// TestUnwritten recognises ffmpeg's messages about a disk that is full or fails. The same words
// inside other messages, or messages about a damaged file, must not count.
func TestUnwritten(t *testing.T) {
	for said, want := range map[string]error{
		"[out#0/mp4 @ 0x1] Error writing trailer: No space left on device\nConversion failed!\n":                           syscall.ENOSPC,
		"av_interleaved_write_frame(): No space left on device":                                                            syscall.ENOSPC,
		"Error writing trailer of file:o.mp4: Input/output error\nError closing file file:o.mp4: Input/output error\n":     syscall.EIO,
		"Could not write header for output file #0 (incorrect codec parameters ?): Input/output error\nError initializing": syscall.EIO,
		"[out#0/mp4 @ 0x55d0] Error closing file: Input/output error":                                                      syscall.EIO,
		"Error closing file file:o.mp4: Disk quota exceeded":                                                               syscall.EDQUOT,
		"title: No space left on device, they said\n":                                                                      nil,
		"file:in.avi: Input/output error\n":                                                                                nil,
		"[avi @ 0x1] title: Error closing file: Input/output error\n":                                                      nil,
		"": nil,
	} {
		var words tail
		_, _ = words.Write([]byte(said))
		if got := words.unwritten(); !errors.Is(got, want) || got != nil && want == nil {
			t.Errorf("%q: got %v, want %v", said, got, want)
		}
	}
}

// TestUnwrittenEnd lets ffmpeg exit with status 0 although it could not write the end of its
// output, as version 5.1 does. There must be no output.
func TestUnwrittenEnd(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "ffmpeg")
	script := "#!/bin/sh\necho 'Error writing trailer of file:o.mp4: Input/output error' >&2\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	tools := &Tools{FFmpeg: program, Threads: 1}
	output := filepath.Join(dir, "o.mp4")
	e, err := tools.Encode(t.Context(), &medium.Video{Width: 64, Height: 64, Rate: medium.Rate{Num: 25, Den: 1}}, order.Output{}, "", output)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Finish(); !errors.Is(err, syscall.EIO) {
		t.Errorf("video: got %v, want EIO", err)
	}
	if _, err := os.Stat(output); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the output exists: %v", err)
	}
	in := &medium.Info{Path: "/dev/null", Format: "wav", Audio: &medium.Audio{}}
	if err := tools.Mix(t.Context(), Mix{Voice: in, Length: time.Second}, "", filepath.Join(dir, "mix.wav")); !errors.Is(err, syscall.EIO) {
		t.Errorf("sound: got %v, want EIO", err)
	}
}
