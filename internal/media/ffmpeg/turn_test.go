package ffmpeg_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// TestTurned decodes videos that are turned, whose pictures change their size three times: none is lost, and all are shown as ffmpeg shows the first.
func TestTurned(t *testing.T) {
	dir, list := t.TempDir(), ""
	run := func(program string, args ...string) []byte {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-v", "error", "-y"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return out
	}
	const parts, each = 4, 22 // the first part has all pictures that Probe reads
	for i := range parts {
		part := fmt.Sprintf("%d.mkv", i)
		list += "file " + part + "\n"
		run(ffmpegtest.Quick(), "-f", "lavfi", "-i", "color=gray:s=160x96:r=25,drawbox=w=80:h=48:c=white:t=fill", "-frames:v", fmt.Sprint(each), "-vf", "scale="+[]string{"160:96", "128:64"}[i%2]+",setsar=1",
			"-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-pix_fmt", "yuv420p", "-bsf:v", "dump_extra", part)
	}
	if err := os.WriteFile(filepath.Join(dir, "list"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, turn := range []string{"0", "90", "180", "270"} {
		path := filepath.Join(dir, turn+".mp4")
		run(ffmpegtest.Installed("ffmpeg"), "-f", "concat", "-i", "list", "-c", "copy", "-metadata:s:v", "rotate="+turn, path)
		want := run(ffmpegtest.Installed("ffmpeg"), "-i", path, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
		for by, tools := range bothTools(t) {
			info, err := tools.Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			got := decodeAll(t, tools, info, parts*each)
			v, size := info.Video, info.Video.FrameSize()
			for _, n := range []int{0, 2 * each, parts*each - 1} {
				for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} { // quarters
					k := at[1]*v.Height/4*v.Width + at[0]*v.Width/4
					if len(want) != size || max(want[k], got[n*size+k])-min(want[k], got[n*size+k]) > 8 {
						t.Errorf("%s, %s, frame %d at %v: got %d of %d × %d, want %d", turn, by, n, at, got[n*size+k], v.Width, v.Height, want[k])
					}
				}
			}
		}
	}
}
