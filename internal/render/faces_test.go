package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/people"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
)

// couple is a tracker that sees two people: track 0 on the left in all frames, and track 1 on the right from frame 10 on.
func couple(float64) people.Tracker {
	at := func(track int, x float64) tracking.Face {
		head := facetest.Head{X: x, Y: 36, Eyes: 20}
		return tracking.Face{Track: track, Face: detection.Face{Box: detection.Box{X: float32(x), Y: 48, Size: 48}, Landmarks: head.Landmarks()}}
	}
	return trackFunc(func(frame int) ([]tracking.Face, bool) {
		faces := []tracking.Face{at(0, 40)}
		if frame >= 10 {
			faces = append(faces, at(1, 120))
		}
		return faces, frame == 0
	})
}

// TestChosenFace renders a video of two people by options that choose one of them, and checks which frames are painted.
func TestChosenFace(t *testing.T) {
	video := numbered(t, "25", 30)
	var list []string
	for frame := range 30 {
		switch {
		case frame%2 == 1:
			list = append(list, "null")
		case frame < 20:
			list = append(list, "[16, 24, 64.5, 72]")
		default:
			list = append(list, "[96,24,144,72]")
		}
	}
	boxes := filepath.Join(t.TempDir(), "boxes.json")
	if err := os.WriteFile(boxes, []byte("["+strings.Join(list[:28], ",")+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options order.Options
		speaker func(frame int) int // -1 for none
	}{
		{"left", order.Options{Face: order.Face{By: order.FaceAt, Frame: 0, X: 50, Y: 60}}, func(int) int { return 0 }},
		{"right", order.Options{Face: order.Face{By: order.FaceAt, Frame: 12, X: 110, Y: 30}}, func(frame int) int { return min(frame/10, 1)*2 - 1 }},
		{"in boxes", order.Options{Face: order.Face{By: order.FaceInBoxes}}, func(frame int) int {
			if frame%2 == 1 || frame >= 28 {
				return -1
			}
			return frame / 20
		}},
		{"right, in a preview", order.Options{
			Face: order.Face{By: order.FaceAt, Frame: 25, X: 110, Y: 30}, Preview: order.Preview{Start: 200 * time.Millisecond, Length: time.Second},
		}, func(frame int) int { return min((frame+5)/10, 1)*2 - 1 }},
		{"right, at half the rate", order.Options{
			Face: order.Face{By: order.FaceAt, Frame: 12, X: 110, Y: 30}, Output: order.Output{FPS: 12500},
		}, func(frame int) int { return min(frame/5, 1)*2 - 1 }},
		{"left, by the last frame, at half the rate", order.Options{
			Face: order.Face{By: order.FaceAt, Frame: 29, X: 50, Y: 60}, Output: order.Output{FPS: 12500},
		}, func(int) int { return 0 }},
		{"in boxes, at twice the rate", order.Options{
			Face: order.Face{By: order.FaceInBoxes}, Output: order.Output{FPS: 50000},
		}, func(frame int) int {
			if frame /= 2; frame%2 == 1 || frame >= 28 {
				return -1
			}
			return frame / 20
		}},
		{"in boxes, at half the rate, in a preview", order.Options{
			Face: order.Face{By: order.FaceInBoxes}, Output: order.Output{FPS: 12500},
			Preview: order.Preview{Start: 240 * time.Millisecond, Length: 720 * time.Millisecond},
		}, func(frame int) int { return (2*frame + 6) / 20 }},
		{"in boxes, in a preview", order.Options{
			Face: order.Face{By: order.FaceInBoxes}, Preview: order.Preview{Start: 200 * time.Millisecond, Length: 720 * time.Millisecond},
		}, func(frame int) int {
			if frame%2 == 0 {
				return -1
			}
			return (frame + 5) / 20
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			engine := &numberer{}
			r := inMemory(t, engine)
			r.NewTracker = couple
			dir := t.TempDir()
			job := Job{Video: video, Audio: tone(t, "1.2"), Output: dir + "/o.mp4", Scratch: dir, Options: c.options, Boxes: boxes}
			if _, err := r.Render(t.Context(), job, nil); err != nil {
				t.Fatal(err)
			}
			_, painted, _ := numbers(t, job.Output)
			for i, n := range painted {
				want, number := c.speaker(i), 0
				if want >= 0 {
					number = i
				}
				if got := engine.out.Speaker(i); got != want || n != number {
					t.Errorf("frame %d: track %d, painted %d, want %d and %d", i, got, n, want, number)
				}
			}
		})
	}
}

// TestChosenFaceMissing refuses choices that choose nobody.
func TestChosenFaceMissing(t *testing.T) {
	video := numbered(t, "25", 30)
	at := func(frame, x, y int) order.Face { return order.Face{By: order.FaceAt, Frame: frame, X: x, Y: y} }
	for _, c := range []struct {
		name, boxes string
		face        order.Face
		want        string
	}{
		{"a point beside the faces", "", at(12, 80, 48), "video shows no face at the point of frame 12"},
		{"a frame too early", "", at(9, 120, 48), "video shows no face at the point of frame 9"},
		{"a frame after the speech", "", at(20, 40, 48), "frame 20, in which the face is chosen, is not in the part of the video that is rendered"},
		{"boxes beside the faces", "[[70,0,90,96],null]", order.Face{}, "no box has a face in it"},
		{"no boxes", "[]", order.Face{}, "no box has a face in it"},
		{"a wrong box", "[null,[1,2,3]]", order.Face{}, "boxes file must be a list of [left, top, right, bottom] or null for each frame: frame 1 has neither"},
		{"no list", `{"boxes":[]}`, order.Face{}, "boxes file must be a list of [left, top, right, bottom] or null for each frame: frame 0 has neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := inMemory(t, &numberer{})
			r.NewTracker = couple
			dir := t.TempDir()
			job := Job{Video: video, Audio: tone(t, "0.8"), Output: dir + "/o.mp4", Scratch: dir, Boxes: dir + "/boxes.json"}
			job.Options.Face = c.face
			if c.boxes != "" {
				job.Options.Face.By = order.FaceInBoxes
			}
			if err := os.WriteFile(job.Boxes, []byte(c.boxes), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := r.Render(t.Context(), job, nil)
			if got := failure.MessageOf(err); got != c.want || failure.CodeOf(err) != failure.Invalid {
				t.Errorf("got %q (%v), want %q", got, err, c.want)
			}
		})
	}
}

// TestChosenFaceScaled finds points and boxes of the file in frames of half its size.
func TestChosenFaceScaled(t *testing.T) {
	rate := medium.Rate{Num: 25, Den: 1}
	boxes, err := people.ParseBoxes(strings.NewReader("[[180,60,300,140]]"), 1)
	check.Must(t, err)
	in := input{
		video: &medium.Info{Video: &medium.Video{Width: 160, Height: 96, Rate: rate}},
		given: medium.Video{Width: 320, Height: 192, Rate: rate},
		boxes: boxes,
	}
	all := people.NewFaces(check.Scratch(t))
	check.Must(t, all.Add(alignment.Frame{Faces: []alignment.Face{{Box: detection.Box{X: 40, Y: 48, Size: 48}}, {Track: 1, Person: 1, Box: detection.Box{X: 120, Y: 48, Size: 48}}}}))
	if got, err := in.personAt(all, order.Face{By: order.FaceAt, X: 220, Y: 80}); err != nil || got[0] != 1 {
		t.Errorf("at a point: got %v, %v, want track 1", got, err)
	}
	if got, err := all.InBoxes(in.boxOf); err != nil || got[0] != 1 {
		t.Errorf("in a box: got %v, %v, want track 1", got, err)
	}
}
