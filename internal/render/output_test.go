package render

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/test/ffmpegtest"
)

// TestOutputFormats renders each codec of each format, with sound of one, two and six channels. It checks the file, its frames and
// its sound.
func TestOutputFormats(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	const seconds, frames = .96, 24 // AAC ends with the last frame
	usual, _, err := renderBy(t, newRenderer(t, &numberer{}), video, sound(t, "a.wav", fmt.Sprint(seconds)), order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		output   order.Output
		channels int
		want     string // ffprobe's names of the format, the pictures and the sound
	}{
		{order.Output{}, 1, "mov,mp4,m4a,3gp,3g2,mj2 h264,High,avc1,yuv420p aac"},
		{order.Output{Codec: order.HEVC}, 2, "mov,mp4,m4a,3gp,3g2,mj2 hevc,Main,hvc1,yuv420p aac"},
		{order.Output{Codec: order.VP9}, 1, "mov,mp4,m4a,3gp,3g2,mj2 vp9,Profile 0,vp09,yuv420p aac"},
		{order.Output{Format: order.MOV}, 6, "mov,mp4,m4a,3gp,3g2,mj2 h264,High,avc1,yuv420p aac"},
		{order.Output{Format: order.MOV, Codec: order.HEVC}, 1, "mov,mp4,m4a,3gp,3g2,mj2 hevc,Main,hvc1,yuv420p aac"},
		{order.Output{Format: order.MOV, Codec: order.ProRes}, 2, "mov,mp4,m4a,3gp,3g2,mj2 prores,HQ,apch,yuv422p10le aac"},
		{order.Output{Format: order.MOV, Codec: order.ProRes, Quality: order.Medium}, 1, "mov,mp4,m4a,3gp,3g2,mj2 prores,Standard,apcn,yuv422p10le aac"},
		{order.Output{Format: order.MOV, Codec: order.ProRes, Quality: order.Low}, 1, "mov,mp4,m4a,3gp,3g2,mj2 prores,Proxy,apco,yuv422p10le aac"},
		{order.Output{Format: order.WebM}, 2, "matroska,webm vp9,Profile 0,[0][0][0][0],yuv420p opus"},
		{order.Output{Format: order.WebM, Quality: order.Low}, 6, "matroska,webm vp9,Profile 0,[0][0][0][0],yuv420p opus"},
	} {
		t.Run(fmt.Sprint(c.output.Format, c.output.VideoCodec(), c.output.Quality), func(t *testing.T) {
			t.Parallel()
			channels := map[int]string{1: "mono", 2: "stereo", 6: "5.1(side)"}[c.channels]
			// The filter makes each channel as loud as the tone.
			tone := sound(t, "a.flac", fmt.Sprint(seconds), "-af", "pan="+channels+strings.Join([]string{"|c0=c0", "|c1=c0", "|c2=c0", "|c3=c0", "|c4=c0", "|c5=c0"}[:c.channels], ""))
			output, _, err := renderBy(t, newRenderer(t, &numberer{}), video, tone, order.Options{Output: c.output})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := probed(t, output), fmt.Sprintf("%s,%d", c.want, c.channels); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			source, painted, info := numbers(t, output)
			if len(source) != frames {
				t.Fatalf("got %d frames, want %d", len(source), frames)
			}
			line := footage.NewTimeline(order.Bounce, 20, frames, nil)
			for i := range source {
				if source[i] != line.Source(i) || painted[i] != i {
					t.Errorf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], line.Source(i), i)
				}
			}
			if info.Video.Rate != (medium.Rate{Num: 25, Den: 1}) || info.Video.Width != ffmpegtest.Width || info.Video.Height != ffmpegtest.Height {
				t.Errorf("got %+v", info.Video)
			}
			checkSound(t, info, seconds, seconds)
			if got := psnr(t, output, usual, 0); got < 38 {
				t.Errorf("got a PSNR of %.1f dB of the usual output", got)
			}
		})
	}
}

