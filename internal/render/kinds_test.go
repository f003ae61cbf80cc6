package render

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/render/footage"
	"lipsync/internal/test/ffmpegtest"
)

// TestVideoKinds renders each kind of video with one second of sound, and
// checks that every source frame is under the right output frame.
func TestVideoKinds(t *testing.T) {
	const frames = 40
	clip := func(name, rate string, args ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			input := []string{"-f", "lavfi", "-i", ffmpegtest.Numbered(rate, frames)}
			return ffmpegtest.Make(t, name, append(input, args...)...)
		}
	}
	for _, test := range []struct {
		name          string
		video         func(*testing.T) string
		width, height int
		rate          string
	}{
		{"25", clip("a.mp4", "25"), 160, 96, "25/1"},
		{"29.97", clip("a.mkv", "30000/1001"), 160, 96, "30000/1001"},
		{"23.976", clip("a.webm", "24000/1001", "-c:v", "libvpx", "-b:v", "1M", "-deadline", "realtime"), 160, 96, "24000/1001"},
		{"120", clip("a.mp4", "120"), 160, 96, "120/1"},
		{"odd size", clip("a.mkv", "25", "-vf", "pad=161:97", "-c:v", "ffv1"), 160, 96, "25/1"},
		{"wide pixels", clip("a.mp4", "25", "-vf", "scale=80:96,setsar=2"), 160, 96, "25/1"},
		{"10 bits", clip("a.mkv", "25", "-pix_fmt", "yuv420p10", "-c:v", "libx265", "-x265-params", "log-level=none"), 160, 96, "25/1"},
		{"HDR, PQ", clip("a.mp4", "25", hdr("smpte2084")...), 160, 96, "25/1"},
		{"HDR, HLG", clip("a.mp4", "25", hdr("arib-std-b67")...), 160, 96, "25/1"},
		{"alpha, webm", clip("a.webm", "25", "-pix_fmt", "yuva420p", "-c:v", "libvpx-vp9", "-b:v", "1M"), 160, 96, "25/1"},
		{"alpha, ProRes", clip("a.mov", "25", "-pix_fmt", "yuva444p10", "-c:v", "prores_ks", "-profile:v", "4"), 160, 96, "25/1"},
		{"alpha, Animation", clip("a.mov", "25", "-pix_fmt", "argb", "-c:v", "qtrle"), 160, 96, "25/1"},
		{"full range", clip("a.mov", "25", "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", "-q:v", "2"), 160, 96, "25/1"},
		{"interlaced", clip("a.mp4", "25", "-flags", "+ildct+ilme", "-vf", "setfield=tff"), 160, 96, "25/1"},
		{"4:2:2, avi", clip("a.avi", "25", "-pix_fmt", "yuv422p", "-c:v", "ffv1"), 160, 96, "25/1"},
		{"TS", clip("a.ts", "25"), 160, 96, "25/1"},
		{"FLV", clip("a.flv", "25"), 160, 96, "25/1"},
		{"WMV", clip("a.wmv", "25", "-b:v", "2M"), 160, 96, "25/1"},
		{"GIF", clip("a.gif", "25"), 160, 96, "25/1"},
		{"APNG", clip("unstated.apng", "25"), 160, 96, "25/1"},
		{"APNG, named as a picture", clip("unstated.png", "25", "-f", "apng"), 160, 96, "25/1"},
		{"AVIF that moves", clip("a.avif", "25", "-c:v", "libaom-av1", "-cpu-used", "8", "-crf", "10", "-lag-in-frames", "0"), 160, 96, "25/1"},
		{"starts late", clip("a.mkv", "25", "-output_ts_offset", "7.03"), 160, 96, "25/1"},
		{"with sound that starts early", clip("a.mkv", "25", "-f", "lavfi", "-itsoffset", "-0.02", "-i", "sine=d=3", "-c:a", "libvorbis"), 160, 96, "25/1"},
		{"an awkward name", clip("-it's \"a\": $(b)%d;\n.mp4", "25"), 160, 96, "25/1"},
		{"of a phone", func(t *testing.T) string {
			lying := clip("a.mp4", "30", "-vf", "transpose=clock")(t)
			return ffmpegtest.Make(t, "b.mp4", "-i", lying, "-c", "copy", "-metadata:s:v", "rotate=90")
		}, 160, 96, "30/1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := render(t, newRenderer(t, &numberer{}), test.video(t), sound(t, "a.wav", "1"))
			if err != nil {
				t.Fatal(err)
			}
			source, painted, info := numbers(t, output)
			if v := info.Video; v.Width != test.width || v.Height != test.height || v.Rate.String() != test.rate {
				t.Errorf("%d × %d at %s, want %d × %d at %s", v.Width, v.Height, v.Rate, test.width, test.height, test.rate)
			}
			line := footage.NewTimeline(order.Bounce, frames, len(source), nil)
			for i := range source {
				if source[i] != line.Source(i) || painted[i] != i {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], line.Source(i), i)
				}
			}
			checkOutput(t, output, 1)
		})
	}
}

func hdr(transfer string) []string {
	return []string{"-pix_fmt", "yuv420p10", "-c:v", "libx265", "-x265-params",
		"log-level=none:colorprim=bt2020:colormatrix=bt2020nc:transfer=" + transfer}
}

