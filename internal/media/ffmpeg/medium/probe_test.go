package medium

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// answer returns ffprobe's output for one video stream.
func answer(stream string) []byte {
	return fmt.Appendf(nil, `{"format": {"format_name": "avi", "duration": "2.5"}, "streams": [{
		"codec_type": "video", "codec_name": "h264", "pix_fmt": "yuv420p", "width": 640, "height": 480,
		"time_base": "1/90000", "avg_frame_rate": "25/1", "disposition": {"attached_pic": 0}, %s}]}`, stream)
}

func TestDisplaySize(t *testing.T) {
	for _, test := range []struct {
		stream        string
		width, height int // 0 for an error
	}{
		{`"index": 0`, 640, 480},
		{`"width": 641, "height": 479`, 640, 478},
		{`"side_data_list": [{"rotation": -90}]`, 480, 640},
		{`"side_data_list": [{"rotation": 180}]`, 640, 480},
		{`"side_data_list": [{}, {"rotation": 270}]`, 480, 640},
		{`"sample_aspect_ratio": "0:1"`, 640, 480},
		{`"sample_aspect_ratio": "16:11", "width": 720, "height": 576`, 1048, 576},
		{`"sample_aspect_ratio": "16:11", "width": 720, "height": 576, "side_data_list": [{"rotation": 90}]`, 576, 1048},
		{`"sample_aspect_ratio": "1:1", "width": 641`, 640, 480},
		{`"sample_aspect_ratio": "1:100000"`, 0, 0},
		{`"sample_aspect_ratio": "2000000000:1"`, 0, 0},
		{`"width": 0`, 0, 0},
		{`"width": 1`, 0, 0},
		{`"width": -640`, 0, 0},
		{`"height": 999999999`, 0, 0},
		{`"codec_name": ""`, 0, 0},
		{`"time_base": "0/0"`, 0, 0},
	} {
		info, err := parseProbe(answer(test.stream), "")
		if test.width == 0 {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: error %v, want ErrUnsupported", test.stream, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.stream, err)
		} else if v := info.Video; v.Width != test.width || v.Height != test.height {
			t.Errorf("%s: got %d × %d, want %d × %d", test.stream, v.Width, v.Height, test.width, test.height)
		}
	}
}

func TestPixelKinds(t *testing.T) {
	for _, test := range []struct {
		stream                            string
		alpha, rgb, full, interlaced, hdr bool
	}{
		{`"index": 0`, false, false, false, false, false},
		{`"pix_fmt": "yuva444p10le"`, true, false, false, false, false},
		{`"tags": {"alpha_mode": "1"}`, true, false, false, false, false},
		{`"pix_fmt": "argb"`, true, true, false, false, false},
		{`"pix_fmt": "gbrp10le"`, false, true, false, false, false},
		{`"pix_fmt": "yuvj420p"`, false, false, true, false, false},
		{`"color_range": "pc"`, false, false, true, false, false},
		{`"field_order": "tt"`, false, false, false, true, false},
		{`"color_transfer": "arib-std-b67"`, false, false, false, false, true},
	} {
		info, err := parseProbe(answer(test.stream), "")
		if err != nil {
			t.Errorf("%s: %v", test.stream, err)
			continue
		}
		v := info.Video
		got := [...]bool{v.alpha, v.rgb, v.fullRange, v.interlaced, v.HDR()}
		if want := [...]bool{test.alpha, test.rgb, test.full, test.interlaced, test.hdr}; got != want {
			t.Errorf("%s: alpha, RGB, full range, interlaced, HDR: got %v, want %v", test.stream, got, want)
		}
	}
}

func TestRateOfTheFirstPictures(t *testing.T) {
	const frames = `"index": 0, "time_base": "1/1000"}], "packets_and_frames": [{"type": "frame", "stream_index": 1, "best_effort_timestamp": 7},
		{"type": "frame", "stream_index": 0, "best_effort_timestamp": 500}, {"type": "frame", "stream_index": 0, "best_effort_timestamp": 540},
		{"stream_index": 0}, {"type": "frame", "stream_index": 0, "best_effort_timestamp": 580`
	for _, test := range []struct{ stream, want string }{
		{frames, "25/1"},
		{`"avg_frame_rate": "1000/1", ` + frames, "25/1"},
		{`"avg_frame_rate": "0/0", ` + frames, "25/1"},
		{`"avg_frame_rate": "30/1", ` + frames, "30/1"},
		{`"avg_frame_rate": "0/0"`, "25/1"},
		{`"avg_frame_rate": "1000/1", "time_base": "1/1000"}], "packets_and_frames": [{"type": "frame", "stream_index": 0, "best_effort_timestamp": 0},
			{"type": "frame", "stream_index": 0, "best_effort_timestamp": 1`, "1000000/1000"},
	} {
		info, err := parseProbe(answer(test.stream), "")
		if err != nil {
			t.Errorf("%s: %v", test.stream, err)
		} else if got := info.Video.Rate.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.stream, got, test.want)
		}
	}
}

