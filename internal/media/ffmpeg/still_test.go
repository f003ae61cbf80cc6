package ffmpeg

import (
	"bytes"
	"strings"
	"testing"
)

// chunk is a chunk of a PNG without content.
func chunk(kind string) string { return "\x00\x00\x00\x00" + kind + "\x00\x00\x00\x00" }

// animation is the chunk of a PNG that has a number of frames.
func animation(frames byte) string {
	return "\x00\x00\x00\x08acTL\x00\x00\x00" + string(rune(frames)) + "\x00\x00\x00\x00\x00\x00\x00\x00"
}

const signature = "\x89PNG\r\n\x1a\n"

// TestMoves tells animations from pictures by the chunks of a PNG.
func TestMoves(t *testing.T) {
	for content, want := range map[string]bool{
		signature: false,
		signature + chunk("IHDR") + chunk("IDAT") + animation(2):                 false,
		signature + chunk("IHDR") + chunk("iCCP") + animation(2) + chunk("IDAT"): true,
		signature + animation(1) + chunk("IDAT"):                                 false,
		signature + animation(2)[:12]:                                            false,
		signature + "\x00\x00\x00\x03iCCPabc\x00\x00\x00\x00" + animation(2):     true,
		signature + strings.Repeat(chunk("tEXt"), mostChunks) + animation(2):     false,
		signature + "\xff\xff\xff\xffIHDR" + animation(2):                        false,
	} {
		if got := moves(strings.NewReader(content)); got != want {
			t.Errorf("%q: got %t, want %t", content, got, want)
		}
	}
}

// FuzzMoves reads any bytes as the chunks of a PNG.
func FuzzMoves(f *testing.F) {
	f.Add([]byte(signature + chunk("IHDR") + animation(2)))
	f.Add([]byte(signature + "\x7f\xff\xff\xffIHDR"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if moves(bytes.NewReader(content)) && !bytes.Contains(content, []byte("acTL")) {
			t.Error("an animation without its chunk")
		}
	})
}
