package render

import (
	"context"
	"image"
	"slices"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/people"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// trackFunc is a tracker that returns faces by the number of the frame.
type trackFunc func(frame int) (faces []tracking.Face, cut bool)

func (f trackFunc) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	faces, cut := f(ffmpegtest.Number(frame, 0))
	for i := range faces {
		faces[i].Crop = wholeOf(frame)
	}
	return &tracking.Seen{Faces: faces, Cut: cut}, nil
}

func (f trackFunc) new(float64) people.Tracker { return f }

// TestFacesInSomeFrames checks that frames without a face stay as they are.
func TestFacesInSomeFrames(t *testing.T) {
	t.Parallel()
	video := numbered(t, "25", 40)
	r := inMemory(t, &numberer{})
	shown := func(frame int) bool { return frame >= 10 && frame < 30 }
	r.NewTracker = trackFunc(func(frame int) ([]tracking.Face, bool) {
		if !shown(frame) {
			return nil, frame == 0 || frame == 30
		}
		return []tracking.Face{someone(0, 60)}, frame == 10
	}).new
	output, err := render(t, r, video, tone(t, "1.6"))
	if err != nil {
		t.Fatal(err)
	}
	source, painted, _ := numbers(t, output)
	for i, n := range painted {
		if want := map[bool]int{true: i, false: 0}[shown(i)]; n != want {
			t.Errorf("frame %d is painted %d, want %d", i, n, want)
		}
		if source[i] != i {
			t.Errorf("frame %d shows source %d, want %d", i, source[i], i)
		}
	}
}

func TestNoFace(t *testing.T) {
	t.Parallel()
	video := numbered(t, "25", 20)
	r := inMemory(t, &numberer{})
	r.NewTracker = trackFunc(func(frame int) ([]tracking.Face, bool) { return nil, false }).new
	_, err := render(t, r, video, tone(t, "1"))
	if got, want := failure.MessageOf(err), "no face found in the video"; got != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

func TestSilence(t *testing.T) {
	t.Parallel()
	video := numbered(t, "25", 20)
	silence := rendertest.Clip{Samples: make([]int16, ffmpeg.PCMRate/2)}.File(t, "silence")
	if _, err := render(t, inMemory(t, &numberer{}), video, silence); err != nil {
		t.Error(err)
	}
}

// TestLargestFace checks that the plan gets the largest face of each frame, if the
// job says so.
func TestLargestFace(t *testing.T) {
	t.Parallel()
	video := numbered(t, "25", 20)
	engine := &numberer{}
	r := inMemory(t, engine)
	r.NewTracker = trackFunc(func(frame int) ([]tracking.Face, bool) {
		return []tracking.Face{someone(0, 60), someone(1, float32(40+4*frame))}, frame == 0
	}).new
	dir := t.TempDir()
	var stages []order.Stage
	_, err := r.Render(t.Context(), Job{
		Video: video, Audio: tone(t, "0.8"), Output: dir + "/o.mp4", Scratch: dir, LargestFace: true,
	}, ProgressFunc(func(p Progress) {
		if p.Done == p.Total {
			stages = append(stages, p.Stage)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{engine.out.Speaker(0), engine.out.Speaker(19)}; !slices.Equal(got, []int{0, 1}) {
		t.Errorf("first and last frame's speaker: %v, want [0 1]", got)
	}
	if want := []order.Stage{order.Analyzing, order.Rendering}; !slices.Equal(stages, want) {
		t.Errorf("stages that ended: %v, want %v", stages, want)
	}
}