// TestRateOfUnevenPictures has the average and the fitted rate that ffprobe told of media like these.
func TestRateOfUnevenPictures(t *testing.T) {
	phone, film, telecined := []int64{0, 33, 67, 100, 133, 200}, []int64{0, 42, 83, 125, 167, 208}, []int64{0, 50, 83, 133, 167, 217}
	for _, test := range []struct {
		name, format, average, fit, want string
		times                            []int64
	}{
		{"slow, even", "mov", "10/1", "10/1", "10/1", nil},
		{"as slow at first, at least", "matroska", "10/1", "10/1", "30/1", nil},
		{"a film, by its first pictures", "matroska", "1000/42", "24000/1001", "24000/1001", nil},
		{"interlaced", "mpegts", "25/1", "50/1", "25/1", nil},
		{"a phone's camera", "mov", "21600000/717109", "30/1", "30/1", nil},
		{"a camera in the dark", "mov", "1100/53", "30/1", "30/1", nil},
		{"a screen that moves most of the time", "mov", "960/41", "60/1", "60/1", nil},
		{"a screen that mostly stands", "mov", "490000/75841", "60/1", "30/1", nil},
		{"a screen that stands at first", "mov", "181/4", "5/1", "45250/1000", nil},
		{"each third picture of 15 is missing", "mov", "10/1", "15/1", "30/1", nil},
		{"nothing fits", "mov", "10800000/359047", "90000/1", "30080/1000", nil},
		{"nothing fits, slow", "mov", "12/1", "90000/1", "30/1", nil},
		{"slow motion", "mov", "2382/10", "240/1", "240/1", nil},
		{"a phone, by chance of a film's average", "mov", "2402/100", "30/1", "30/1", phone},
		{"a film", "mov", "2402/100", "120/1", "24/1", film},
		{"a film of two and three fields", "mpegts", "24000/1001", "60000/1001", "24000/1001", telecined},
		{"a screen that moves half of the time", "mov", "30/1", "60/1", "60/1", []int64{0, 17, 33, 50, 67}},
		{"one picture a second", "matroska", "1/1", "1/1", "30/1", []int64{0, 1000, 2000}},
	} {
		s := stream{AvgRate: test.average, FitRate: test.fit, TimeBase: "1/1000"}
		if got, _ := s.rate(test.format, append(test.times, 0)[:max(1, len(test.times))]).snap(); got.Float() != mustRate(t, test.want).Float() {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestStillBesideFilm takes the film of an AVIF that moves, beside which ffmpeg 7 lists a still picture, and keeps tracks of other files that state no
// length.
func TestStillBesideFilm(t *testing.T) {
	for brand, want := range map[string]int{"avis": 1, "isom": 2} {
		one := `{"codec_type": "video", "codec_name": "av1", "pix_fmt": "yuv420p", "width": 64, "height": 48, "time_base": "1/1000", "avg_frame_rate": "25/1"`
		report := fmt.Sprintf(`{"format": {"format_name": "mov,mp4,m4a,3gp,3g2,mj2", "tags": {"major_brand": %q}}, "streams": [%s}, %[2]s, "index": 1, "duration": "2.0"}]}`, brand, one)
		info, err := parseProbe([]byte(report), "")
		if err != nil {
			t.Fatal(err)
		}
		if info.VideoTracks != want {
			t.Errorf("%s: got %d tracks, want %d", brand, info.VideoTracks, want)
		}
	}
}

// mustRate parses a rate.
func mustRate(t *testing.T, s string) Rate {
	t.Helper()
	r, ok := ParseRate(s)
	if !ok {
		t.Fatalf("%q is no rate", s)
	}
	return r
}

// TestStated reads the length of the video that the file states.
func TestStated(t *testing.T) {
	const sound = `}, {"codec_type": "audio", "codec_name": "aac", "channels": 2, "sample_rate": "48000"`
	const late = `, "start_pts": 90000` // 1 s
	for _, test := range []struct{ stream, want string }{
		{`"duration": "2.4"` + sound, "2.4s"},
		{`"duration": "2.4"` + late, "2.4s"},
		{`"index": 0`, "2.5s"},
		{`"index": 0` + late, "1.5s"},
		{`"index": 0` + sound, "0s"},
		{`"tags": {"DURATION": "01:02:08.5"}` + sound, "1h2m8.5s"},
		{`"tags": {"DURATION": "00:00:08.500000000"}` + late + sound, "7.5s"},
		{`"tags": {"DURATION": "00:00:00.5"}` + late + sound, "0s"},
		{`"tags": {"DURATION": "8.5"}` + sound, "0s"},
		{`"tags": {"DURATION": "00:00:1e300"}` + sound, "0s"},
		{`"tags": {"DURATION": "-1:00:00"}` + sound, "0s"},
	} {
		info, err := parseProbe(answer(test.stream), "")
		if err != nil {
			t.Errorf("%s: %v", test.stream, err)
		} else if got := info.Video.Stated.String(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.stream, got, test.want)
		}
	}
}

// cover returns a stream with a cover.
func cover(index int) string {
	return fmt.Sprintf(`"index": %d, "disposition": {"attached_pic": 1}`, index)
}

// read ends the list of streams, and adds one packet of each stream from first on, with the sizes
// in bytes. answer closes the last one.
func read(first int, sizes ...int) string {
	var packets []string
	for i, size := range sizes {
		packets = append(packets, fmt.Sprintf(`{"type": "packet", "stream_index": %d, "size": "%d"}`, first+i, size))
	}
	return `}], "packets_and_frames": [` + strings.TrimSuffix(strings.Join(packets, ", "), "}")
}

// TestAttachments refuses files whose attachments or covers would fill the memory.
func TestAttachments(t *testing.T) {
	const small, large = `"index": 0}, {"codec_type": "attachment", "extradata_size": 40000000`, `, {"codec_type": "attachment", "extradata_size": 20000000`
	for _, test := range []struct {
		streams string
		fits    bool
	}{
		{small, true},
		{small + "}" + large, false},
		{`"extradata_size": 9223372036854775807}, {"extradata_size": 9223372036854775807`, false},
		{`"extradata_size": -9223372036854775808`, true},
		{`"index": 0}, {"codec_type": "attachment"`, false},
		{cover(0) + read(0, 40000000), true},
		{cover(0) + read(0, 60000000), false},
		{cover(0) + read(1, 40000000), false}, // the size of the cover is unknown
		{cover(0) + `}, {` + cover(1) + read(0, 40000000, 40000000), false},
		{cover(0) + `}, ` + small + read(0, 40000000), false},
		{`"index": 0` + read(0, 60000000), true}, // a picture of the video, which is not kept
	} {
		if _, err := parseProbe(answer(test.streams), ""); (err == nil) != test.fits || err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v, want it accepted: %t", test.streams, err, test.fits)
		}
	}
}

// TestMinSampleRate ignores sound whose rate is too low for speech.
func TestMinSampleRate(t *testing.T) {
	for rate, want := range map[string]bool{"8000": true, "1000": true, "999": false, "1": false, "0": false, "x": false} {
		info, err := parseProbe(fmt.Appendf(nil, `{"format": {"format_name": "wav"}, "streams": [{"codec_type": "audio", "codec_name": "aac", "channels": 2, "sample_rate": "%s"}]}`, rate), "")
		if err != nil || (info.Audio != nil) != want {
			t.Errorf("%s Hz: got %+v (%v), want sound: %t", rate, info, err, want)
		}
	}
}

func TestCoverPictureIsNoVideo(t *testing.T) {
	info, err := parseProbe(answer(cover(0)+read(0, 1000)), "")
	if err != nil || info.Video != nil {
		t.Errorf("got %+v, %v; want no video", info, err)
	}
}

// TestStillSize checks that a picture that lies on its side is turned once.
func TestStillSize(t *testing.T) {
	const stream = `{"streams": [{"codec_type": "video", "codec_name": "mjpeg", "pix_fmt": "yuvj420p", "width": 40, "height": 30, "time_base": "1/25"%s}], "packets_and_frames": [{"type": "packet"}, {"type": "frame"%s}, {"type": "frame"%s}]}`
	const turned = `, "side_data_list": [{"rotation": -90}]`
	for _, test := range []struct {
		stream, first, second string
		width, height         int // 0 × 0 if the picture can't be used
	}{
		{"", "", "", 40, 30},
		{"", turned, "", 30, 40},
		{"", turned, turned, 30, 40},
		{"", "", turned, 40, 30},
		{turned, turned, "", 30, 40},
		{`}, {"codec_type": "video"`, "", "", 0, 0},
	} {
		info, err := parseProbe(fmt.Appendf(nil, stream, test.stream, test.first, test.second), "jpeg_pipe")
		if test.width == 0 {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%+v: got %v, want %v", test, err, ErrUnsupported)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if v := info.Video; !info.Still || v.Width != test.width || v.Height != test.height {
			t.Errorf("%+v: got %d × %d", test, v.Width, v.Height)
		}
	}
}

func FuzzProbe(f *testing.F) {
	f.Add(answer(`"index": 0, "sample_aspect_ratio": "16:11", "side_data_list": [{"rotation": -90}]`))
	f.Add(answer(`"index": 0, "side_data_list": [{"rotation": 45, "displaymatrix": "\n00000000: 1 1 0\n00000001: -1 1 0\n00000002: 0 0 1"}]`))
	f.Add([]byte(`{"format": {"format_name": "wav"}, "streams": [{"codec_type": "audio", "codec_name": "aac", "channels": 2, "sample_rate": "1e9"}]}`))
	f.Add([]byte(`{"packets_and_frames": [{"type": "frame", "stream_index": 0, "best_effort_timestamp": 9223372036854775807}], "format": {}}`))
	f.Add([]byte(`{"streams": [{"codec_type": "video", "codec_name": "png", "pix_fmt": "rgb24", "width": 40, "height": 30, "time_base": "1/25"}], "packets_and_frames": [{"type": "frame", "side_data_list": [{"rotation": 90}]}]}`))
	f.Add(answerHDR(pq, "", "{"+usualDisplay+"}, {"+usualLight+"}", `{"max_luminance": "2147483648/0", "max_content": -9223372036854775808}`))
	f.Add(answerHDR(pq, usualLight, `{"red_x": "1/1:qpfile=x", "min_luminance": "9e9"}`, `{"max_content": 9223372036854775807, "max_average": 9223372036854775807}`))
	f.Add([]byte(`{}`))
	check := func(t *testing.T, b []byte, still string) {
		info, err := parseProbe(b, still)
		if err != nil {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("error %v, want ErrUnsupported", err)
			}
			return
		}
		if info.Duration < 0 {
			t.Errorf("duration %v", info.Duration)
		}
		v := info.Video
		if v == nil {
			return
		}
		if v.Width < 2 || v.Height < 2 || v.Width%2 != 0 || v.Height%2 != 0 || v.Width > math.MaxInt32 {
			t.Errorf("size %d × %d", v.Width, v.Height)
		}
		if fps := v.Rate.Float(); !(fps >= 1) || math.IsInf(fps, 0) {
			t.Errorf("rate %s", v.Rate)
		}
		info.DecodeArgs(Span{From: 1e6, To: 2e6, Seek: true}, 1)
		info.PacketArgs(1e6)
		v.Tags()
		v.Pixels = YUV420P10
		if params := v.MasteringParams(); !mastered.MatchString(params) {
			t.Errorf("parameters %q of x265", params)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		check(t, b, "")
		check(t, b, "jpeg_pipe")
	})
}

