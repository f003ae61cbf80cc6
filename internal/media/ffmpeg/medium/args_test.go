package medium

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFilters(t *testing.T) {
	plain := Video{Width: 1280, Height: 720, Rate: Rate{25, 1}, start: 512, Coded: [2]int{1280, 720}, shape: 1.75, timeBase: Rate{1, 512}}
	end := func(format string) string {
		return ",scale=w='if(lt(abs(dar/1.75-1),.01),1280,2*trunc(min(1280,1280*dar/1.75)/2+.5))'" +
			":h='if(lt(abs(dar/1.75-1),.01),720,2*trunc(min(720,720*1.75/dar)/2+.5))':eval=frame:out_range=tv," +
			"format=" + format + ",pad=1280:720:(ow-iw)/2:(oh-ih)/2:eval=frame"
	}
	for _, test := range []struct {
		name   string
		change func(*Video)
		span   Span
		want   string
	}{
		{"plain", func(*Video) {}, Span{To: 9}, "setpts=PTS-STARTPTS,showinfo=checksum=0,fps=25/1" + end("yuv420p")},
		{"seek", func(*Video) {}, Span{From: 50, To: 60, Seek: true},
			"setpts=PTS-(512),showinfo=checksum=0,fps=25/1,trim=start_pts=50:end_pts=60" + end("yuv420p")},
		{"late", func(v *Video) { v.lead = .4 }, Span{To: 9}, "setpts=PTS-STARTPTS+0.4/TB,showinfo=checksum=0,fps=25/1:start_time=0" + end("yuv420p")},
		{"seek in a late one", func(v *Video) { v.lead = .4 }, Span{From: 100, To: 110, Seek: true},
			"setpts=PTS-(512)+0.4/TB,showinfo=checksum=0,fps=25/1,trim=start_pts=100:end_pts=110" + end("yuv420p")},
		{"odd", func(v *Video) { v.Coded[0]++ }, Span{To: 9}, "setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1281:720,fps=25/1,crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0" + end("yuv420p")},
		{"resampled", func(v *Video) { v.Rate, v.KeepsLast = RateOf(23976), true }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,fps=24000/1001:eof_action=pass" + end("yuv420p")},
		{"interlaced", func(v *Video) { v.interlaced = true }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1280:720,bwdif=mode=send_frame:deint=interlaced,fps=25/1" + end("yuv420p")},
		{"alpha", func(v *Video) { v.alpha, v.rgb = true, true }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1280:720,fps=25/1,premultiply=inplace=1,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p" + end("yuv420p")},
		{"full range", func(v *Video) { v.fullRange = true }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,fps=25/1,scale=out_range=tv,format=yuv420p" + end("yuv420p")},
		{"HDR", func(v *Video) { v.transfer = "smpte2084" }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1280:720,fps=25/1,zscale=pin=bt2020:tin=smpte2084:min=bt2020nc:p=bt2020:t=linear:npl=100," +
				"format=gbrpf32le,zscale=p=bt709,tonemap=hable:desat=0:peak=10,zscale=t=bt709,format=gbrp16le,zscale=m=bt709:r=tv,format=yuv420p" + end("yuv420p")},
		{"10 bits", func(v *Video) { v.transfer, v.Pixels = hlg, YUV422P10 }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1280:720,fps=25/1,limiter" + end("yuv422p10le")},
		{"alpha kept", func(v *Video) { v.alpha, v.rgb, v.Pixels = true, true, YUVA420P }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,fps=25/1,scale=out_color_matrix=bt709:out_range=tv,format=yuva420p" + end("yuva420p")},
		{"RGB by PQ", func(v *Video) { v.rgb, v.transfer, v.Pixels = true, pq, YUV420P10 }, Span{To: 9},
			"setpts=PTS-STARTPTS,showinfo=checksum=0,scale=1280:720,fps=25/1,scale=out_color_matrix=bt2020:out_range=tv,format=yuv420p10le,limiter" + end("yuv420p10le")},
	} {
		v := plain
		test.change(&v)
		if got := v.filters(test.span); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
	}
}

func TestDecodeArgs(t *testing.T) {
	in := &Info{Path: "/a b/-it's: 1.mkv", Format: "matroska",
		Video: &Video{index: 2, Codec: "vp9", alpha: true, Width: 64, Height: 32, Rate: Rate{25, 1}, start: 3000, timeBase: Rate{1, 1000}}}
	got := strings.Join(in.DecodeArgs(Span{From: 100, To: 150, Seek: true}, 3), "\n")
	for _, want := range []string{
		"-i\nfile:/a b/-it's: 1.mkv\n", "-f\nmatroska\n", "-protocol_whitelist\nfile\n", "-c:v\nlibvpx-vp9\n",
		"-seek_timestamp\n1\n-noaccurate_seek\n-ss\n6.000000\n", "-map\n0:2\n", "-frames:v\n50\n", "-nostdin\n", "-threads\n3\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if early := in.DecodeArgs(Span{From: 5, To: 50, Seek: true}, 1); slices.Contains(early, "-ss") {
		t.Errorf("seeks within the first second: %s", early)
	}
}

func TestTags(t *testing.T) {
	for _, test := range []struct {
		video Video
		want  string
	}{
		{Video{}, "setparams=range=tv"},
		{Video{primaries: "bt709", transfer: "iec61966-2-1", matrix: "smpte170m"},
			"setparams=range=tv:color_primaries=bt709:color_trc=iec61966-2-1:colorspace=smpte170m"},
		{Video{primaries: "bt2020", transfer: "arib-std-b67", matrix: "bt2020nc"},
			"setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"},
		{Video{primaries: "bt2020", transfer: "arib-std-b67", matrix: "bt2020nc", Pixels: YUV420P10},
			"setparams=range=tv:color_primaries=bt2020:color_trc=arib-std-b67:colorspace=bt2020nc"},
		{Video{rgb: true, matrix: "gbr"}, "setparams=range=tv:colorspace=bt709"},
		{Video{matrix: "smpte,drawtext=textfile=x"}, "setparams=range=tv"},
	} {
		if got := test.video.Tags(); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.video, got, test.want)
		}
	}
}

// TestDeepFormats compares with all pixel formats of ffmpeg.
func TestDeepFormats(t *testing.T) {
	out, err := exec.Command("ffprobe", "-v", "error", "-show_pixel_formats", "-of", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Formats []struct {
			Name       string
			Components []struct {
				Depth int `json:"bit_depth"`
			}
			Flags struct{ Alpha int }
		} `json:"pixel_formats"`
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Formats) < 100 {
		t.Fatalf("%d pixel formats, %v", len(list.Formats), err)
	}
	for _, f := range list.Formats {
		deep := false
		for _, c := range f.Components {
			deep = deep || c.Depth > 8
		}
		if got := deepFormats.MatchString(f.Name); got != deep {
			t.Errorf("%s: more than 8 bits %t, want %t", f.Name, got, deep)
		}
		if got, want := hasAlpha(f.Name), f.Flags.Alpha == 1; got != want {
			t.Errorf("%s: alpha %t, want %t", f.Name, got, want)
		}
	}
}

func TestRates(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"25/1", "25/1"},
		{"2997/100", "30000/1001"},
		{"24000/1001", "24000/1001"},
		{"24/1", "24/1"},
		{"11988/500", "24000/1001"},
		{"1000000/33333", "30/1"},
		{"2987/100", "29870/1000"},
		{"1/10", "1000/1000"},
		{"240/1", "240000/1000"},
	} {
		r, ok := ParseRate(test.in)
		if got, _ := r.snap(); !ok || got.String() != test.want {
			t.Errorf("%s: got %s, want %s", test.in, got, test.want)
		}
	}
	for _, bad := range []string{"", "0/0", "1/0", "-1/1", "x", "1/x", "99999999999/1", "1"} {
		if r, ok := ParseRate(bad); ok {
			t.Errorf("%q is the rate %s", bad, r)
		}
	}
}

func TestRateOf(t *testing.T) {
	for frames, want := range map[int64]string{
		25000: "25000/1000", 23976: "24000/1001", 29970: "30000/1001", 47952: "48000/1001", 59940: "60000/1001",
		119880: "120000/1001", 29971: "29971/1000", 24000: "24000/1000", 1000: "1000/1000",
	} {
		if got := RateOf(frames).String(); got != want {
			t.Errorf("%d: got %s, want %s", frames, got, want)
		}
	}
}

func TestFrames(t *testing.T) {
	for _, test := range []struct {
		rate    Rate
		samples int64
		want    int
	}{
		{Rate{25, 1}, 16000, 25},
		{Rate{25, 1}, 16001, 26},
		{Rate{25, 1}, 1, 1},
		{Rate{30000, 1001}, 16016, 30},
		{Rate{30000, 1001}, 3600 * 16000, 107893},
	} {
		if got := test.rate.Frames(test.samples, 16000); got != test.want {
			t.Errorf("%s, %d samples: got %d, want %d", test.rate, test.samples, got, test.want)
		}
	}
}

func TestParseSeconds(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"1.5": 1500 * time.Millisecond, "": 0, "N/A": 0, "-3": 0, "NaN": 0, "1e300": 0, "+Inf": 0,
	} {
		if got := parseSeconds(in); got != want {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
}
