package engines_test

import (
	"image"
	"path/filepath"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/render"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
)

// TestWhoIsPainted renders two people side by side. The mouth of the person who speaks is
// painted, and nothing of the other person; or, if the job says so, that of the larger face.
func TestWhoIsPainted(t *testing.T) {
	left, right := 0, 1
	two := filepath.Join(onnxtest.Models(t), "..", "media", "two_people.mp4") // the left one speaks
	two = ffmpegtest.Make(t, "two.mp4", "-t", "3", "-i", two, "-crf", "12")
	larger := ffmpegtest.Make(t, "larger.mp4", "-i", two, "-filter_complex",
		"[0:v]crop=352:352:0:0,scale=224:224,pad=352:352:64:64[l];[0:v]crop=352:352:352:0[r];[l][r]hstack", "-c:a", "copy")
	for _, c := range []struct {
		name, video       string
		networks, largest bool
		want              int
	}{
		{"who speaks", two, false, false, left},
		{"who speaks, by networks", two, true, false, left},
		{"who speaks, though small", larger, false, false, left},
		{"the largest", larger, false, true, right},
		{"the largest, by networks", larger, true, true, right},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			add(t, folder, catalog.Wav2Lip, onnxtest.Grey().File(t))
			if c.networks {
				addAll(t, folder)
			}
			s, _ := open(t, folder)
			scratch := t.TempDir()
			job := render.Job{
				Video: c.video, Audio: two, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch,
				Engine: "wav2lip", LargestFace: c.largest,
			}
			if _, err := s.Render(t.Context(), job, nil); err != nil {
				t.Fatal(err)
			}
			before, after := framesOf(t, c.video), framesOf(t, job.Output)
			right := 0
			for i := range before {
				changes := [2]float64{change(before[i], after[i], 0), change(before[i], after[i], 1)}
				if changes[c.want] > painted && changes[1-c.want] < painted {
					right++
				}
			}
			if len(before) != 75 || 100*right < 95*len(before) {
				t.Errorf("right in %d of %d frames, want 95 %%", right, len(before))
			}
		})
	}
}

// painted is a larger change than the encoder makes, which is 1 to 2.
const painted = 6

// change returns the largest mean difference of a block's luma in the left half of the
// picture (0) or in the right half (1).
func change(a, b *image.YCbCr, half int) (largest float64) {
	const block = 16
	width := a.Rect.Dx() / 2
	for y := 0; y+block <= a.Rect.Dy(); y += block {
		for x := half * width; x+block <= (half+1)*width; x += block {
			sum := 0
			for i := range block * block {
				at := a.YOffset(x+i%block, y+i/block)
				d := int(a.Y[at]) - int(b.Y[at])
				sum += max(d, -d)
			}
			largest = max(largest, float64(sum)/(block*block))
		}
	}
	return largest
}

// framesOf returns the frames of a video.
func framesOf(t *testing.T, path string) []*image.YCbCr {
	t.Helper()
	_, all := ffmpegtest.Frames(t, path)
	return all
}
