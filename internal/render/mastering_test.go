package render

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestMastering renders a video by PQ that tells its mastering display and its light. HEVC keeps them, also in an output that was joined from
// pieces.
func TestMastering(t *testing.T) {
	const display = "G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50)"
	video := ffmpegtest.Make(t, "in.mp4", "-i", deepVideo(t, false, hdrTags("smpte2084")...), "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
		"log-level=error:hdr-opt=1:repeat-headers=1:master-display="+display+":max-cll=1000,400")
	want := map[string]any{
		"green_x": "13250/50000", "green_y": "34500/50000", "blue_x": "7500/50000", "blue_y": "3000/50000", "red_x": "34000/50000", "red_y": "16000/50000",
		"white_point_x": "15635/50000", "white_point_y": "16450/50000", "max_luminance": "10000000/10000", "min_luminance": "50/10000",
		"max_content": 1000., "max_average": 400.,
	}
	if got := masteringOf(t, video); !reflect.DeepEqual(got, want) {
		t.Fatalf("the video tells %v, want %v", got, want)
	}
	speech := sound(t, "a.wav", "0.8")
	for _, output := range []order.Output{{Codec: order.HEVC}, {Format: order.MOV, Codec: order.HEVC, Width: 64}} {
		path, _, err := renderOnly(t, newRenderer(t, &numberer{}), video, speech, order.Options{Output: output})
		if err != nil {
			t.Fatal(err)
		}
		if got := masteringOf(t, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s tells %v, want %v", path, got, want)
		}
	}
	joined, _ := kept(t, Job{Video: video, Audio: speech, Options: order.Options{Output: order.Output{Codec: order.HEVC}}}, 8, 1)
	if got := masteringOf(t, joined); !reflect.DeepEqual(got, want) {
		t.Errorf("the output from pieces tells %v, want %v", got, want)
	}
	path, _, err := renderOnly(t, newRenderer(t, &numberer{}), video, speech, order.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := masteringOf(t, path); len(got) > 0 {
		t.Errorf("an output of SDR tells %v", got)
	}
}

// masteringOf returns what ffprobe tells of the mastering display and the light of a video's first frame.
func masteringOf(t *testing.T, path string) map[string]any {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-select_streams", "v", "-read_intervals", "%+#1", "-of", "json", "-show_entries", "frame_side_data", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Frames []struct {
			SideData []map[string]any `json:"side_data_list"`
		}
	}
	if err := json.Unmarshal(out, &told); err != nil || len(told.Frames) != 1 {
		t.Fatalf("ffprobe told %s (%v)", out, err)
	}
	all := map[string]any{}
	for _, d := range told.Frames[0].SideData {
		for name, value := range d {
			if name != "side_data_type" {
				all[name] = value
			}
		}
	}
	return all
}
