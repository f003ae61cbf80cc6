package medium

import (
	"strings"
	"testing"
)

// logOfDecoder is what ffmpeg writes, with the level of each line.
const logOfDecoder = `[info] Input #0, matroska,webm, from 'file:/j.mkv':
[info]   Metadata:
[info]     title           : a
[info]                     : [error] No space left on device
[mov,mp4 @ 0x55d478cdb541] [h264 @ 0x55d478cdb542] [error] error while decoding MB 1 2
[warning] Guessed layout
[Parsed_showinfo_1 @ 0x7ff3b0002040] [info] n:   0 pts:      0 pts_time:0       fmt:yuv420p sar:1/1 s:64x64 i:P iskey:1 type:I 
[Parsed_showinfo_1 @ 0x7ff3b0002040] [info] color_range:tv color_space:bt709 color_primaries:bt709 color_trc:bt709
[Parsed_fps_2 @ 0x7ff3b0002041] [info] color_range:tv color_space:bt709 color_primaries:bt2020 color_trc:arib-std-b67
[fatal] Error writing trailer of pipe:1:
 No space left on device
`

// TestWatch reads a log in parts. The errors are passed on as they are without levels.
func TestWatch(t *testing.T) {
	const want = `[mov,mp4 @ 0x55d478cdb541] [h264 @ 0x55d478cdb542] error while decoding MB 1 2
Error writing trailer of pipe:1:
 No space left on device
`
	for n := 1; n < len(logOfDecoder); n += 37 {
		var errors strings.Builder
		w := NewWatch(&Video{transfer: "bt709"}, &errors)
		_, _ = w.Write([]byte("error while loading shared libraries\n"))
		for rest := logOfDecoder; rest != ""; {
			part := min(n, len(rest))
			if got, err := w.Write([]byte(rest[:part])); got != part || err != nil {
				t.Fatalf("wrote %d of %d bytes, %v", got, part, err)
			}
			rest = rest[part:]
		}
		if got := errors.String(); got != "error while loading shared libraries\n"+want || w.Err() != nil {
			t.Errorf("in parts of %d bytes: got %q (%v), want %q", n, got, w.Err(), want)
		}
	}
}

// FuzzWatch reads any log. It is passed on once at most, and bounded.
func FuzzWatch(f *testing.F) {
	f.Add(logOfDecoder)
	f.Add("[Parsed_showinfo_1 @ 0x7] [info] color_primaries:bt2020 color_trc:smpte2084\n")
	f.Add("[a @ 0x[b @ 0x] [")
	f.Fuzz(func(t *testing.T, log string) {
		var errors strings.Builder
		w := NewWatch(&Video{transfer: pq}, &errors)
		if n, err := w.Write([]byte(log)); n != len(log) || err != nil {
			t.Fatalf("wrote %d of %d bytes, %v", n, len(log), err)
		}
		if errors.Len() > len(log) || len(w.line) > mostLine+len(log) {
			t.Errorf("%d bytes became %d, and %d wait", len(log), errors.Len(), len(w.line))
		}
	})
}
