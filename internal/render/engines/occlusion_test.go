package engines_test

import (
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/demo"
	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// These are frames of the scene: the object comes, is in front of the mouth, has been there, and has gone.
const comes, there, leaves, gone, ends = 34, 42, 52, 60, 90

// occluded makes a video of a drawn head. For a while an object is in front of its mouth.
func occluded(t *testing.T, o facetest.Object) string {
	t.Helper()
	raw, err := os.Create(filepath.Join(t.TempDir(), "raw"))
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for i := range ends {
		h := facetest.Head{X: 160 + 3*math.Sin(float64(i)/7), Y: 110, Eyes: 60, Open: .06 * max(math.Sin(float64(i)/2), 0)}
		f := facetest.Frame(320, 300, h)
		if up := min(float64(i-comes)/(there-comes), float64(gone-i)/(gone-leaves), 1); up > 0 {
			o.X, o.Y = h.At(.05, 2.6-1.9*up)
			o.Draw(f)
		}
		for _, plane := range [][]uint8{f.Y, f.Cb, f.Cr} {
			if _, err := raw.Write(plane); err != nil {
				t.Fatal(err)
			}
		}
	}
	return ffmpegtest.Make(t, "occluded.mp4", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "320x300", "-r", "25", "-i", raw.Name(), "-crf", "8")
}

// TestOcclusion renders by both engines a head with an object in front of its mouth: the object stays as it is, and the mouth speaks before
// and after it.
func TestOcclusion(t *testing.T) {
	folder := t.TempDir()
	add(t, folder, catalog.Wav2Lip, onnxtest.Grey().File(t))
	s, _ := open(t, folder)
	voice := filepath.Join(t.TempDir(), "voice.wav")
	if err := demo.Speech(t.Context(), voice); err != nil {
		t.Fatal(err)
	}
	voice = ffmpegtest.Make(t, "long.wav", "-stream_loop", "3", "-i", voice, "-t", "3.6")
	for name, o := range map[string]facetest.Object{
		"microphone": {Width: 80, Colour: color.YCbCr{Y: 45, Cb: 128, Cr: 128}},
		"hand":       {Width: 110, Colour: color.YCbCr{Y: 100, Cb: 114, Cr: 148}, Groove: 25},
	} {
		video := occluded(t, o)
		for _, engine := range []string{"warp", "wav2lip"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				dir := t.TempDir()
				job := render.Job{Video: video, Audio: voice, Output: filepath.Join(dir, "out.mp4"), Scratch: dir, Engine: engine}
				result, err := s.Render(t.Context(), job, nil)
				if err != nil {
					t.Fatal(err)
				}
				before, after := framesOf(t, video), framesOf(t, job.Output)
				if len(after) != ends {
					t.Fatalf("got %d frames, want %d", len(after), ends)
				}
				for i := there; i <= leaves; i++ {
					if by := differs(before[i], after[i]); by > codec {
						t.Errorf("frame %d: what hides the mouth differs by %.1f levels, want %g at most", i, by, codec)
					}
				}
				for _, part := range [][2]int{{0, comes - 4}, {gone + 4, ends}} {
					var most float64
					for i := part[0]; i < part[1]; i++ {
						most = max(most, differs(before[i], after[i]))
					}
					if most < 2*codec {
						t.Errorf("frames %v: the mouth differs by %.1f levels at most, want %g or more", part, most, 2*codec)
					}
				}
				if kept := ends - result.Frames.Synced; result.Frames.Total != ends || kept < leaves-there || kept > gone-comes+4 {
					t.Errorf("got %+v, want %d kept frames or a few more", result.Frames, leaves-there)
				}
				if all := result.Unsynced.Gaps; len(all) != 1 || all[0].Reason != order.MouthHidden {
					t.Errorf("not synced are %v, want one part in which the mouth is hidden", all)
				}
			})
		}
	}
}

// codec is the largest mean difference of luma that encoding makes here, levels.
const codec = 2.

// differs returns the mean difference of the luma around the mouth in two frames.
func differs(a, b *image.YCbCr) (mean float64) {
	area := image.Rect(130, 160, 190, 200)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			mean += math.Abs(float64(a.YCbCrAt(x, y).Y)-float64(b.YCbCrAt(x, y).Y)) / float64(area.Dx()*area.Dy())
		}
	}
	return mean
}
