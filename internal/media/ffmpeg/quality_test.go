package ffmpeg_test

import (
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// TestCountBits counts the bits of a video of two seconds without detail and two with noise, in a file that doesn't tell them. Only those of the
// frames that a job uses count, with a seek to them and without.
func TestCountBits(t *testing.T) {
	path := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", "color=gray:s=64x64:r=25:d=4,noise=alls=90:allf=t+u:enable='gte(t,2)'",
		"-f", "lavfi", "-i", "sine=duration=4", "-g", "25", "-c:a", "flac")
	tools := ffmpegtest.Tools(t)
	const plain, noisy = 20_000, 200_000 // bits a second, far from those of both
	for name, c := range map[string]struct {
		begin       time.Duration
		noSeek      bool
		frames      int
		least, most float64
	}{
		"begin":             {frames: 50, most: plain},
		"end":               {begin: 3 * time.Second, frames: 25, least: noisy, most: 1e9},
		"end without seeks": {begin: 3 * time.Second, noSeek: true, frames: 25, least: plain, most: 1e9}, // the frames before it are read too
		"middle":            {begin: time.Second, noSeek: true, frames: 20, most: plain},
		"all":               {frames: 1e6, least: plain, most: 1e9},
	} {
		info, err := tools.Probe(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		info.Begin, info.NoSeek = c.begin, c.noSeek
		got, err := tools.CountBits(t.Context(), info, c.frames)
		if err != nil || got < c.least || got > c.most {
			t.Errorf("%s: got %.0f bits/s (%v), want %.0f to %.0f", name, got, err, c.least, c.most)
		}
		if again, err := tools.CountBits(t.Context(), info, c.frames); again != got || err != nil {
			t.Errorf("%s: got %.0f bits/s (%v) the second time, want %.0f", name, again, err, got)
		}
	}
}

// TestCountBitsOfUnevenPictures counts the bits of noise of which every fourth picture, or each, is in a file with a higher rate of frames.
func TestCountBitsOfUnevenPictures(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	var bits [2]float64
	for i, pictures := range []string{"1", "not(mod(n,4))"} {
		path := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", "color=gray:s=64x64:r=24:d=4,noise=alls=90:allf=t+u,select='"+pictures+"'",
			"-f", "lavfi", "-i", "sine=duration=4", "-fps_mode", "vfr", "-g", "1", "-qp", "23", "-c:a", "flac")
		info, err := tools.Probe(t.Context(), path)
		if err != nil || info.Video.Rate.Float() != 24 {
			t.Fatalf("%v, %v; want 24 frames a second", info.Video.Rate, err)
		}
		if bits[i], err = tools.CountBits(t.Context(), info, 1e6); err != nil {
			t.Fatal(err)
		}
	}
	if times := bits[0] / bits[1]; times < 3.8 || times > 4.2 {
		t.Errorf("got %.0f bits/s of all pictures and %.0f of every fourth", bits[0], bits[1])
	}
}

// TestSampleOfLargeFrames checks that frames over 4K aren't sampled, since the encoder would take too much memory beside the first pass.
func TestSampleOfLargeFrames(t *testing.T) {
	for _, c := range []struct {
		width, height int
		want          bool
	}{{1920, 1080, true}, {4096, 2160, true}, {2160, 4096, true}, {4096, 4096, false}} {
		v := medium.Video{Width: c.width, Height: c.height}
		if _, _, ok := ffmpeg.Sample(&v, order.Output{}); ok != c.want {
			t.Errorf("%d × %d: sampled %t, want %t", c.width, c.height, ok, c.want)
		}
	}
}
