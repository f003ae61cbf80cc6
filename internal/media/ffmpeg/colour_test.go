package ffmpeg_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

// What ffmpeg's tags of colours can be, and the pixel formats of videos.
var (
	matrices  = []string{"bt709", "fcc", "bt470bg", "smpte170m", "smpte240m", "ycgco", "bt2020nc", "bt2020c", "chroma-derived-nc", "chroma-derived-c", "ictcp", "smpte2085", "unknown"}
	primaries = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "film", "bt2020", "smpte428", "smpte431", "smpte432", "jedec-p22"}
	transfers = []string{"bt709", "bt470m", "bt470bg", "smpte170m", "smpte240m", "linear", "log100", "log316", "iec61966-2-4", "bt1361e",
		"iec61966-2-1", "bt2020-10", "bt2020-12", "smpte2084", "smpte428", "arib-std-b67"}
	formats = []sampling{{"yuv420p", 8, 2, 2, false}, {"yuv420p10le", 10, 2, 2, false}, {"yuv422p10le", 10, 2, 1, false}, {"yuv444p", 8, 1, 1, false}, {"yuva444p10le", 10, 1, 1, true}, {"gbrp", 8, 1, 1, false}}
	outputs = []order.Output{{}, {Format: order.MOV}, {Codec: order.HEVC}, {Format: order.MOV, Codec: order.HEVC}, {Codec: order.VP9}, {Format: order.WebM}, {Format: order.MOV, Codec: order.ProRes}}
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
func TestColours(t *testing.T) { testColours(t, 61) }

// TestColours_long is TestColours with all combinations of matrix, range, pixel format and output; primaries and transfer functions take turns.
func TestColours_long(t *testing.T) { testColours(t, 1) }

func testColours(t *testing.T, every int) {
	tools, n := ffmpegtest.InstalledTools(t), 0
	for _, matrix := range matrices {
		for _, rang := range []string{"tv", "pc"} {
			for _, format := range formats {
				for _, out := range outputs {
					n++
					c := colours{matrix, primaries[n%len(primaries)], transfers[n%len(transfers)], rang}
					if matrix == "ictcp" && n%3 > 0 { // it has no meaning with others
						c.primaries, c.transfer = "bt2020", "smpte2084"
					}
					if matrix == "chroma-derived-nc" && n%3 > 0 {
						c.primaries = []string{"bt709", "bt2020"}[n%3-1]
					}
					if format.name == "gbrp" {
						c.matrix, c.rang = "gbr", "pc"
					}
					if n%every > 0 {
						continue
					}
					t.Run(fmt.Sprint(n, c, format.name, out.Format, out.VideoCodec()), func(t *testing.T) {
						t.Parallel()
						testColour(t, tools, c, format, out)
					})
				}
			}
		}
	}
}

