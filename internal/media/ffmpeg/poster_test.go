package ffmpeg_test

import (
	"bytes"
	"context"
	"errors"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// TestPoster makes posters of bounded size, of the last key frame up to the time.
func TestPoster(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	for _, test := range []struct {
		name, source  string
		width, height int
	}{
		{"wide", "testsrc2=s=1280x720:d=1", 480, 270},
		{"tall", "testsrc2=s=360x720:d=1", 240, 480},
		{"small", "testsrc2=s=64x48:d=1", 64, 48},
	} {
		path := ffmpegtest.Make(t, test.name+".mp4", "-f", "lavfi", "-i", test.source, "-pix_fmt", "yuv420p")
		poster, err := tools.Poster(t.Context(), &medium.Video{}, path, time.Second/2)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		size, err := jpeg.DecodeConfig(bytes.NewReader(poster))
		if err != nil || size.Width != test.width || size.Height != test.height {
			t.Errorf("%s: got %d × %d (%v), want %d × %d", test.name, size.Width, size.Height, err, test.width, test.height)
		}
	}
}

// TestPosterHDR checks that the white of diffuse surfaces in PQ is bright in the poster, as in TestPixels.
func TestPosterHDR(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	path := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", "color=black:s=64x64:d=1,format=yuv420p10,geq=lum=573:cb=512:cr=512", "-c:v", "libx265",
		"-x265-params", "log-level=none:colorprim=bt2020:colormatrix=bt2020nc:transfer=smpte2084")
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info.Video.Pixels = info.Video.Keep(order.Output{Codec: order.HEVC})
	poster, err := tools.Poster(t.Context(), info.Video, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	picture, err := jpeg.Decode(bytes.NewReader(poster))
	if err != nil {
		t.Fatal(err)
	}
	const want = (182 - 16) * 255 / 219
	if got, _, _, _ := picture.At(32, 32).RGBA(); got>>8 < want-4 || got>>8 > want+4 {
		t.Errorf("got red %d, want %d", got>>8, want)
	}
}

// TestPosterMiddle shows white where the second half of a video is white, whatever the first half is.
func TestPosterMiddle(t *testing.T) {
	path := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", "color=black:s=64x64:d=1", "-f", "lavfi", "-i", "color=white:s=64x64:d=1",
		"-filter_complex", "concat", "-force_key_frames", "1", "-pix_fmt", "yuv420p")
	for at, want := range map[time.Duration]uint32{0: 0, 1100 * time.Millisecond: 0xffff} {
		poster, err := ffmpegtest.Tools(t).Poster(t.Context(), &medium.Video{}, path, at)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := jpeg.Decode(bytes.NewReader(poster))
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _, _ := picture.At(32, 32).RGBA(); max(got, want)-min(got, want) > 0x400 {
			t.Errorf("at %v: got red %#x, want %#x", at, got, want)
		}
	}
}

// TestNoPoster checks that there is no poster of a file that is no video, and none after ctx has ended.
func TestNoPoster(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	path := filepath.Join(t.TempDir(), "a.mp4")
	if err := os.WriteFile(path, []byte("no video"), 0o600); err != nil {
		t.Fatal(err)
	}
	if poster, err := tools.Poster(t.Context(), &medium.Video{}, path, 0); err == nil {
		t.Errorf("got a poster of %d bytes, want an error", len(poster))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tools.Poster(ctx, &medium.Video{}, path, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it canceled", err)
	}
}