// TestOutputRates renders at other rates than the video's. An output frame shows the last source frame whose time, rounded to an
// output frame, has come.
func TestOutputRates(t *testing.T) {
	clip := func(rate string, frames int, args ...string) string {
		return ffmpegtest.Make(t, "a.mp4", append([]string{"-f", "lavfi", "-i", ffmpegtest.Numbered(rate, frames)}, args...)...)
	}
	p30, p25, ntsc := clip("30", 60), clip("25", 20), clip("30000/1001", 60)
	preview := order.Preview{Start: 1010 * time.Millisecond, Length: 640 * time.Millisecond}
	for _, c := range []struct {
		name, video string
		fps         float64 // of the video
		last        int     // its last frame
		output      order.Output
		options     order.Options
		seconds     float64 // length of the speech track
		frames      int
		rate        string
		first       int // source frame
	}{
		{"30 to 24", p30, 30, 59, order.Output{FPS: 24000}, order.Options{}, .64, 16, "24/1", 0},
		{"30 to 24, preview", p30, 30, 59, order.Output{FPS: 24000}, order.Options{Preview: preview}, 1.9, 16, "24/1", 30},
		{"25 to 50", p25, 25, 19, order.Output{FPS: 50000, Format: order.WebM}, order.Options{}, .64, 32, "50/1", 0},
		{"25 to 29.97", p25, 25, 19, order.Output{FPS: 29970, Format: order.MOV}, order.Options{}, .64, 20, "30000/1001", 0},
		{"25 to 23.976, as long as the video", p25, 25, 19, order.Output{FPS: 23976}, order.Options{SyncMode: order.Pad}, .3, 20, "24000/1001", 0},
		{"25 to 12.5, as long as the video", p25, 25, 19, order.Output{FPS: 12500, Codec: order.HEVC}, order.Options{SyncMode: order.CutOff}, 1.5, 10, "12500/1000", 0},
		{"29.97 to 25", ntsc, 30000. / 1001, 59, order.Output{FPS: 25000}, order.Options{}, .64, 16, "25/1", 0},
		{"25 to 120", p25, 25, 19, order.Output{FPS: 120000}, order.Options{}, .32, 39, "120/1", 0},
		{"a short video at 1", clip("25", 2), 25, 1, order.Output{FPS: 1000}, order.Options{SyncMode: order.CutOff}, 1.5, 1, "1000/1000", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.output.Quality = order.High // each frame has a number of its own, for which the video's bits are too few
			c.options.Output = c.output
			output, result, err := renderBy(t, newRenderer(t, &numberer{}), c.video, sound(t, "a.wav", fmt.Sprint(c.seconds)), c.options)
			if err != nil {
				t.Fatal(err)
			}
			source, painted, info := numbers(t, output)
			if len(source) != c.frames || result.Frames.Total != c.frames || info.Video.Rate.String() != c.rate {
				t.Fatalf("got %d frames at %s, told of %d, want %d at %s", len(source), info.Video.Rate, result.Frames.Total, c.frames, c.rate)
			}
			ratio := info.Video.Rate.Float() / c.fps
			for i := range source {
				want := c.first
				for want < c.last && math.Round(float64(want+1)*ratio) <= float64(i)+math.Round(float64(c.first)*ratio) {
					want++
				}
				if source[i] != want || painted[i] != i {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], want, i)
				}
			}
			length := c.seconds
			if part := c.options.Preview.Length; part > 0 {
				length = part.Seconds()
			} else if !reflect.DeepEqual(c.options, order.Options{Output: c.output}) {
				length = float64(c.frames) / info.Video.Rate.Float()
			}
			checkSound(t, info, length, min(length, c.seconds))
		})
	}
}

// TestOutputRateOfStill shows a picture at a low and at a high rate.
func TestOutputRateOfStill(t *testing.T) {
	for rate, frames := range map[order.FrameRate]int{1000: 1, 60000: 39} {
		t.Run(rate.String(), func(t *testing.T) {
			t.Parallel()
			o := order.Options{SyncMode: order.CutOff, Output: order.Output{FPS: rate}}
			output, _, err := renderBy(t, newRenderer(t, &numberer{}), photo(t, "unstated.png"), sound(t, "a.wav", "0.64"), o)
			if err != nil {
				t.Fatal(err)
			}
			if source, _, info := numbers(t, output); len(source) != frames || info.Video.Rate.Float() != rate.FPS() {
				t.Errorf("got %d frames at %s, want %d", len(source), info.Video.Rate, frames)
			}
		})
	}
}

