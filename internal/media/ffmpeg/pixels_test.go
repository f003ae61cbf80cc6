package ffmpeg_test

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

// firstFrame decodes the first frame of a clip.
func firstFrame(t *testing.T, path string) *image.YCbCr {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := tools.OpenFrames(t.Context(), info, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	frame := info.Video.NewFrame()
	if err := frames.Read(frame); err != nil {
		t.Fatal(err)
	}
	return frame
}

// TestPixels decodes pictures of one colour in every format, and checks the colour.
func TestPixels(t *testing.T) {
	const size = ":s=64x48:d=0.2:r=10"
	// geq sets the raw values.
	flat := func(format, values string) []string {
		return []string{"-f", "lavfi", "-i", "color=black" + size + ",format=" + format + ",geq=" + values}
	}
	for _, test := range []struct {
		name      string
		file      string
		args      []string
		y, cb, cr int
	}{
		{"limited", "a.mkv", append(flat("yuv420p", "lum=120:cb=90:cr=150"), "-c:v", "ffv1"), 120, 90, 150},
		{"full", "a.mkv", append(flat("yuv420p", "lum=255:cb=128:cr=128"), "-c:v", "ffv1", "-color_range", "pc"), 235, 128, 128},
		{"full JPEG", "a.mov", append(flat("yuv420p", "lum=200:cb=128:cr=128"), "-c:v", "mjpeg", "-pix_fmt", "yuvj420p"), 200, 128, 128},
		{"10 bits", "a.mkv", append(flat("yuv422p10", "lum=480:cb=360:cr=600"), "-c:v", "ffv1"), 120, 90, 150},
		// Rec. 709 red: 16 + 219 × .2126.
		{"RGB", "a.mkv", append(flat("gbrp", "r=255:g=0:b=0"), "-c:v", "ffv1"), 63, 102, 240},
		{"PNG", "a.png", append(flat("gbrp", "r=255:g=0:b=0"), "-frames:v", "1"), 63, 102, 240},
		{"grey PNG", "a.png", append(flat("gray16be", "65535"), "-frames:v", "1"), 235, 128, 128},
		{"JPEG", "a.jpg", append(flat("yuv420p", "lum=200:cb=128:cr=128"), "-frames:v", "1"), 200, 128, 128},
		{"WebP", "a.webp", append(flat("rgba", "r=255:g=255:b=255:a=128"), "-frames:v", "1", "-lossless", "1"), 126, 128, 128},
		// Half-transparent white over black: 16 + 219 × .5.
		{"alpha", "a.mov", append(flat("rgba", "r=255:g=255:b=255:a=128"), "-c:v", "qtrle", "-pix_fmt", "argb"), 126, 128, 128},
		{"alpha VP9", "a.webm", append(flat("yuva420p", "lum=235:cb=128:cr=128:a=128"), "-c:v", "libvpx-vp9", "-lossless", "1"), 126, 128, 128},
		// PQ 58 % is the white of HDR's diffuse surfaces, 203 cd/m²: bright, not clipped.
		{"HDR white", "a.mkv", append(flat("yuv420p10", "lum=573:cb=512:cr=512"), pq()...), 182, 128, 128},
		{"HDR black", "a.mkv", append(flat("yuv420p10", "lum=64:cb=512:cr=512"), pq()...), 16, 128, 128},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := firstFrame(t, ffmpegtest.Make(t, test.file, test.args...)).YCbCrAt(30, 20)
			near := func(got uint8, want int) bool { return math.Abs(float64(got)-float64(want)) <= 2 }
			if !near(c.Y, test.y) || !near(c.Cb, test.cb) || !near(c.Cr, test.cr) {
				t.Errorf("got %v, want %d %d %d", c, test.y, test.cb, test.cr)
			}
		})
	}
}

func pq() []string {
	return []string{"-c:v", "ffv1", "-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc", "-color_range", "tv"}
}

// TestInterlaced decodes two fields of different brightness. Deinterlacing must not leave comb
// lines where the picture moves.
func TestInterlaced(t *testing.T) {
	comb := func(flags ...string) float64 {
		frame := firstFrame(t, ffmpegtest.Make(t, "a.mp4", append([]string{"-f", "lavfi", "-i",
			"color=black:s=64x64:r=25:d=1,format=yuv420p,geq=lum='if(mod(Y,2),40,200)':cb=128:cr=128"}, flags...)...))
		return math.Abs(float64(frame.YCbCrAt(30, 30).Y) - float64(frame.YCbCrAt(30, 31).Y))
	}
	if got := comb(); got < 100 {
		t.Errorf("a progressive picture's lines differ by %v, want them as they are", got)
	}
	if got := comb("-flags", "+ildct+ilme", "-vf", "setfield=tff"); got > 60 {
		t.Errorf("an interlaced picture's lines differ by %v", got)
	}
}

// TestSoundFollowsThePicture checks where a video's own sound begins relative to its first frame.
func TestSoundFollowsThePicture(t *testing.T) {
	for _, test := range []struct {
		name, offset string
		from, to     float64 // in seconds
	}{
		{"together", "0", 0, 1},
		{"sound late", "0.5", .5, 1.5},
		{"sound early", "-0.5", 0, .98}, // the first picture is shown for 12 frames longer, so the time line begins after .02 s
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			path := ffmpegtest.Make(t, "a.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 75),
				"-itsoffset", test.offset, "-f", "lavfi", "-i", "sine=f=440:d=1", "-c:a", "pcm_s16le", "-output_ts_offset", "3")
			from, to := heard(t, path)
			if math.Abs(from-test.from) > .01 || math.Abs(to-test.to) > .01 {
				t.Errorf("heard from %.3f to %.3f s, want %.3f to %.3f", from, to, test.from, test.to)
			}
		})
	}
}

// heard returns when a video's sound begins and stops being loud, in seconds.
func heard(t *testing.T, path string) (from, to float64) {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	pcm := samples(t, tools, info)
	from = -1
	for i, s := range pcm {
		if s > 500 || s < -500 {
			if from < 0 {
				from = float64(i) / ffmpeg.PCMRate
			}
			to = float64(i) / ffmpeg.PCMRate
		}
	}
	return from, to
}
