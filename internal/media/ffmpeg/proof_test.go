package ffmpeg

import (
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/check"
)

// TestProve measures outputs with one fault each, and compares what it says of them with the table in the docs. A right output passes.
func TestProve(t *testing.T) {
	tools, err := Find(2)
	if err != nil {
		t.Fatal(err)
	}
	const (
		tags   = "format=yuv420p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
		starts = "-fps_mode passthrough -movflags +faststart"
	)
	in, err := medium.Parse("", "", []byte(`{"format": {"format_name": "avi"}, "streams": [{"codec_type": "video", "codec_name": "h264", "pix_fmt": "yuv420p",
		"width": 64, "height": 48, "time_base": "1/25", "avg_frame_rate": "25/1", "color_primaries": "bt709", "color_transfer": "bt709", "color_space": "bt709"}]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ name, pictures, sound, more string }{
		{"right", "", "", starts},
		{"a frame is dropped", "select='not(eq(n,30))'", "", starts},
		{"a frame is too many", "tpad=stop=1", "", starts},
		{"a frame comes late", "setpts=PTS+gte(N\\,30)/25/TB", "", starts},
		{"all frames come late", "setpts=PTS+1/TB", "", starts},
		{"another rate", "setpts=PTS*25/24", "", "-movflags +faststart -r 24"},
		{"another size", "scale=48:48", "", starts},
		{"another matrix", "setparams=colorspace=smpte170m", "", starts},
		{"full range", "setparams=range=pc", "", starts},
		{"no tags", "setparams=color_primaries=unknown:color_trc=unknown:colorspace=unknown", "", starts},
		{"a second of sound lost", "", "aselect='not(between(t,1,2))',asetpts=N/SR/TB", starts},
		{"a hole of a second", "", "aselect='not(between(t,1,2))'", starts},
		{"sound too long", "", "apad=pad_dur=1", starts},
		{"late sound", "", "asetpts=PTS+.1/TB", starts},
		{"no sound", "", "", starts + " -an"},
		{"two sounds", "", "", starts + " -map 0:v -map 1:a -map 1:a"},
		{"another codec", "", "", starts + " -c:v mpeg4"},
		{"the index is last", "", "", ""},
	}
	table := check.Rows(t, "../../../docs/measurements/proof.txt")
	if len(table) != len(cases)-1 {
		t.Errorf("the table has %d faults, and %d are planted", len(table), len(cases)-1)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "out.mp4")
			args := []string{"-v", "error", "-f", "lavfi", "-i", "testsrc=s=64x48:r=25:d=3", "-f", "lavfi", "-i", "sine=d=3:r=48000",
				"-c:v", "libx264", "-c:a", "aac", "-vf", strings.TrimSuffix(tags+","+c.pictures, ",")}
			if c.sound != "" {
				args = append(args, "-af", c.sound)
			}
			if out, err := exec.Command("ffmpeg", append(append(args, strings.Fields(c.more)...), path)...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			err := tools.Prove(t.Context(), in.Video, order.Output{}, Proof{Frames: 75, Sound: 3 * time.Second}, path)
			switch {
			case c.name == "right":
				if err != nil {
					t.Error(err)
				}
			case !errors.Is(err, ErrUnproved) || !slices.Equal(table[c.name], []string{strings.TrimPrefix(err.Error(), ErrUnproved.Error()+": ")}):
				t.Errorf("got %v, want %q", err, table[c.name])
			}
		})
	}
}
