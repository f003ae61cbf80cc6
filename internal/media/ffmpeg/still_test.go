package ffmpeg

import (
	"bytes"
	"strings"
	"testing"
)

// chunk is a chunk of a PNG without content.
func chunk(kind string) string { return "\x00\x00\x00\x00" + kind + "\x00\x00\x00\x00" }

const signature = "\x89PNG\r\n\x1a\n"

// TestMoves tells animations from pictures by the chunks of a PNG.
func TestMoves(t *testing.T) {
	for content, want := range map[string]bool{
		signature: false,
		signature + chunk("IHDR") + chunk("IDAT") + chunk("acTL"):                 false,
		signature + chunk("IHDR") + chunk("iCCP") + chunk("acTL") + chunk("IDAT"): true,
		signature + "\x00\x00\x00\x03iCCPabc\x00\x00\x00\x00" + chunk("acTL"):     true,
		signature + strings.Repeat(chunk("tEXt"), mostChunks) + chunk("acTL"):     false,
		signature + "\xff\xff\xff\xffIHDR" + chunk("acTL"):                        false,
	} {
		if got := moves(strings.NewReader(content)); got != want {
			t.Errorf("%q: got %t, want %t", content, got, want)
		}
	}
}

// FuzzMoves reads any bytes as the chunks of a PNG.
func FuzzMoves(f *testing.F) {
	f.Add([]byte(signature + chunk("IHDR") + chunk("acTL")))
	f.Add([]byte(signature + "\x7f\xff\xff\xffIHDR"))
	f.Fuzz(func(t *testing.T, content []byte) {
		if moves(bytes.NewReader(content)) && !bytes.Contains(content, []byte("acTL")) {
			t.Error("an animation without its chunk")
		}
	})
}
