package ffmpeg_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// What ffmpeg's tags of colours can be, and the pixel formats of videos.
var (
	matrices  = []string{"bt709", "fcc", "bt470bg", "smpte170m", "smpte240m", "ycgco", "bt2020nc", "bt2020c", "chroma-derived-nc", "chroma-derived-c", "ictcp", "smpte2085", "unknown"}
	primaries = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431", "smpte432", "jedec-p22"}
	transfers = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "linear", "log100", "log316", "iec61966-2-4", "bt1361e",
		"iec61966-2-1", "bt2020-10", "bt2020-12", "smpte2084", "smpte428", "arib-std-b67"}
	formats = []sampling{{"yuv420p", 8, 2, 2, false}, {"yuv420p10le", 10, 2, 2, false}, {"yuv422p10le", 10, 2, 1, false}, {"yuv444p", 8, 1, 1, false}, {"yuva444p10le", 10, 1, 1, true}, {"gbrp", 8, 1, 1, false}}
	outputs = []order.Output{
		{Quality: order.High}, {Quality: order.High, Format: order.MOV}, {Quality: order.High, Codec: order.HEVC}, {Quality: order.High, Format: order.MOV, Codec: order.HEVC},
		{Quality: order.High, Codec: order.VP9}, {Quality: order.High, Format: order.WebM}, {Format: order.MOV, Codec: order.ProRes},
	}
)

// sampling is a pixel format: the bits of a value, the pixels of a chroma value, and whether there is alpha.
type sampling struct {
	name          string
	bits          int
	across, below int
	alpha         bool
}

// colours are those of a video.
type colours struct{ matrix, primaries, transfer, rang string }

// TestColours makes videos whose tags are a sample of all combinations, and checks the tags and the colours of their outputs.
func TestColours(t *testing.T) { testColours(t, bothTools(t), 61) }

// TestColours_long is TestColours with all combinations of matrix, range, pixel format and output; primaries and transfer functions take turns.
func TestColours_long(t *testing.T) {
	testColours(t, map[string]*ffmpeg.Tools{"installed": ffmpegtest.InstalledTools(t)}, 1)
}

// testColours tries one of every combinations with each of the tools.
func testColours(t *testing.T, all map[string]*ffmpeg.Tools, every int) {
	source, n := 0, 0
	for _, matrix := range matrices {
		for _, rang := range []string{"tv", "pc"} {
			for _, format := range formats {
				source++
				c := colours{matrix, primaries[source%len(primaries)], transfers[source%len(transfers)], rang}
				if matrix == "ictcp" && source%3 > 0 { // it has no meaning with others
					c.primaries, c.transfer = "bt2020", "smpte2084"
				}
				if matrix == "chroma-derived-nc" && source%3 > 0 {
					c.primaries = []string{"bt709", "bt2020"}[source%3-1]
				}
				if format.name == "gbrp" {
					c.matrix, c.rang = "gbr", "pc"
				}
				var tried []order.Output
				for _, out := range outputs {
					if n++; n%every == 0 {
						tried = append(tried, out)
					}
				}
				if tried == nil {
					continue
				}
				t.Run(fmt.Sprint(source, c, format.name), func(t *testing.T) {
					t.Parallel()
					source := filepath.Join(t.TempDir(), "in.mkv")
					given := drawPatches(t, source, c, format)
					for by, tools := range all {
						t.Run(by, func(t *testing.T) { testColour(t, tools, source, given, c, tried) })
					}
				})
			}
		}
	}
}

