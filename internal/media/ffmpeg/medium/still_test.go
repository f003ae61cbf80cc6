package medium

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
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

// TestColoursOfPictures wants a picture to be refused for its colours, if these are why, and not for its kind.
func TestColoursOfPictures(t *testing.T) {
	colours := ColoursError{"colours are not supported"}
	if _, err := unreadable("", heif, colours); !errors.Is(err, colours) || errors.Is(err, ErrPicture) {
		t.Errorf("got %v, want %v", err, colours)
	}
	if _, err := unreadable("", heif, ErrUnsupported); !errors.Is(err, ErrPicture) {
		t.Errorf("got %v, want %v", err, ErrPicture)
	}
}

// TestFormats wants each format that people are told of to have a demuxer, and each demuxer to have one.
func TestFormats(t *testing.T) {
	demuxers := map[string]string{"MP4": "mov", "MOV": "mov", "WebM": "matroska", "MKV": "matroska", "AVI": "avi", "MPEG-TS": "mpegts", "FLV": "flv", "WMV": "asf", "GIF": "gif", "APNG": "apng",
		"PNG": "png_pipe", "JPEG": "jpeg_pipe", "WebP": "webp_pipe", "AVIF": "mov",
		"WAV": "wav", "MP3": "mp3", "M4A": "mov", "AAC": "aac", "FLAC": "flac", "OGG": "ogg", "WMA": "asf", "AIFF": "aiff", "CAF": "caf", "W64": "w64"}
	var open []string
	for _, demuxer := range slices.Concat(formats(), slices.Collect(maps.Values(stills))) {
		name, _, _ := strings.Cut(demuxer, ",")
		open = append(open, name)
	}
	told := map[string]bool{}
	for name := range strings.SplitSeq(strings.NewReplacer(" and ", ", ").Replace(order.VideoFormats+", "+order.PictureFormats+", "+order.SoundFormats), ", ") {
		if told[demuxers[name]] = true; !slices.Contains(open, demuxers[name]) {
			t.Errorf("nothing opens %s", name)
		}
	}
	for _, name := range open {
		if !told[name] {
			t.Errorf("nobody is told of %s", name)
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
