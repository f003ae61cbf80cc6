package medium

import (
	"regexp"
	"strings"
	"testing"
)

// The side data of a video by PQ, as ffprobe tells them.
const (
	usualDisplay = `"red_x": "34000/50000", "red_y": "16000/50000", "green_x": "13250/50000", "green_y": "34500/50000", "blue_x": "3/20", "blue_y": "3000/50000",
		"white_point_x": "15635/50000", "white_point_y": "16450/50000", "min_luminance": "50/10000", "max_luminance": "1000/1"`
	usualLight  = `"max_content": 1000, "max_average": 400`
	wantDisplay = ":master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
	wantLight   = ":max-cll=1000,400"
)

// answerHDR returns ffprobe's output for a video with side data of its stream and of two frames.
func answerHDR(transfer, stream, first, second string) []byte {
	return answer(`"index": 0, "color_transfer": "` + transfer + `", "side_data_list": [{` + stream + `}]}], "packets_and_frames": [
		{"type": "frame", "stream_index": 1, "side_data_list": [{"max_content": 7}]},
		{"type": "frame", "stream_index": 0, "side_data_list": [{}, ` + first + `]}, {"type": "frame", "stream_index": 0, "side_data_list": [` + second + `]`)
}

// TestMastering keeps the mastering display and the light of a video by PQ, unless they are impossible.
func TestMastering(t *testing.T) {
	const other = `{"max_content": 9, "max_average": 8}`
	display := func(old, new string) string { return "{" + strings.Replace(usualDisplay, old, new, 1) + "}" }
	for _, test := range []struct {
		name, stream, first, second, want string
	}{
		{"none", "", "{}", "", ""},
		{"of a frame", "", "{" + usualDisplay + "}, {" + usualLight + "}", other, wantDisplay + wantLight},
		{"of the second frame", "", "{}", "{" + usualLight + "}", wantLight},
		{"of the stream", usualLight, "{" + usualDisplay + "}, " + other, "", wantDisplay + wantLight},
		{"no least light", "", display(`"50/10000"`, `"0/10000"`), "", strings.Replace(wantDisplay, ",50)", ",0)", 1)},
		{"only an average", "", `{"max_average": 400}`, "", ":max-cll=0,400"},
		{"an incomplete display", "", display(`"red_x": "34000/50000", `, ""), "", ""},
		{"a denominator of 0", "", display("3/20", "3/0"), "", ""},
		{"a negative colour", "", display("3/20", "-3/20"), "", ""},
		{"an impossible colour", "", display(`"34000/50000"`, `"34001/50000"`), "", ""},
		{"another parameter", "", display("3/20", "3/20:qpfile=x"), "", ""},
		{"too many digits", "", display("1000/1", "10000000000/10000000"), "", ""},
		{"more light than PQ has", "", display("1000/1", "10001/1"), "", ""},
		{"less light than the least", "", display("1000/1", "5/1000"), "", ""},
		{"unknown light", "", `{"max_content": 0, "max_average": 0}`, "", ""},
		{"impossible light", "", `{"max_content": 65536, "max_average": 1}`, "", ""},
		{"negative light", "", `{"max_content": 9, "max_average": -1}`, "", ""},
	} {
		info, err := parseProbe(answerHDR(pq, test.stream, test.first, test.second), "")
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		info.Video.Pixels = YUV420P10
		if got := info.Video.MasteringParams(); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestOnlyPQ checks that x265 gets a mastering display only for frames by PQ.
func TestOnlyPQ(t *testing.T) {
	for _, test := range []struct {
		transfer string
		pixels   PixelFormat
		want     bool
	}{{pq, YUV420P10, true}, {pq, YUV420P, false}, {hlg, YUV420P10, false}, {"bt709", YUV420P10, false}} {
		info, err := parseProbe(answerHDR(test.transfer, usualDisplay, "{"+usualLight+"}", ""), "")
		if err != nil {
			t.Fatal(err)
		}
		v := info.Video
		v.Pixels = test.pixels
		want := ""
		if test.want {
			want = wantDisplay + wantLight
		}
		if got := v.MasteringParams(); got != want {
			t.Errorf("%+v: got %q, want %q", test, got, want)
		}
	}
}

// mastered matches the parameters of x265 that tell the mastering display and the light levels. x265 can read values with this many digits.
var mastered = regexp.MustCompile(`^(:master-display=((G|B|R|WP)\(\d{1,5},\d{1,5}\)){4}L\(\d{1,9},\d{1,8}\))?(:max-cll=\d{1,5},\d{1,5})?$`)