// testColour makes outputs of a video of patches, whose colours are given.
func testColour(t *testing.T, tools *ffmpeg.Tools, source string, given [][3]float64, c colours, outs []order.Output) {
	dir := t.TempDir()
	refused := slices.Contains([]string{"bt2020c", "chroma-derived-c", "smpte2085"}, c.matrix) || c.matrix == "ictcp" && (c.transfer != "smpte2084" || c.primaries != "bt2020") ||
		c.matrix == "chroma-derived-nc" && c.primaries != "bt709" && c.primaries != "bt2020"
	info, err := tools.Probe(t.Context(), source)
	if refused {
		if !errors.Is(err, medium.ErrUnsupported) {
			t.Errorf("got %v and %v, want a refusal", info, err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	decoded := map[medium.PixelFormat][]byte{}
	var made []string
	var videos []*medium.Video
	for i, out := range outs {
		v := *info.Video
		v.Pixels = v.Keep(out)
		if info.Video = &v; decoded[v.Pixels] == nil {
			decoded[v.Pixels] = decodeAll(t, tools, info, patchFrames)
		}
		made, videos = append(made, filepath.Join(dir, strconv.Itoa(i))), append(videos, &v)
		encodeAll(t, tools, &v, out, decoded[v.Pixels], made[i])
	}
	for i, got := range shownAll(t, made) {
		name := fmt.Sprint(outs[i].Format, " ", outs[i].VideoCodec())
		if want := wantColours(c, videos[i]); got.colours != want {
			t.Errorf("%s: got %v, want %v", name, got.colours, want)
			continue
		}
		if by := meanError(got.patches, given, func(rgb [3]float64) [3]float64 { return wantColour(c, videos[i], rgb) }); !(by < 1) {
			t.Errorf("%s: the mean error of colours is %.2f of 255", name, by)
		}
	}
}

// meanError returns the mean error, of 255, of what is shown of colours. want returns what should be.
func meanError(shown, given [][3]float64, want func([3]float64) [3]float64) (sum float64) {
	for i, rgb := range given {
		rgb = want(rgb)
		for k := range rgb {
			sum += 255 * math.Abs(min(max(shown[i][k], 0), 1)-min(max(rgb[k], 0), 1)) / float64(3*len(given))
		}
	}
	return sum
}

// TestToSDR converts patches of a high dynamic range, of which some are brighter than the video says or outside of Rec. 709's colours, to SDR. It
// compares them with BT.2100's arithmetic and Hable's curve.
func TestToSDR(t *testing.T) {
	ten := formats[slices.IndexFunc(formats, func(s sampling) bool { return s.name == "yuv420p10le" })]
	for _, c := range []struct {
		name, matrix, primaries, transfer, display string
		brightest                                  float64
	}{
		{"PQ", "bt2020nc", "bt2020", "smpte2084", "", hdrBright},
		{"PQ of unknown primaries", "bt2020nc", "unknown", "smpte2084", "", hdrBright},
		{"HLG of unknown primaries and matrix", "unknown", "unknown", "arib-std-b67", "", hdrBright},
		{"PQ with a display of 4000", "bt2020nc", "bt2020", "smpte2084", "master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)", 4000},
		{"PQ with MaxCLL 600", "bt2020nc", "bt2020", "smpte2084", "max-cll=600,300:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(40000000,50)", 600},
		{"PQ darker than SDR", "bt2020nc", "bt2020", "smpte2084", "max-cll=60,30", sdrWhite},
		{"HLG", "bt2020nc", "bt2020", "arib-std-b67", "", hdrBright},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			source := filepath.Join(t.TempDir(), "in.mkv")
			drawn, rec := colours{c.matrix, c.primaries, c.transfer, "tv"}, colours{"bt2020nc", "bt2020", c.transfer, "tv"}
			given := drawPatches(t, source, drawn, ten, "-c:v", "libx265", "-x265-params", strings.TrimSuffix("log-level=error:lossless=1:"+c.display, ":"))
			for by, tools := range bothTools(t) {
				t.Run(by, func(t *testing.T) {
					made := filepath.Join(t.TempDir(), "out.mp4")
					info, err := tools.Probe(t.Context(), source)
					if err != nil {
						t.Fatal(err)
					}
					encodeAll(t, tools, info.Video, order.Output{Quality: order.High}, decodeAll(t, tools, info, patchFrames), made)
					got := shownAll(t, []string{made})[0]
					mean := meanError(got.patches, given, func(rgb [3]float64) [3]float64 { return toneMapped(light(rec, rgb), rec.primaries, c.brightest) })
					t.Logf("the mean error is %.2f of 255", mean)
					if want := (colours{"bt709", "bt709", "bt709", "tv"}); got.colours != want || !(mean < 1) {
						t.Errorf("got %v, want %v, and an error below 1", got.colours, want)
					}
				})
			}
		})
	}
}

// join makes a file of two parts, whose pictures show the same colour by different tags. Each part is written by a filter and in an encoder's pixel format.
func join(t *testing.T, filters [2]string, encoder ...string) string {
	t.Helper()
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		if text, err := exec.Command(ffmpegtest.Quick(), append([]string{"-v", "error"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	list := ""
	for i, filter := range filters {
		name := fmt.Sprintf("%d.mkv", i)
		args := append([]string{"-f", "lavfi", "-i", "color=0x20a040:s=64x64:r=25:d=0.2", "-vf", filter}, encoder...)
		run(append(args, "-bsf:v", "dump_extra", filepath.Join(dir, name))...)
		list += "file " + name + "\n"
	}
	path := filepath.Join(dir, "list")
	if err := os.WriteFile(path, []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	joined := filepath.Join(dir, "joined.mkv")
	run("-f", "concat", "-i", path, "-c", "copy", joined)
	return joined
}

var lossless = []string{"-c:v", "libx264", "-qp", "0", "-preset", "ultrafast"}

// TestMatrixChanges decodes a file that was joined of two, whose pictures show the same colour by different matrices.
func TestMatrixChanges(t *testing.T) {
	part := func(matrix string) string {
		return "format=gbrp,scale=out_color_matrix=" + matrix + ",format=yuv420p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=" + matrix
	}
	path := join(t, [2]string{part("bt709"), part("smpte170m")}, lossless...)
	for by, tools := range bothTools(t) {
		info, err := tools.Probe(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		frames, size := decodeAll(t, tools, info, 10), info.Video.FrameSize()
		for _, at := range []int{0, 64 * 64, 64 * 64 * 5 / 4} { // of Y, Cb, Cr
			if first, last := int(frames[at]), int(frames[9*size+at]); max(first-last, last-first) > 2 {
				t.Errorf("%s: %d became %d", by, first, last)
			}
		}
	}
}

// TestColoursChange decodes files that were joined of two with different transfer functions, primaries, or matrices that no filter converts. They are
// refused, unless both parts look alike.
func TestColoursChange(t *testing.T) {
	const sdr, untagged = "bt709:color_primaries=bt709:color_trc=bt709", "unknown:color_primaries=unknown:color_trc=unknown"
	const hlg = "bt2020nc:color_primaries=bt2020:color_trc=arib-std-b67"
	for i, c := range []struct{ first, then, want string }{
		{sdr, "bt709:color_primaries=bt709:color_trc=arib-std-b67", "transfer function changes in the middle: bt709, then arib-std-b67"},
		{sdr, "bt709:color_primaries=bt2020:color_trc=bt709", "primaries change in the middle: bt709, then bt2020"},
		{hlg, "bt2020nc:color_primaries=bt2020:color_trc=smpte2084", "transfer function changes in the middle: arib-std-b67, then smpte2084"},
		{hlg, "bt709:color_primaries=bt2020:color_trc=arib-std-b67", "matrix changes in the middle: bt2020nc, then bt709"},
		{untagged + ",tpad=stop_mode=clone:stop_duration=3", hlg, "transfer function changes in the middle: unknown, then arib-std-b67"},
		{untagged, hlg, "transfer function changes in the middle: unknown, then arib-std-b67"},
		{untagged, "bt709:color_primaries=bt2020:color_trc=bt709", "primaries change in the middle: unknown, then bt2020"},
		{sdr, "bt709:color_primaries=bt709:color_trc=bt2020-10", ""},
		{untagged, sdr, ""},
		{sdr, untagged, ""},
		{hlg, hlg, ""},
	} {
		part := func(tags string) string { return "format=yuv420p,setparams=range=tv:colorspace=" + tags }
		path := join(t, [2]string{part(c.first), part(c.then)}, lossless...)
		all := bothTools(t)
		if i > 0 {
			delete(all, "quick")
		}
		for by, tools := range all {
			info, err := tools.Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			frames, err := tools.OpenFrames(t.Context(), info, 100)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for frame := info.Video.NewFrame(); err == nil; n++ {
				err = frames.Read(frame)
			}
			frames.Close()
			got := ""
			if changed, ok := errors.AsType[medium.ColoursError](err); ok {
				got = changed.Error()
			} else if err != io.EOF || n != 11 {
				t.Errorf("%s, %s and %s: %d frames, %v", by, c.first, c.then, n-1, err)
			}
			if got != c.want || got != "" && !errors.Is(err, medium.ErrUnsupported) {
				t.Errorf("%s, %s and %s: got %v, want %q", by, c.first, c.then, err, c.want)
			}
		}
	}
}

// TestSizeChangesSoon probes and decodes files whose size, shape or pixel format changes after five pictures. The first one decides.
func TestSizeChangesSoon(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	for _, c := range []struct {
		first, then   string
		width, height int
		deep          bool
	}{
		{"scale=96:64,setsar=1,format=yuv420p", "scale=128:128,setsar=1,format=yuv420p", 96, 64, false},
		{"scale=128:128,setsar=1,format=yuv420p", "scale=96:64,setsar=1,format=yuv420p", 128, 128, false},
		{"setsar=2,format=yuv420p", "setsar=1,format=yuv420p", 128, 64, false},
		{"setsar=1,format=yuv420p", "setsar=1,format=yuv420p10le", 64, 64, false},
		{"setsar=1,format=yuv420p10le", "setsar=1,format=yuv420p", 64, 64, true},
	} {
		info, err := tools.Probe(t.Context(), join(t, [2]string{c.first, c.then}, lossless...))
		if err != nil {
			t.Fatal(err)
		}
		v := info.Video
		if deep := v.Keep(order.Output{Codec: order.HEVC}).Deep(); v.Width != c.width || v.Height != c.height || deep != c.deep {
			t.Errorf("%s, then %s: got %d × %d, more than 8 bits: %t", c.first, c.then, v.Width, v.Height, deep)
		}
		frames := decodeAll(t, tools, info, 10)
		for at := range c.width * c.height {
			if first := int(frames[at]) - int(frames[0]); first < -2 || first > 2 {
				t.Fatalf("%s, then %s: the first picture has bars", c.first, c.then)
			}
		}
	}
}

// TestOddColours decodes videos of odd sizes whose colours are converted.
func TestOddColours(t *testing.T) {
	for by, tools := range bothTools(t) {
		for tags, pixels := range map[string]string{"fcc:color_primaries=bt709:color_trc=bt709": "yuv444p", "bt2020nc:color_primaries=bt2020:color_trc=smpte2084": "yuv420p10le",
			"bt2020nc:color_primaries=bt2020:color_trc=arib-std-b67": "yuva444p10le"} {
			path := filepath.Join(t.TempDir(), "in.mkv")
			if text, err := exec.Command(ffmpegtest.Quick(), "-v", "error", "-f", "lavfi", "-i", fmt.Sprintf("color=gray:s=97x65:d=%g", patchFrames/25.),
				"-vf", "format="+pixels+",setparams=range=tv:colorspace="+tags, "-c:v", "ffv1", path).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			info, err := tools.Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if v := info.Video; v.Width != 96 || v.Height != 64 {
				t.Errorf("%s, %s: got %d × %d", by, tags, v.Width, v.Height)
			}
			decodeAll(t, tools, info, patchFrames)
		}
	}
}

// wantColours returns the tags of an output whose frames are those of v.
func wantColours(c colours, v *medium.Video) colours {
	want := colours{c.matrix, c.primaries, c.transfer, "tv"}
	switch {
	case v.LosesHDR():
		return colours{"bt709", "bt709", "bt709", "tv"}
	case c.matrix == "chroma-derived-nc":
		want.matrix = map[string]string{"bt709": "bt709", "bt2020": "bt2020nc"}[c.primaries]
	case slices.Contains([]string{"fcc", "ycgco", "ictcp", "gbr"}, c.matrix) || c.primaries == "jedec-p22":
		if want.matrix = "bt709"; v.HDR() {
			want.matrix = "bt2020nc"
		}
	}
	if c.primaries == "jedec-p22" {
		want.primaries = "smpte170m"
	}
	return want
}

// wantColour returns what an output whose frames are those of v shows of a colour.
func wantColour(c colours, v *medium.Video, rgb [3]float64) [3]float64 {
	switch {
	case v.LosesHDR():
		return toneMapped(light(c, rgb), c.primaries, hdrBright)
	case c.primaries == "jedec-p22" && v.HDR():
		return fromLight(c, primariesTo(c.primaries, "smpte170m").times(light(c, rgb)))
	case c.primaries == "jedec-p22":
		power := func(p float64) func(float64) float64 {
			return func(v float64) float64 { return math.Pow(max(v, 0), p) }
		}
		return each(power(1/2.4), primariesTo(c.primaries, "smpte170m").times(each(power(2.4), rgb)))
	}
	return rgb
}

const (
	patch       = 16 // side of a patch of one colour, pixels
	patchesWide = 6
	patchesHigh = 4
	patchFrames = 3
)

// drawPatches makes a video of patches by ffmpeg's arguments of a lossless encoder, by default FFV1, and returns the red, green and blue of each, from 0 to 1.
func drawPatches(t *testing.T, path string, c colours, format sampling, encoder ...string) (all [][3]float64) {
	t.Helper()
	for i := range patchesWide * patchesHigh {
		at := func(step float64) float64 { return .1 + .8*math.Mod(.13+float64(i)*step, 1) }
		all = append(all, [3]float64{at(.618), at(.382 * 1.7), at(.737)})
	}
	var planes [4][]uint16 // of a value for each patch
	full := c.rang == "pc"
	for i, rgb := range all {
		y, cb, cr := encodeColour(c, rgb)
		values := [4]uint16{quantised(y, false, full, format.bits), quantised(cb, true, full, format.bits), quantised(cr, true, full, format.bits), 1<<format.bits - 1}
		all[i] = decodeColour(c, restored(values[0], false, full, format.bits), restored(values[1], true, full, format.bits), restored(values[2], true, full, format.bits))
		if format.name == "gbrp" {
			all[i] = rgb
			values = [4]uint16{quantised(rgb[1], false, true, 8), quantised(rgb[2], false, true, 8), quantised(rgb[0], false, true, 8)}
		}
		for p, v := range values {
			planes[p] = append(planes[p], v)
		}
	}
	var raw bytes.Buffer
	for p, values := range planes {
		across, below, chroma := 1, 1, (p == 1 || p == 2) && format.name != "gbrp"
		if chroma {
			across, below = format.across, format.below
		}
		if p == 3 && !format.alpha {
			break
		}
		for y := range patchesHigh * patch / below {
			for x := range patchesWide * patch / across {
				v := values[y*below/patch*patchesWide+x*across/patch]
				if format.bits > 8 {
					_ = binary.Write(&raw, binary.LittleEndian, v)
				} else {
					raw.WriteByte(uint8(v))
				}
			}
		}
	}
	tags := "setparams=range=" + c.rang + ":color_primaries=" + c.primaries + ":color_trc=" + c.transfer + ":colorspace=" + c.matrix
	if encoder == nil {
		encoder = []string{"-c:v", "ffv1"}
	}
	cmd := exec.Command("ffmpeg", append(append([]string{"-v", "error", "-f", "rawvideo", "-pix_fmt", format.name, "-s", fmt.Sprintf("%dx%d", patchesWide*patch, patchesHigh*patch),
		"-r", "25", "-i", "pipe:0", "-vf", tags}, encoder...), path)...)
	cmd.Stdin = bytes.NewReader(bytes.Repeat(raw.Bytes(), patchFrames))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return all
}

// levels returns the value of 0, and the distance from it to that of 1, as a plane has them.
func levels(chroma, full bool, bits int) (zero, one float64) {
	factor := math.Pow(2, float64(bits-8))
	switch {
	case full && chroma:
		return 128 * factor, 256*factor - 1
	case full:
		return 0, 256*factor - 1
	case chroma:
		return 128 * factor, 224 * factor
	}
	return 16 * factor, 219 * factor
}

// quantised returns a value of Y, R, G or B, from 0 to 1, or of chroma, from -.5 to .5, as a plane has it.
func quantised(v float64, chroma, full bool, bits int) uint16 {
	zero, one := levels(chroma, full, bits)
	return uint16(min(max(math.Round(zero+one*v), 0), math.Pow(2, float64(bits))-1))
}

// restored is the inverse of quantised.
func restored(v uint16, chroma, full bool, bits int) float64 {
	zero, one := levels(chroma, full, bits)
	return (float64(v) - zero) / one
}

// decodeAll returns the n frames of a video.
func decodeAll(t *testing.T, tools *ffmpeg.Tools, info *medium.Info, n int) []byte {
	t.Helper()
	frames, err := tools.OpenFrames(t.Context(), info, n)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	size := info.Video.FrameSize()
	all := make([]byte, n*size)
	for i := range n {
		if err := frames.ReadPixels(all[i*size : (i+1)*size]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// encodeAll makes the output of a video whose frames stay as they are.
func encodeAll(t *testing.T, tools *ffmpeg.Tools, v *medium.Video, out order.Output, frames []byte, path string) {
	t.Helper()
	e, err := tools.Encode(t.Context(), v, out, "", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WritePixels(frames); err != nil {
		e.Abort()
		t.Fatal(err)
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
}

// shown is what a video shows: its tags, and the red, green and blue of its patches.
type shown struct {
	colours
	patches [][3]float64
}

// streamLine matches what ffmpeg tells of a stream of pictures: codec, pixel format, and in brackets the range and tags.
var streamLine = regexp.MustCompile(`(?m)^  Stream #(\d+):\d+.*: Video: .*?, (yuva?4[24][024]p\w*)(?:\(([^)]*)\))?, `)

// shownAll returns what videos of limited range show, by one process.
func shownAll(t *testing.T, paths []string) (all []shown) {
	t.Helper()
	args, dir := []string{"-nostdin", "-hide_banner"}, t.TempDir()
	for _, path := range paths {
		args = append(args, "-i", path)
	}
	for i := range paths {
		args = append(args, "-map", strconv.Itoa(i)+":v", "-frames:v", "1", "-f", "rawvideo", filepath.Join(dir, strconv.Itoa(i)))
	}
	text, err := exec.Command("ffmpeg", args...).CombinedOutput() // ffmpeg 7 takes the tags of ProRes without a matrix for unknown
	inputs, _, _ := strings.Cut(string(text), "\nStream mapping:")
	lines := streamLine.FindAllStringSubmatch(inputs, -1)
	if err != nil || len(lines) != len(paths) {
		t.Fatalf("%v: %d streams: %s", err, len(lines), text)
	}
	for _, line := range lines {
		raw, err := os.ReadFile(filepath.Join(dir, line[1]))
		if err != nil {
			t.Fatal(err)
		}
		c := parseColours(line[3])
		all = append(all, shown{c, shownPatches(t, raw, c, line[2])})
	}
	return all
}

// parseColours parses text such as "tv, bt709/bt470bg/unknown, progressive": matrix, primaries and transfer function, or all by one name.
func parseColours(text string) colours {
	c := colours{"unknown", "unknown", "unknown", "tv"} // encoders needn't say that the range is limited
	for part := range strings.SplitSeq(text, ", ") {
		three := strings.Split(part, "/")
		switch {
		case len(three) == 3:
			c.matrix, c.primaries, c.transfer = three[0], three[1], three[2]
		case part == "pc" || part == "tv":
			c.rang = part
		case part != "progressive" && part != "":
			c.matrix, c.primaries, c.transfer = part, part, part
		}
	}
	return c
}

var pixelNames = regexp.MustCompile(`^yuva?(4[24][024])p(\d*)(le)?$`)

// shownPatches returns the red, green and blue of the patches of a frame of limited range.
func shownPatches(t *testing.T, raw []byte, c colours, pixels string) (all [][3]float64) {
	t.Helper()
	name := pixelNames.FindStringSubmatch(pixels)
	if name == nil {
		t.Fatalf("pixels %s", pixels)
	}
	bits, _ := strconv.Atoi(cmp.Or(name[2], "8"))
	across, below := map[string]int{"420": 2, "422": 2, "444": 1}[name[1]], map[string]int{"420": 2, "422": 1, "444": 1}[name[1]]
	size := (bits + 7) / 8
	value := func(plane, x, y int) uint16 {
		const wide, high = patchesWide * patch, patchesHigh * patch
		at, row := 0, wide
		if plane > 0 {
			at, row = wide*high+(plane-1)*(wide/across)*(high/below), wide/across
			x, y = x/across, y/below
		}
		at = size * (at + y*row + x)
		if size == 1 {
			return uint16(raw[at])
		}
		return binary.LittleEndian.Uint16(raw[at:])
	}
	for i := range patchesWide * patchesHigh {
		x, y := i%patchesWide*patch+patch/2, i/patchesWide*patch+patch/2
		all = append(all, decodeColour(c, restored(value(0, x, y), false, false, bits), restored(value(1, x, y), true, false, bits), restored(value(2, x, y), true, false, bits)))
	}
	return all
}

// weights has the shares of red and blue in luma by matrices of Rec. ITU-T H.273.
var weights = map[string][2]float64{"bt709": {.2126, .0722}, "fcc": {.3, .11}, "bt470bg": {.299, .114}, "smpte170m": {.299, .114}, "smpte240m": {.212, .087},
	"bt2020nc": {.2627, .0593}, "unknown": {.299, .114}}

// weightsOf returns those of a matrix that has weights.
func weightsOf(c colours) (red, blue float64) {
	w, known := weights[c.matrix]
	switch hdr := c.transfer == "smpte2084" || c.transfer == "arib-std-b67"; {
	case hdr && c.matrix == "unknown":
		w = weights["bt2020nc"]
	case !known && c.primaries == "bt2020": // chroma-derived-nc
		w = weights["bt2020nc"]
	case !known:
		w = weights["bt709"]
	}
	return w[0], w[1]
}

// Of Rec. ITU-R BT.2100: from linear red, green and blue to LMS, and from LMS by PQ to ICtCp.
var (
	toLMS   = matrix3{{1688 / 4096., 2146 / 4096., 262 / 4096.}, {683 / 4096., 2951 / 4096., 462 / 4096.}, {99 / 4096., 309 / 4096., 3688 / 4096.}}
	toICtCp = matrix3{{.5, .5, 0}, {6610 / 4096., -13613 / 4096., 7003 / 4096.}, {17933 / 4096., -17390 / 4096., -543 / 4096.}}
)

// scaleOf returns the scale of luma divided by that of chroma.
func scaleOf(c colours) float64 {
	if c.rang == "pc" {
		return 1
	}
	return 219 / 224.
}

// encodeColour returns luma and chroma by H.273.
func encodeColour(c colours, rgb [3]float64) (y, cb, cr float64) {
	r, g, b, scale := rgb[0], rgb[1], rgb[2], scaleOf(c)
	switch c.matrix {
	case "ycgco": // of integers, so that chroma of limited range has the scale of luma
		return g/2 + (r+b)/4, scale * (g/2 - (r+b)/4), scale * (r - b) / 2
	case "ictcp":
		i := toICtCp.times(each(lightToPQ, toLMS.times(each(pqToLight, rgb))))
		return i[0], i[1], i[2]
	}
	red, blue := weightsOf(c)
	y = red*r + (1-red-blue)*g + blue*b
	return y, (b - y) / (2 * (1 - blue)), (r - y) / (2 * (1 - red))
}

// decodeColour is the inverse of encodeColour.
func decodeColour(c colours, y, cb, cr float64) [3]float64 {
	scale := scaleOf(c)
	switch c.matrix {
	case "ycgco":
		cb, cr = cb/scale, cr/scale
		return [3]float64{y - cb + cr, y + cb, y - cb - cr}
	case "ictcp":
		return each(lightToPQ, toLMS.inverse().times(each(pqToLight, toICtCp.inverse().times([3]float64{y, cb, cr}))))
	}
	red, blue := weightsOf(c)
	r, b := y+2*(1-red)*cr, y+2*(1-blue)*cb
	return [3]float64{r, (y - red*r - blue*b) / (1 - red - blue), b}
}

func each(f func(float64) float64, v [3]float64) [3]float64 {
	return [3]float64{f(v[0]), f(v[1]), f(v[2])}
}

// pqToLight and lightToPQ are the functions of SMPTE ST 2084. 1 is 10,000 cd/m².
func pqToLight(v float64) float64 {
	p := math.Pow(max(v, 0), 32/2523.)
	return math.Pow(max(p-107/128., 0)/(2413/128.-2392/128.*p), 8192/1305.)
}

func lightToPQ(v float64) float64 {
	p := math.Pow(max(v, 0), 1305/8192.)
	return math.Pow((107/128.+2413/128.*p)/(1+2392/128.*p), 2523/32.)
}

// chromaticities are those of red, green, blue and white by H.273.
var chromaticities = map[string][4][2]float64{
	"bt709":     {{.64, .33}, {.3, .6}, {.15, .06}, {.3127, .329}},
	"bt470m":    {{.67, .33}, {.21, .71}, {.14, .08}, {.31, .316}},
	"bt470bg":   {{.64, .33}, {.29, .6}, {.15, .06}, {.3127, .329}},
	"smpte170m": {{.63, .34}, {.31, .595}, {.155, .07}, {.3127, .329}},
	"smpte240m": {{.63, .34}, {.31, .595}, {.155, .07}, {.3127, .329}},
	"film":      {{.681, .319}, {.243, .692}, {.145, .049}, {.31, .316}},
	"bt2020":    {{.708, .292}, {.17, .797}, {.131, .046}, {.3127, .329}},
	"smpte428":  {{1, 0}, {0, 1}, {0, 0}, {1 / 3., 1 / 3.}},
	"smpte431":  {{.68, .32}, {.265, .69}, {.15, .06}, {.314, .351}},
	"smpte432":  {{.68, .32}, {.265, .69}, {.15, .06}, {.3127, .329}},
	"jedec-p22": {{.63, .34}, {.295, .605}, {.155, .077}, {.3127, .329}},
}

// matrix3 is a matrix of 3 rows.
type matrix3 [3][3]float64

func (m matrix3) times(v [3]float64) (out [3]float64) {
	for i, row := range m {
		out[i] = row[0]*v[0] + row[1]*v[1] + row[2]*v[2]
	}
	return out
}

func (m matrix3) inverse() (out matrix3) {
	cofactor := func(i, k int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (k+1)%3, (k+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	det := m[0][0]*cofactor(0, 0) + m[0][1]*cofactor(0, 1) + m[0][2]*cofactor(0, 2)
	for i := range 3 {
		for k := range 3 {
			out[k][i] = cofactor(i, k) / det
		}
	}
	return out
}

// toXYZ returns the matrix from linear red, green and blue to CIE XYZ.
func toXYZ(primaries string) (m matrix3) {
	c := chromaticities[primaries]
	xyz := func(p [2]float64) [3]float64 { return [3]float64{p[0], p[1], 1 - p[0] - p[1]} }
	for k := range 3 {
		for i, v := range xyz(c[k]) {
			m[i][k] = v
		}
	}
	white := xyz(c[3])
	for i := range white {
		white[i] /= c[3][1]
	}
	for k, s := range m.inverse().times(white) {
		for i := range 3 {
			m[i][k] *= s
		}
	}
	return m
}

// bradford is the matrix from CIE XYZ to the responses of cones in which whites are adapted.
var bradford = matrix3{{.8951, .2664, -.1614}, {-.7502, 1.7135, .0367}, {.0389, -.0685, 1.0296}}

// primariesTo returns the matrix of linear red, green and blue from primaries to others.
func primariesTo(from, to string) (m matrix3) {
	in, out := toXYZ(from), toXYZ(to)
	white := [3]float64{1, 1, 1}
	a, b := bradford.times(in.times(white)), bradford.times(out.times(white))
	for k := range 3 {
		var unit [3]float64
		unit[k] = 1
		v := bradford.times(in.times(unit))
		for i := range v {
			v[i] *= b[i] / a[i]
		}
		v = out.inverse().times(bradford.inverse().times(v))
		for i := range v {
			m[i][k] = v[i]
		}
	}
	return m
}

// These are light in cd/m².
const (
	sdrWhite  = 100.
	hdrBright = 1000. // of HLG, and of PQ that tells no other
	pqMost    = 10_000.
)

// hlgGamma is that of the OOTF of Rec. ITU-R BT.2100 for hdrBright.
const hlgGamma = 1.2

// light returns the linear light of a colour of a high dynamic range, as multiples of sdrWhite, by the EOTF of BT.2100.
func light(c colours, rgb [3]float64) [3]float64 {
	if c.transfer == "smpte2084" {
		return each(func(v float64) float64 { return pqToLight(v) * pqMost / sdrWhite }, rgb)
	}
	scene := each(func(v float64) float64 {
		if v <= .5 {
			return v * v / 3
		}
		return (math.Exp((v-hlgC)/hlgA) + hlgB) / 12
	}, rgb)
	y := toXYZ(c.primaries).times(scene)[1]
	return each(func(v float64) float64 { return v * math.Pow(y, hlgGamma-1) * hdrBright / sdrWhite }, scene)
}

// These are the constants of HLG.
const hlgA, hlgB, hlgC = .17883277, .28466892, .55991073

// fromLight is the inverse of light, for the primaries smpte170m.
func fromLight(c colours, rgb [3]float64) [3]float64 {
	if c.transfer == "smpte2084" {
		return each(func(v float64) float64 { return lightToPQ(max(v, 0) * sdrWhite / pqMost) }, rgb)
	}
	y := toXYZ("smpte170m").times(rgb)[1] * sdrWhite / hdrBright
	return each(func(v float64) float64 {
		v = max(0, v*sdrWhite/hdrBright*math.Pow(y, 1/hlgGamma-1))
		if v <= 1/12. {
			return math.Sqrt(3 * v)
		}
		return hlgA*math.Log(12*v-hlgB) + hlgC
	}, rgb)
}

// toneMapped returns what light of primaries is in Rec. 709: with Hable's curve, which brings the brightest to white, and the transfer function of
// BT.1886.
func toneMapped(rgb [3]float64, primaries string, brightest float64) [3]float64 {
	curve := func(v float64) float64 { return (v*(.15*v+.05)+.004)/(v*(.15*v+.5)+.06) - .02/.3 }
	rgb = primariesTo(primaries, "bt709").times(rgb)
	most := max(rgb[0], rgb[1], rgb[2], 1e-6)
	factor := curve(most) / curve(brightest/sdrWhite) / most
	return each(func(v float64) float64 { return math.Pow(max(v*factor, 0), 1/2.4) }, rgb)
}