func testColour(t *testing.T, tools *ffmpeg.Tools, c colours, format sampling, out order.Output) {
	dir := t.TempDir()
	source, made := filepath.Join(dir, "in.mkv"), filepath.Join(dir, "out")
	given := drawPatches(t, source, c, format)
	hdr := c.transfer == "smpte2084" || c.transfer == "arib-std-b67"
	info, err := tools.Probe(t.Context(), source)
	refused := slices.Contains([]string{"bt2020c", "chroma-derived-c", "smpte2085"}, c.matrix) || c.matrix == "ictcp" && (c.transfer != "smpte2084" || c.primaries != "bt2020") ||
		c.matrix == "chroma-derived-nc" && c.primaries != "bt709" && c.primaries != "bt2020"
	if refused {
		if !errors.Is(err, ffmpeg.ErrUnsupported) {
			t.Errorf("got %v, want a refusal", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	info.Video.Pixels = info.Video.Keep(out)
	encodeAll(t, tools, info, out, made)
	got, pixels := probed(t, made)
	want := colours{c.matrix, c.primaries, c.transfer, "tv"}
	switch {
	case info.Video.LosesHDR():
		want = colours{"bt709", "bt709", "bt709", "tv"}
	case c.matrix == "chroma-derived-nc":
		want.matrix = map[string]string{"bt709": "bt709", "bt2020": "bt2020nc"}[c.primaries]
	case slices.Contains([]string{"fcc", "ycgco", "ictcp", "gbr"}, c.matrix) || c.primaries == "jedec-p22":
		if want.matrix = "bt709"; hdr && info.Video.Pixels.Deep() {
			want.matrix = "bt2020nc"
		}
	}
	if c.primaries == "jedec-p22" && want.primaries != "bt709" {
		want.primaries = "smpte170m"
	}
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if info.Video.LosesHDR() || hdr && c.primaries == "jedec-p22" { // the tone curve changes colours, and there is no such high dynamic range
		return
	}
	var sum float64
	shown := shownPatches(t, made, got, pixels)
	for i, rgb := range given {
		if c.primaries == "jedec-p22" {
			rgb = toSMPTE170M(rgb)
		}
		for k := range rgb {
			sum += 255 * math.Abs(min(max(shown[i][k], 0), 1)-rgb[k]) / float64(3*len(given))
		}
	}
	if !(sum < 1) {
		t.Errorf("the mean error of colours is %.2f of 255", sum)
	}
}

const (
	patch       = 16 // side of a patch of one colour, pixels
	patchesWide = 6
	patchesHigh = 4
	patchFrames = 3
)

// drawPatches makes a video of patches, and returns the red, green and blue of each, from 0 to 1.
func drawPatches(t *testing.T, path string, c colours, format sampling) (all [][3]float64) {
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
	cmd := exec.Command(ffmpegtest.Installed("ffmpeg"), "-v", "error", "-f", "rawvideo", "-pix_fmt", format.name, "-s", fmt.Sprintf("%dx%d", patchesWide*patch, patchesHigh*patch),
		"-r", "25", "-i", "pipe:0", "-vf", tags, "-c:v", "ffv1", path)
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

// encodeAll makes the output of a video whose frames stay as they are.
func encodeAll(t *testing.T, tools *ffmpeg.Tools, info *ffmpeg.Info, out order.Output, path string) {
	t.Helper()
	frames, err := tools.OpenFrames(t.Context(), info, patchFrames)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	e, err := tools.Encode(t.Context(), info.Video, out, "", path)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]byte, info.Video.FrameSize())
	for range patchFrames {
		if err := errors.Join(frames.ReadPixels(pixels), e.WritePixels(pixels)); err != nil {
			e.Abort()
			t.Fatal(err)
		}
	}
	if err := e.Finish(); err != nil {
		t.Fatal(err)
	}
}

// probed returns the tags of a video, and its pixel format.
func probed(t *testing.T, path string) (c colours, pixels string) {
	t.Helper()
	text, err := exec.Command(ffmpegtest.Installed("ffprobe"), "-v", "error", "-select_streams", "v", "-show_entries",
		"stream=pix_fmt,color_range,color_space,color_transfer,color_primaries", "-of", "csv=p=0", path).Output()
	f := strings.Split(strings.TrimSpace(string(text)), ",")
	if err != nil || len(f) != 5 {
		t.Fatalf("%v: %s", err, text)
	}
	if f[1] == "unknown" { // encoders needn't say that the range is limited
		f[1] = "tv"
	}
	return colours{f[2], f[4], f[3], f[1]}, f[0]
}

var pixelNames = regexp.MustCompile(`^yuva?(4[24][024])p(\d*)(le)?$`)

// shownPatches returns the red, green and blue of the patches of a video of limited range.
func shownPatches(t *testing.T, path string, c colours, pixels string) (all [][3]float64) {
	t.Helper()
	raw, err := exec.Command(ffmpegtest.Installed("ffmpeg"), "-v", "error", "-i", path, "-frames:v", "1", "-f", "rawvideo", "-").Output()
	name := pixelNames.FindStringSubmatch(pixels)
	if err != nil || name == nil {
		t.Fatalf("%v: pixels %s", err, pixels)
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
	if !known && c.primaries == "bt2020" { // chroma-derived-nc
		w = weights["bt2020nc"]
	} else if !known {
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
	"smpte170m": {{.63, .34}, {.31, .595}, {.155, .07}, {.3127, .329}},
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

// toSMPTE170M returns what a colour of EBU Tech. 3213 is by the primaries of SMPTE 170M.
func toSMPTE170M(rgb [3]float64) (out [3]float64) {
	for k, v := range rgb {
		out[k] = math.Pow(v, 2.4)
	}
	out = toXYZ("smpte170m").inverse().times(toXYZ("jedec-p22").times(out))
	for k, v := range out {
		out[k] = math.Pow(max(v, 0), 1/2.4)
	}
	return out
}