// TestOutputWidths renders smaller frames than those of the video, which are 320 pixels wide, and refuses wider ones.
func TestOutputWidths(t *testing.T) {
	clip := func(height int, args ...string) string {
		scale := fmt.Sprintf("scale=320:192:flags=neighbor,crop=320:%d:0:0", height)
		return ffmpegtest.Make(t, "a.mp4", append([]string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-vf", scale}, args...)...)
	}
	for _, c := range []struct {
		name, video   string
		output        order.Output
		width, height int
		want          string
	}{
		{"half", clip(192), order.Output{Width: 160}, 160, 96, ""},
		{"odd, slower", clip(192), order.Output{Width: 161, FPS: 24000, Format: order.WebM}, 160, 96, ""},
		{"odd height", clip(186), order.Output{Width: 160, Codec: order.HEVC}, 160, 94, ""},
		{"lying pixels", ffmpegtest.Make(t, "a.mp4", "-i", clip(192), "-vf", "scale=100:192,setsar=320/100"), order.Output{Width: 160}, 160, 96, ""},
		{"as wide", clip(192), order.Output{Width: 321}, 320, 192, ""},
		{"wider", clip(192), order.Output{Width: 322}, 0, 0, "output is wider than the video: 322 pixels instead of at most 320"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := order.Options{Output: c.output}
			engine := &numberer{}
			output, _, err := renderBy(t, newRenderer(t, engine), c.video, sound(t, "a.wav", "0.64"), o)
			if c.want != "" {
				if got := failure.MessageOf(err); got != c.want || failure.Of(err).Code != failure.OutputTooWide {
					t.Errorf("got %q, want %q (%v)", got, c.want, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			source, painted, info := numbers(t, output)
			if info.Video.Width != c.width || info.Video.Height != c.height {
				t.Fatalf("got %d × %d, want %d × %d", info.Video.Width, info.Video.Height, c.width, c.height)
			}
			for i := range source {
				if want := engine.seen[i]; painted[i] != i || want >= 0 && source[i] != want {
					t.Fatalf("frame %d shows source %d painted %d, want %d and %d", i, source[i], painted[i], want, i)
				}
			}
		})
	}
}

// TestQualities renders a noisy video in each quality of each codec. The rows below the painted number are compared with those of the
// video.
func TestQualities(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 12)+",noise=alls=16:allf=t+u", "-c:v", "ffv1")
	const below = paintedAt + 16
	qualities := []order.Quality{order.High, order.Medium, order.Low}
	// measure returns the PSNR of each quality.
	measure := func(t *testing.T, o order.Output) (found []float64) {
		size, near := int64(math.MaxInt64), math.Inf(1)
		for _, o.Quality = range qualities {
			path, _, err := renderOnly(t, newRenderer(t, &numberer{}), video, sound(t, "a.wav", "0.48"), order.Options{Output: o})
			if err != nil {
				t.Fatal(err)
			}
			file, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			got := psnr(t, path, video, below)
			if file.Size() >= size || got >= near-1 {
				t.Errorf("%s: got %d bytes and %.1f dB, after %d bytes and %.1f dB in a higher quality", o.Quality, file.Size(), got, size, near)
			}
			size, near = file.Size(), got
			found = append(found, got)
		}
		return found
	}
	usual := measure(t, order.Output{})
	for _, o := range []order.Output{{Codec: order.HEVC}, {Format: order.WebM}, {Format: order.MOV, Codec: order.ProRes}} {
		t.Run(o.VideoCodec().String(), func(t *testing.T) {
			t.Parallel()
			for i, got := range measure(t, o) {
				if o.VideoCodec() != order.ProRes && math.Abs(got-usual[i]) > 4 {
					t.Errorf("%s: got %.1f dB, and %.1f dB in H.264", qualities[i], got, usual[i])
				}
			}
		})
	}
}

// TestBoundByVideo renders videos of few bits in several containers, and those of two codecs in other qualities and HEVC. The pictures of an output of
// other than high quality take at most 1.5 times their bits, and twice as many if H.264 replaces VP9. At the default quality that holds only for
// videos, as these in H.264, in which the bits suffice for a loss that isn't seen: see TestQualityOfVideo of package ffmpeg.
func TestBoundByVideo(t *testing.T) {
	source := []string{"-f", "lavfi", "-i", ffmpegtest.Numbered("25", 60) + ",noise=alls=90:allf=t+u", "-f", "lavfi", "-i", "sine=duration=2.4", "-crf", "30"}
	for name, codec := range map[string][]string{
		"in.mp4": {"-c:v", "libx264", "-c:a", "aac"}, "in.mkv": {"-c:v", "libx264", "-c:a", "pcm_s16le"}, "in.ts": {"-c:v", "libx264", "-c:a", "mp2"},
		"in.avi": {"-c:v", "libx264", "-c:a", "pcm_s16le"}, "in.webm": {"-c:v", "libvpx-vp9", "-crf", "42", "-b:v", "0", "-cpu-used", "8", "-an"},
		"flac.mkv": {"-c:v", "libx264", "-c:a", "flac", "-ar", "96000", "-ac", "6", "-af", "aeval='random(0)-.5'|'random(1)-.5'|'random(2)-.5'|'random(3)-.5'|'random(4)-.5'|'random(5)-.5':c=5.1"}, // whose sound has far more bits, and states none
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			video := ffmpegtest.Make(t, name, slices.Concat(source, codec)...)
			speech := sound(t, "a.wav", "2.4")
			bits := pictureBytes(t, video)
			outputs := []order.Output{{}}
			if name == "in.mp4" || name == "in.webm" {
				outputs = append(outputs, order.Output{Quality: order.Medium}, order.Output{Codec: order.HEVC, Quality: order.Medium}, order.Output{Quality: order.High})
			}
			for _, o := range outputs {
				path, _, err := renderBy(t, newRenderer(t, &numberer{}), video, speech, order.Options{Output: o})
				if err != nil {
					t.Fatal(err)
				}
				most := 1.5
				if name == "in.webm" && o.VideoCodec() == order.H264 {
					most = 3
				}
				got := float64(pictureBytes(t, path)) / float64(bits)
				bounded := got <= most
				if o.Quality == order.High && name != "in.webm" { // whose bits are enough for it
					bounded = !bounded
				}
				if !bounded {
					t.Errorf("%s, %s: got %.2f times the %d bytes of the video's pictures", o.VideoCodec(), o.Quality, got, bits)
				}
			}
		})
	}
}

