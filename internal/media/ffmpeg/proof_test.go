package ffmpeg

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
)

// TestProve measures outputs with one fault each, and prints a table of what it says of them. A right output passes.
func TestProve(t *testing.T) {
	tools, err := Find(2)
	if err != nil {
		t.Fatal(err)
	}
	const (
		tags   = "format=yuv420p,setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709"
		starts = "-fps_mode passthrough -movflags +faststart"
	)
	v := &Video{Width: 64, Height: 48, Rate: Rate{25, 1}, primaries: "bt709", transfer: "bt709", matrix: "bt709"}
	cases := []struct{ name, pictures, sound, more, want string }{
		{"right", "", "", starts, ""},
		{"a frame is dropped", "select='not(eq(n,30))'", "", starts, "frames: 74 instead of 75"},
		{"a frame is too many", "tpad=stop=1", "", starts, "frames: 76 instead of 75"},
		{"a frame comes late", "setpts=PTS+gte(N\\,30)/25/TB", "", starts, "a frame begins at 3.000 s"},
		{"all frames come late", "setpts=PTS+1/TB", "", starts, "the first frame begins at"},
		{"another rate", "setpts=PTS*25/24", "", "-movflags +faststart -r 24", "frame rate: 24/1 instead of 25/1"},
		{"another size", "scale=48:48", "", starts, "size: 48 × 48 instead of 64 × 48"},
		{"another matrix", "setparams=colorspace=smpte170m", "", starts, "color_space: smpte170m instead of bt709"},
		{"full range", "setparams=range=pc", "", starts, "color_range: pc instead of tv"},
		{"no tags", "setparams=color_primaries=unknown:color_trc=unknown:colorspace=unknown", "", starts, "color_primaries:  instead of bt709"},
		{"a second of sound lost", "", "aselect='not(between(t,1,2))',asetpts=N/SR/TB", starts, "the sound ends at 1.997 s"},
		{"a hole of a second", "", "aselect='not(between(t,1,2))'", starts, "the sound has a hole or a jump at 0.981 s"},
		{"sound too long", "", "apad=pad_dur=1", starts, "the sound ends at 4.000 s instead of 3.000 s"},
		{"late sound", "", "asetpts=PTS+.1/TB", starts, "the sound"},
		{"no sound", "", "", starts + " -an", "0 streams of audio"},
		{"two sounds", "", "", starts + " -map 0:v -map 1:a -map 1:a", "2 streams of audio"},
		{"another codec", "", "", starts + " -c:v mpeg4", "codec: mpeg4 instead of h264"},
		{"the index is last", "", "", "", "its index is not at its begin"},
	}
	said := make([]error, len(cases))
	t.Run("faults", func(t *testing.T) {
		for i, c := range cases {
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
				said[i] = tools.Prove(t.Context(), v, order.Output{}, Proof{Frames: 75, Sound: 3 * time.Second}, path)
				if err := said[i]; c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrUnproved) || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		}
	})
	for i, c := range cases {
		t.Logf("| %s | %v |", c.name, said[i])
	}
}
