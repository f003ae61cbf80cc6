package render

import (
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/render/blend"
	"lipsync/internal/test/ffmpegtest"
)

// deepFrames is the number of frames of the videos of 10 bits.
const deepFrames = 12

// rampAt is the first row of a ramp of luma in all values of limited range.
const rampAt = paintedAt + 16

// deepVideo makes a numbered video of 10 bits with a ramp, without loss. alpha makes it transparent from left to right.
func deepVideo(t *testing.T, alpha bool, tags ...string) string {
	format, more := "yuv420p10", ""
	if alpha {
		format, more = "yuva444p10", ":a='1023*X/(W-1)'"
	}
	ramp := fmt.Sprintf("if(lt(Y,%[1]d),lum(X,Y),64+876*(X+W*(Y-%[1]d))/(W*(H-%[1]d)))", rampAt)
	filter := fmt.Sprintf("%s,format=%s,geq=lum='%s':cb='480+64*X/W':cr='480+64*Y/H'%s", ffmpegtest.Numbered("25", deepFrames), format, ramp, more)
	return ffmpegtest.Make(t, "in.mkv", append([]string{"-f", "lavfi", "-i", filter, "-c:v", "ffv1", "-color_range", "tv"}, tags...)...)
}

func hdrTags(transfer string) []string {
	return []string{"-color_primaries", "bt2020", "-color_trc", transfer, "-colorspace", "bt2020nc"}
}

// TestDepth renders videos of 10 bits in each codec that can keep them, and in H.264; those of PQ in MOV too. VP9 takes most of the time, so
// it comes once in each container: SDR in MP4, and HLG in WebM.
func TestDepth(t *testing.T) {
	sdr := []string{"-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709"}
	for name, tags := range map[string][]string{"SDR": sdr, "PQ": hdrTags("smpte2084"), "HLG": hdrTags("arib-std-b67")} {
		video := deepVideo(t, false, tags...)
		type made struct {
			output order.Output
			want   string // profile and pixel format
		}
		all := []made{
			{order.Output{Codec: order.HEVC}, "Main 10,yuv420p10le"},
			{order.Output{Format: order.MOV, Codec: order.ProRes}, "HQ,yuv422p10le"},
			{order.Output{}, "High,yuv420p"},
		}
		switch name {
		case "SDR":
			all = append(all, made{order.Output{Codec: order.VP9}, "Profile 2,yuv420p10le"})
		case "PQ":
			all = append(all, made{order.Output{Format: order.MOV, Codec: order.HEVC}, "Main 10,yuv420p10le"})
		case "HLG":
			all = append(all, made{order.Output{Format: order.WebM}, "Profile 2,yuv420p10le"})
		}
		for _, c := range all {
			t.Run(fmt.Sprint(name, " ", c.output.Format, " ", c.output.VideoCodec()), func(t *testing.T) {
				t.Parallel()
				options, seconds := order.Options{Output: c.output}, "0.48"
				if name == "SDR" { // mix frames too
					options.SyncMode, seconds = order.Remap, "0.72"
				}
				r := newRenderer(t, &numberer{})
				if c.output.VideoCodec() == order.VP9 {
					r.Media = ffmpegtest.InstalledTools(t) // the quick ffmpeg encodes it with 8 bits only
				}
				output, result, err := renderOnly(t, r, video, sound(t, "a.wav", seconds), options)
				if err != nil {
					t.Fatal(err)
				}
				kept := c.output.VideoCodec() != order.H264
				wantTags := "tv," + strings.Join([]string{tags[5], tags[3], tags[1]}, ",")
				var warnings order.Warnings
				if !kept && name != "SDR" {
					wantTags, warnings = "tv,bt709,bt709,bt709", order.ConvertedHDR
				}
				if got, want := colours(t, output), c.want+","+wantTags; got != want || result.Warnings != warnings {
					t.Errorf("got %s and warnings %q, want %s and %q", got, result.Warnings, want, warnings)
				}
				if kept {
					checkRamp(t, deepPixels(t, output, "yuv420p10le"), deepPixels(t, video, "yuv420p10le"))
				}
			})
		}
	}
}