// TestTurn checks by which filters pictures are shown as display matrices say, as ffmpeg itself would.
func TestTurn(t *testing.T) {
	for _, c := range []struct {
		rotation float64
		matrix   string // a b c d of rows "a b 0" and "c d 0"
		want     []string
	}{
		{0, "1 0 0 1", nil},
		{0, "1 0 0 -1", []string{"vflip"}},
		{-90, "0 1 -1 0", []string{"transpose=clock"}},
		{270, "", []string{"transpose=clock"}},
		{-90, "0 1 1 0", []string{"transpose=cclock_flip"}},
		{90, "0 -1 1 0", []string{"transpose=cclock"}},
		{90, "0 -1 -1 0", []string{"transpose=clock_flip"}},
		{180, "-1 0 0 -1", []string{"hflip", "vflip"}},
		{-180, "-1 0 0 1", []string{"hflip"}},
		{180, "", []string{"hflip", "vflip"}},
		{-45, "1 1 -1 1", []string{"rotate=45*PI/180"}},
	} {
		var a, b, d, e int
		display := ""
		if n, _ := fmt.Sscan(c.matrix, &a, &b, &d, &e); n == 4 {
			display = fmt.Sprintf("\n00000000: %d %d 0\n00000001: %d %d 0\n00000002: 0 0 1073741824\n", a, b, d, e)
		}
		if got := (sideData{Rotation: c.rotation, Display: display}).turn(); !slices.Equal(got, c.want) {
			t.Errorf("%g, %s: got %q, want %q", c.rotation, c.matrix, got, c.want)
		}
	}
}
