package sharedtest

import (
	"image"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// Frames decodes what ffmpeg makes with the arguments, such as -i and a clip. The frames have the
// given size in pixels. It skips the test where ffmpeg is missing.
func Frames(t testing.TB, width, height int, args ...string) (frames []*image.YCbCr) {
	t.Helper()
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("ffmpeg is not installed")
	}
	args = append(append([]string{"-v", "error", "-nostdin"}, args...), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-")
	decoder := exec.CommandContext(t.Context(), "ffmpeg", args...)
	pixels, err := decoder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	decoder.Stderr = &said
	if err := decoder.Start(); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		f := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
		for _, plane := range [][]uint8{f.Y, f.Cb, f.Cr} {
			if err == nil {
				_, err = io.ReadFull(pixels, plane)
			}
		}
		if err == nil {
			frames = append(frames, f)
		}
	}
	if e := decoder.Wait(); e != nil || err != io.EOF || len(frames) == 0 {
		t.Fatalf("%d frames, then %v, %v: %s", len(frames), err, e, said.String())
	}
	return frames
}