// colours returns ffprobe's names of a video's profile, pixel format, range, matrix, transfer function and primaries.
func colours(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command(ffmpegtest.Installed("ffprobe"), "-v", "error", "-select_streams", "v", "-of", "csv=p=0",
		"-show_entries", "stream=profile,pix_fmt,color_range,color_space,color_transfer,color_primaries", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// deepPixels returns the values of a video's frames in a pixel format of 10 bits.
func deepPixels(t *testing.T, path, format string, decoder ...string) (values []uint16) {
	t.Helper()
	args := append(append([]string{"-v", "error"}, decoder...), "-i", path, "-an", "-fps_mode", "passthrough", "-pix_fmt", format, "-f", "rawvideo", "-")
	out, err := exec.Command("ffmpeg", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for ; len(out) > 0; out = out[2:] {
		values = append(values, binary.LittleEndian.Uint16(out))
	}
	return values
}

// checkRamp compares the ramp of the first frame of an output with that of the video. In the last frame it checks the number of the source
// frame and the painted one.
func checkRamp(t *testing.T, got, want []uint16) {
	t.Helper()
	const luma = ffmpegtest.Width * ffmpegtest.Height
	from, frame := rampAt*ffmpegtest.Width, luma*3/2
	levels, sum := map[uint16]bool{}, 0.
	for i := from; i < luma; i++ {
		levels[got[i]] = true
		sum += math.Abs(float64(got[i]) - float64(want[i]))
	}
	if mean := sum / float64(luma-from); len(levels) < 500 || mean > 3 {
		t.Errorf("the ramp has %d values, and differs by %.2f on average", len(levels), mean)
	}
	last := got[len(got)-frame:]
	for row, number := range map[int]int{0: deepFrames - 1, paintedAt: len(got)/frame - 1} {
		for bit := range 5 {
			if bright := last[(row+8)*ffmpegtest.Width+16*bit+8] > 480; bright != (number>>bit&1 == 1) {
				t.Errorf("the last frame doesn't have the number %d at row %d", number, row)
			}
		}
	}
}

// TestAlpha renders videos and a picture with alpha.
func TestAlpha(t *testing.T) {
	deep, hdr := deepVideo(t, true), deepVideo(t, true, hdrTags("arib-std-b67")...)
	webm := ffmpegtest.Make(t, "a.webm", "-i", deep, "-pix_fmt", "yuva420p", "-c:v", "libvpx-vp9", "-crf", "8", "-b:v", "0")
	picture := ffmpegtest.Make(t, "unstated.png", "-i", deep, "-frames:v", "1", "-pix_fmt", "rgba")
	prores, vp9 := order.Output{Format: order.MOV, Codec: order.ProRes}, order.Output{Format: order.WebM}
	const lost = order.LostAlpha
	for _, c := range []struct {
		name, video string
		output      order.Output
		want        string  // profile and pixel format that ffprobe's decoder makes
		most        float64 // by how much the codec may change alpha, -1 if there is none
		warnings    order.Warnings
	}{
		{"10 bits, ProRes", deep, prores, "4444,yuva444p12le", 0, ""},
		{"10 bits, WebM", deep, vp9, "Profile 0,yuv420p", 12, ""},
		{"HLG, ProRes", hdr, prores, "4444,yuva444p12le", 0, ""},
		{"HLG, WebM", hdr, vp9, "Profile 0,yuv420p", 12, order.ConvertedHDR},
		{"HLG, HEVC", hdr, order.Output{Codec: order.HEVC}, "Main 10,yuv420p10le", -1, lost},
		{"WebM, ProRes", webm, prores, "4444,yuva444p12le", 0, ""},
		{"WebM, WebM", webm, vp9, "Profile 0,yuv420p", 12, ""},
		{"WebM, WebM at half width", webm, order.Output{Format: order.WebM, Width: ffmpegtest.Width / 2, FPS: 12500}, "Profile 0,yuv420p", 12, ""},
		{"WebM, H.264", webm, order.Output{}, "High,yuv420p", -1, lost},
		{"WebM, VP9 in MP4", webm, order.Output{Codec: order.VP9}, "Profile 0,yuv420p", -1, lost},
		{"PNG, ProRes", picture, prores, "4444,yuva444p12le", 0, ""},
		{"PNG, WebM", picture, vp9, "Profile 0,yuv420p", 12, ""},
		{"PNG, HEVC", picture, order.Output{Codec: order.HEVC}, "Main,yuv420p", -1, lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			output, result, err := renderOnly(t, newRenderer(t, &numberer{}), c.video, sound(t, "a.wav", "0.48"), order.Options{Output: c.output})
			if err != nil {
				t.Fatal(err)
			}
			if got := colours(t, output); !strings.HasPrefix(got, c.want+",") || result.Warnings != c.warnings {
				t.Errorf("got %s and warnings %q, want %s and %q", got, result.Warnings, c.want, c.warnings)
			}
			if c.most < 0 {
				return
			}
			if c.output.Width == 0 {
				checkPainted(t, output, c.output)
			}
			var decoder []string
			if c.output.Format == order.WebM {
				decoder = []string{"-c:v", "libvpx-vp9"}
			}
			width, height := ffmpegtest.Width, ffmpegtest.Height
			if c.output.Width > 0 {
				width, height = width/2, height/2
			}
			planes := deepPixels(t, output, "yuva444p10le", decoder...)
			all := 4 * width * height
			if frames := len(planes) / all; frames < 6 {
				t.Fatalf("got %d frames", frames)
			}
			for ; len(planes) >= all; planes = planes[all:] {
				for y := range height {
					for x := range width {
						alpha := float64(planes[3*width*height+y*width+x])
						middle := (float64(x) + .5) * ffmpegtest.Width / float64(width)
						want := math.Floor(1023 * (middle - .5) / (ffmpegtest.Width - 1))
						if d := math.Abs(alpha - want); d > c.most+tolerance(c.video == deep || c.video == hdr) {
							t.Fatalf("alpha at (%d, %d) is %.0f, want %.0f", x, y, alpha, want)
						}
					}
				}
			}
		})
	}
}

// tolerance returns by how much alpha may differ that the video itself has exactly, or only by a lossy codec with 8 bits.
func tolerance(exact bool) float64 {
	if exact {
		return 0
	}
	return 12
}

// checkPainted checks the numbers in the colours of an output with alpha.
func checkPainted(t *testing.T, path string, o order.Output) {
	t.Helper()
	info, err := ffmpegtest.Tools(t).Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info.Video.Pixels = info.Video.Keep(o)
	frames, err := ffmpegtest.Tools(t).OpenFrames(t.Context(), info, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	b, frame := blend.New(info.Video), make([]byte, info.Video.FrameSize())
	for i := 0; frames.ReadPixels(frame) == nil; i++ {
		if n := ffmpegtest.Number(b.See(frame), paintedAt); n != i {
			t.Fatalf("frame %d is painted %d", i, n)
		}
	}
}