// TestVariableRate checks that each picture is shown, and at its own time.
func TestVariableRate(t *testing.T) {
	const each, seconds = 60, 3.5 // numbers a second, and the length of the output
	const halved = "a screen that mostly stands"
	for _, test := range []struct {
		name, of, pictures string
		rate               float64
	}{
		{"each fifth of 30 is missing", "a.mp4", "select='not(mod(n,2))*mod(n,5)'", 30},
		{"a camera in the dark", "a.mp4", "select='not(mod(n,2))*lt(t,1)+not(mod(n,4))'", 30},
		{"a screen", "a.mp4", "select='lt(mod(t,1),.5)+not(mod(n,30))'", 60},
		{halved, "a.mp4", "select='lt(t,.1)+not(mod(n,25))'", 30},
		{"slow at first", "a.webm", "select='gte(t,1)+not(mod(n,12))'", 60},
		{"slow and even, in a container that may say so of the first pictures only", "a.mkv", "fps=10:round=down", 30},
		{"slow and even", "a.mp4", "fps=10:round=down", 10},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args := []string{"-f", "lavfi", "-i", ffmpegtest.Numbered("60", 4*each), "-vf", test.pictures, "-fps_mode", "vfr"}
			if strings.HasSuffix(test.of, "webm") {
				args = append(args, "-c:v", "libvpx", "-b:v", "2M", "-deadline", "realtime")
			}
			video := ffmpegtest.Make(t, test.of, args...)
			output, err := render(t, newRenderer(t, &numberer{}), video, sound(t, "a.wav", fmt.Sprint(seconds)))
			if err != nil {
				t.Fatal(err)
			}
			source, _, info := numbers(t, output)
			rate := info.Video.Rate.Float()
			if math.Abs(rate-test.rate) > .2 {
				t.Errorf("%.3f frames per second, want %g", rate, test.rate)
			}
			const most = .5/23 + .001
			for i, n := range source {
				if late := float64(i)/rate - float64(n-source[0])/each; (i == 0 || n != source[i-1]) && math.Abs(late) > most {
					t.Errorf("output frame %d shows the picture %d %.3f s late", i, n, late)
				}
			}
			all, _, _ := numbers(t, ffmpegtest.Make(t, "all.mp4", "-i", video, "-vf", "settb=1/60,setpts=N", "-fps_mode", "passthrough"))
			for _, n := range all {
				near := func(m int) bool { return m == n || test.name == halved && max(m-n, n-m) == 1 }
				if float64(n-all[0])/each < seconds-1/rate && !slices.ContainsFunc(source, near) {
					t.Errorf("the picture %d is shown in no output frame", n)
				}
			}
		})
	}
}

// TestAudioKinds renders each kind of sound; all last a bit over a second.
func TestAudioKinds(t *testing.T) {
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 40))
	for _, test := range []struct {
		name     string
		args     []string
		channels int
	}{
		{"mono 8k.wav", []string{"-ar", "8000"}, 1},
		{"stereo 44.1k.mp3", []string{"-ac", "2"}, 2},
		{"5.1 48k.flac", []string{"-ac", "6", "-ar", "48000"}, 6},
		{"7.1 96k.wav", []string{"-ac", "8", "-ar", "96000"}, 2},
		{"24 bit 192k.wav", []string{"-ar", "192000", "-c:a", "pcm_s24le"}, 1},
		{"opus.ogg", []string{"-c:a", "libopus"}, 1},
		{"vorbis.ogg", []string{"-c:a", "libvorbis", "-ac", "2"}, 2},
		{"aac.m4a", nil, 1},
		{"adts.aac", []string{"-ar", "22050"}, 1},
		{"opus.webm", []string{"-c:a", "libopus", "-output_ts_offset", "4"}, 1},
		{"a.aiff", nil, 1},
		{"a.caf", []string{"-ac", "2"}, 2},
		{"a.w64", nil, 1},
		{"a.wma", []string{"-ac", "2"}, 2},
		{"a.ts", nil, 1},
		{"of a video.mkv", []string{"-f", "lavfi", "-i", "color=s=32x32:d=3", "-map", "1", "-map", "0", "-c:a", "libvorbis"}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := render(t, newRenderer(t, &numberer{}), video, sound(t, test.name, "1.03", test.args...))
			if err != nil {
				t.Fatal(err)
			}
			info := checkOutput(t, output, 1.03)
			if info != test.channels {
				t.Errorf("%d channels, want %d", info, test.channels)
			}
		})
	}
}

// checkOutput checks what every output promises: its format, and that sound and
// picture start together and end within a frame. It returns the channels.
func checkOutput(t *testing.T, path string, seconds float64) (channels int) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-print_format", "json", "-show_streams", "file:"+path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Streams []struct {
			Codec    string `json:"codec_name"`
			Profile  string `json:"profile"`
			PixFmt   string `json:"pix_fmt"`
			Start    string `json:"start_time"`
			Duration string `json:"duration"`
			Rate     string `json:"avg_frame_rate"`
			Channels int    `json:"channels"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(out, &answer); err != nil || len(answer.Streams) != 2 {
		t.Fatalf("%v, %d streams", err, len(answer.Streams))
	}
	video, audio := answer.Streams[0], answer.Streams[1]
	if video.Codec != "h264" || video.Profile != "High" || video.PixFmt != "yuv420p" || audio.Codec != "aac" {
		t.Errorf("%s %s %s, %s", video.Codec, video.Profile, video.PixFmt, audio.Codec)
	}
	if video.Start != "0.000000" || audio.Start != "0.000000" {
		t.Errorf("picture starts at %s, sound at %s", video.Start, audio.Start)
	}
	v, _ := strconv.ParseFloat(video.Duration, 64)
	a, _ := strconv.ParseFloat(audio.Duration, 64)
	// Audio codecs pad up to 90 ms.
	if a < seconds-.005 || a > seconds+.09 || v < a-.001 || v > a+1./20 {
		t.Errorf("picture lasts %.4f s, sound %.4f s, want %.2f s", v, a, seconds)
	}
	return audio.Channels
}
