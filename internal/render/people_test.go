package render

import (
	"bytes"
	"image/jpeg"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/test/ffmpegtest"
)

// TestFindPeople analyses a video of two people: one is seen in all frames, the other from frame 10 on.
func TestFindPeople(t *testing.T) {
	video := numbered(t, "25", 60)
	r := inMemory(t, &numberer{})
	r.NewTracker = couple
	o := &notes{}
	a, stated, err := r.FindPeople(t.Context(), video, o)
	if err != nil {
		t.Fatal(err)
	}
	if stated != 2400*time.Millisecond || o.measured[0][0] != stated || o.size != 60*ffmpegtest.Width*ffmpegtest.Height/1000 || o.progress[len(o.progress)-1].Done != 60 {
		t.Errorf("told of %v, measured %v and %d, told of %v", stated, o.measured, o.size, o.progress)
	}
	want := order.AnalyzedVideo{Seconds: 2.4, FPS: 25, Width: ffmpegtest.Width, Height: ffmpegtest.Height, Frames: 60}
	if a.Video != want || len(a.Faces) != 2 {
		t.Fatalf("got %+v with %d faces, want %+v with 2", a.Video, len(a.Faces), want)
	}
	for i, want := range []order.AnalyzedFace{
		{ID: "0,40,48", First: 0, Last: 2.4, Share: 1, Boxes: []order.FaceBox{{Frame: 0}, {Frame: 25}, {Frame: 50}}},
		{ID: "10,120,48", First: .4, Last: 2.4, Share: .833, Boxes: []order.FaceBox{{Frame: 10}, {Frame: 35}}},
	} {
		got := a.Faces[i]
		for k := range want.Boxes {
			want.Boxes[k].Box = [4]int{16 + 80*i, 24, 64 + 80*i, 72}
		}
		if got.ID != want.ID || got.First != want.First || got.Last != want.Last || got.Share != want.Share || !slices.Equal(got.Boxes, want.Boxes) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if picture, err := jpeg.Decode(bytes.NewReader(got.JPEG)); err != nil || picture.Bounds().Dx() < 40 || picture.Bounds().Dx() > 128 {
			t.Errorf("thumbnail: %v, %v", picture, err)
		}
	}
}

// TestFindPeopleRefused analyses files that aren't usable, and a video that is too long although it states no length.
func TestFindPeopleRefused(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{sound(t, "a.wav", "1"), "video has no picture"},
		{ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 60)), "video is longer than 0 minutes: 0 minutes"},
		{ffmpegtest.Make(t, "a.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 60), "-f", "matroska", "-live", "1"), "video is longer than 0 minutes"},
	} {
		r := newRenderer(t, &numberer{})
		r.Limits.Duration = 2 * time.Second
		if _, _, err := r.FindPeople(t.Context(), c.path, nil); failure.MessageOf(err) != c.want {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestFindNobody analyses a picture without a face.
func TestFindNobody(t *testing.T) {
	r := newRenderer(t, &numberer{})
	r.NewTracker = trackFunc(func(int) ([]tracking.Face, bool) { return nil, false }).new
	a, _, err := r.FindPeople(t.Context(), photo(t, "a.png"), nil)
	if err != nil || a.Video.Frames != 1 || a.Faces == nil || len(a.Faces) != 0 {
		t.Errorf("got %+v, %v, want one frame and an empty list", a, err)
	}
}