// pictureBytes returns the size of the packets of a file's pictures.
func pictureBytes(t *testing.T, path string) (all int) {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=size", "-of", "csv=p=0", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(strings.Trim(line, ","))
		if err != nil {
			t.Fatal(err)
		}
		all += n
	}
	return all
}

// probed returns ffprobe's names of a file's format, pictures and sound.
func probed(t *testing.T, path string) string {
	t.Helper()
	var all []string
	for _, entries := range []string{"format=format_name", "stream=codec_name,profile,codec_tag_string,pix_fmt", "stream=codec_name,channels"} {
		args := []string{"-v", "error", "-of", "csv=p=0", "-show_entries", entries}
		if len(all) > 0 {
			args = append(args, "-select_streams", []string{"v", "a"}[len(all)-1])
		}
		out, err := exec.Command("ffprobe", append(args, path)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Trim(strings.TrimSpace(string(out)), `"`))
	}
	return strings.Join(all, " ")
}

// psnr returns the PSNR of the luma of two videos of the same length from a row on, in dB.
func psnr(t *testing.T, a, b string, row int) float64 {
	t.Helper()
	_, pictures := ffmpegtest.Frames(t, a)
	_, others := ffmpegtest.Frames(t, b)
	if len(pictures) != len(others) {
		t.Fatalf("got %d and %d frames", len(pictures), len(others))
	}
	sum, n := 0., 0
	for i, p := range pictures {
		first := row * p.YStride
		for at, y := range p.Y[first:] {
			d := float64(y) - float64(others[i].Y[first+at])
			sum += d * d
		}
		n += len(p.Y) - first
	}
	return 10 * math.Log10(255*255*float64(n)/max(sum, 1))
}
