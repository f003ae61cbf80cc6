package engines_test

import (
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/media/demo"
	"lipsync/internal/render"
	"lipsync/internal/render/engines/testdata/toy"
	"lipsync/internal/test/ffmpegtest"
)

// TestNewEngine renders a drawn head with the engine that docs/architecture.md explains. The head says
// nothing for half a second and speaks then: the mouth stays as it is at first, and becomes dark.
func TestNewEngine(t *testing.T) {
	source, err := os.ReadFile("testdata/toy/toy.go")
	if lines := strings.Count(string(source), "\n"); err != nil || lines > 150 {
		t.Errorf("the engine has %d lines, want 150 at most (%v)", lines, err)
	}
	dir := t.TempDir()
	drawn, voice := ffmpegtest.Head(t, 30), filepath.Join(dir, "voice.wav")
	if err := demo.Speech(t.Context(), voice); err != nil {
		t.Fatal(err)
	}
	job := render.Job{
		Video:  ffmpegtest.Make(t, "small.mp4", "-i", drawn, "-crf", "10"),
		Audio:  ffmpegtest.Make(t, "late.wav", "-i", voice, "-af", "adelay=500", "-t", "1.2"),
		Output: filepath.Join(dir, "out.mp4"), Scratch: dir, Engine: "toy",
	}
	s, _ := open(t, "")
	s.Engines["toy"] = toy.Engine{}
	if _, err := s.Render(t.Context(), job, nil); err != nil {
		t.Fatal(err)
	}
	before, after := mouths(t, job.Video), mouths(t, job.Output)
	if len(after) != 30 {
		t.Fatalf("got %d frames, want 30", len(after))
	}
	darker := 0
	for i := range after {
		darkened := before[i] - after[i]
		if i < 8 && darkened > 5 {
			t.Errorf("frame %d, in silence: the mouth is darker by %d", i, darkened)
		}
		if darkened > 20 {
			darker++
		}
	}
	if darker < 5 {
		t.Errorf("got %d frames with a mouth that is drawn, want 5 or more", darker)
	}
}

// mouths returns the mean luma around the drawn head's mouth in each frame of a video.
func mouths(t *testing.T, path string) (luma []int) {
	t.Helper()
	_, all := ffmpegtest.Frames(t, path)
	for _, frame := range all {
		luma = append(luma, mean(frame, image.Rect(310, 210, 330, 220)))
	}
	return luma
}

func mean(frame *image.YCbCr, area image.Rectangle) (sum int) {
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			sum += int(frame.Y[frame.YOffset(x, y)])
		}
	}
	return sum / (area.Dx() * area.Dy())
}
