package render

import (
	"context"
	"image"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/onnxtest"
	"lipsync/internal/test/rendertest"
)

// Tracks of three people: one moves the lips, one is larger, and one stands in the
// light.
const mover, larger, bright = 0, 1, 2

// company draws the three people in a frame of a film.
func company(frame int) (*image.YCbCr, [3]facetest.Head) {
	heads := [3]facetest.Head{
		mover:  {X: 80, Y: 70, Eyes: 34, Open: .15 + .15*math.Sin(2*math.Pi*float64(frame)/5)},
		larger: {X: 240, Y: 70, Eyes: 44},
		bright: {X: 400, Y: 70, Eyes: 34},
	}
	f := facetest.Frame(480, 180, heads[:]...)
	for i, v := range f.Y {
		if i%f.YStride > 320 {
			f.Y[i] = 128 + v/2
		}
	}
	return f, heads
}

// filmCompany makes a video of them of two seconds, with a sound.
func filmCompany(t *testing.T) (path string) {
	var film []byte
	for i := range 5 {
		f, _ := company(i)
		film = append(append(append(film, f.Y...), f.Cb...), f.Cr...)
	}
	raw := filepath.Join(t.TempDir(), "film.yuv")
	if err := os.WriteFile(raw, film, 0o600); err != nil {
		t.Fatal(err)
	}
	return ffmpegtest.Make(t, "company.mp4", "-stream_loop", "9", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", "480x180", "-r", "25", "-i", raw,
		"-f", "lavfi", "-i", "sine=d=2", "-crf", "10")
}

// companyTracker finds the three people at the places where they are drawn.
type companyTracker struct{ faces []tracking.Face }

func newCompanyTracker(float64) people.Tracker {
	_, heads := company(0)
	var c companyTracker
	for track, h := range heads {
		var f tracking.Face
		f.Track, f.Box.Size, f.Landmarks = track, float32(2.4*h.Eyes), h.Landmarks()
		c.faces = append(c.faces, f)
	}
	return c
}

func (c companyTracker) Add(_ context.Context, frame *image.YCbCr) (*tracking.Seen, error) {
	faces := slices.Clone(c.faces)
	for i := range faces {
		f := &faces[i]
		x, y, eyes := int(f.Landmarks[detection.Nose].X), int(f.Landmarks[detection.LeftPupil].Y), int(f.Eyes())
		f.Crop = pixels.NewCrop(frame, image.Rect(x-eyes*135/100, y-eyes*8/10, x+eyes*135/100, y+eyes*215/100), f.Eyes())
	}
	return &tracking.Seen{Faces: faces}, nil
}

// likesLight returns a network that gives faces in the light high scores, as if they spoke.
func likesLight(t *testing.T) *speaker.Network {
	t.Helper()
	path := filepath.Join(t.TempDir(), "network.onnx")
	onnxtest.Graph{
		Inputs: []onnx.Info{
			{Name: "faces", Type: onnx.Float32, Shape: []int{1, -1, 112, 112}}, {Name: "sound", Type: onnx.Float32, Shape: []int{1, -1, 13}},
		},
		Outputs:      []onnx.Info{{Name: "scores", Type: onnx.Float32, Shape: []int{1, -1}}},
		Initializers: []onnxtest.Tensor{{Name: "dim", Shape: []int{1}, Floats: []float32{145}}},
		Nodes: []onnxtest.Node{
			{Op: "ReduceMean", Inputs: []string{"faces"}, Outputs: []string{"mean"}, Attributes: map[string]any{"axes": []int{2, 3}, "keepdims": 0}},
			{Op: "Sub", Inputs: []string{"mean", "dim"}, Outputs: []string{"scores"}},
			{Op: "Identity", Inputs: []string{"sound"}, Outputs: []string{"unused"}},
		},
	}.Write(t, path)
	session, err := onnxtest.Runtime(t).Load(path, onnx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	n, err := speaker.NewNetwork(t.Context(), []*onnx.Session{session}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestWhoSpeaks checks the speaker in the Output that the engine gets.
func TestWhoSpeaks(t *testing.T) {
	film := rendertest.Clip{Width: 480, Height: 180, Rate: medium.Rate{Num: 25, Den: 1}, Samples: rendertest.Tone(2, .1)}
	for i := range 50 {
		f, _ := company(i % 5)
		film.Frames = append(film.Frames, slices.Concat(f.Y, f.Cb, f.Cr))
	}
	video := film.File(t, "company")
	for _, c := range []struct {
		name             string
		network, largest bool
		want             int
	}{
		{"who moves the lips", false, false, mover},
		{"who a network says", true, false, bright},
		{"the largest, if the job says so", false, true, larger},
		{"the largest, whatever a network says", true, true, larger},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := &numberer{}
			r := inMemory(t, engine)
			r.NewTracker = newCompanyTracker
			if c.network {
				r.Speaker = likesLight(t)
			}
			dir := t.TempDir()
			job := Job{Video: video, Audio: tone(t, "2"), Output: filepath.Join(dir, "o.mp4"), Scratch: dir, LargestFace: c.largest}
			if _, err := r.Render(t.Context(), job, nil); err != nil {
				t.Fatal(err)
			}
			for frame := range 50 {
				if got := engine.out.Speaker(frame); got != c.want {
					t.Fatalf("frame %d: %d speaks, want %d", frame, got, c.want)
				}
			}
		})
	}
}
