package alignment

import (
	"image"
	"math/rand/v2"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/facetest"
)

// tracked is a drawn head as the tracker finds it.
func tracked(track int, h facetest.Head, noise *rand.Rand) tracking.Face {
	s := sampleOf(h, noise)
	return tracking.Face{Track: track, Face: detection.Face{Box: detection.Box{X: float32(h.X), Y: float32(h.Y), Size: float32(2.4 * h.Eyes)}, Landmarks: s.Landmarks}, Crop: s.crop}
}

// TestFramesComeOnce checks that each frame comes once and in order with the faces
// that are in it, in videos of many lengths, with tracks that begin and end
// anywhere, with cuts, and with faces that are missed.
func TestFramesComeOnce(t *testing.T) {
	type run struct{ track, from, to int }
	for _, c := range []struct {
		name   string
		frames int
		cuts   []int
		runs   []run
		missed []int // of track 0
	}{
		{"nothing", 0, nil, nil, nil},
		{"one frame", 1, nil, []run{{0, 0, 1}}, nil},
		{"nobody", 120, nil, nil, nil},
		{"longer than what waits at once", 250, nil, []run{{0, 0, 250}}, nil},
		{"two, one of whom comes and goes", 220, nil, []run{{0, 0, 220}, {1, 90, 130}}, nil},
		{"one who comes just before frames go out", 130, nil, []run{{0, 94, 130}}, nil},
		{"one frame of a face at the end of what goes out", 130, nil, []run{{0, 83, 84}}, nil},
		{"one who leaves just before frames go out", 130, nil, []run{{0, 0, 86}}, nil},
		{"cuts", 100, []int{30, 31, 97}, []run{{0, 0, 30}, {1, 30, 31}, {2, 31, 97}, {3, 97, 100}}, nil},
		{"missed faces", 150, nil, []run{{0, 0, 150}}, []int{5, 40, 41, 42, 82, 83, 84, 96, 148}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			noise := rand.New(rand.NewPCG(1, 2))
			heads := map[int]facetest.Head{}
			for _, r := range c.runs {
				heads[r.track] = facetest.Head{X: 90 + 60*float64(r.track%3), Y: 90, Eyes: 30}
			}
			in := func(list []int, i int) bool {
				for _, v := range list {
					if v == i {
						return true
					}
				}
				return false
			}
			a := NewAligner(25)
			var got []Frame
			for i := range c.frames {
				var faces []tracking.Face
				for _, r := range c.runs {
					if i >= r.from && i < r.to && !(r.track == 0 && in(c.missed, i)) {
						faces = append(faces, tracked(r.track, heads[r.track], noise))
					}
				}
				got = append(got, a.Add(faces, in(c.cuts, i))...)
			}
			got = append(got, a.End()...)
			if len(got) != c.frames {
				t.Fatalf("got %d frames, want %d", len(got), c.frames)
			}
			for i, f := range got {
				if f.Index != i || f.Cut != in(c.cuts, i) {
					t.Fatalf("frame %d: got index %d, cut %t", i, f.Index, f.Cut)
				}
				n := 0
				for _, r := range c.runs {
					if i < r.from || i >= r.to {
						continue
					}
					if n >= len(f.Faces) || f.Faces[n].Track != r.track {
						t.Fatalf("frame %d: got faces %v, want track %d", i, f.Faces, r.track)
					}
					face := f.Faces[n]
					if missed := r.track == 0 && in(c.missed, i); (face.Crop == nil) != missed {
						t.Errorf("frame %d, track %d: has no pixels: %t, want %t", i, r.track, face.Crop == nil, missed)
					}
					h := heads[r.track]
					if d := geom.Distance(face.To.Apply(Middle), geom.Point{X: float32(h.X), Y: float32(h.Y)}); d > 1.5 {
						t.Errorf("frame %d, track %d: %.1f pixels off", i, r.track, d)
					}
					n++
				}
				if n != len(f.Faces) {
					t.Errorf("frame %d: got %d faces, want %d", i, len(f.Faces), n)
				}
			}
		})
	}
}

// TestFramesBetweenTrackedOnes checks that a face of a fast video, whose every second
// frame is tracked, is in the others too: also in the last of a shot.
func TestFramesBetweenTrackedOnes(t *testing.T) {
	noise := rand.New(rand.NewPCG(3, 4))
	head := func(i int) facetest.Head { return facetest.Head{X: 100 + .3*float64(i), Y: 90, Eyes: 30} }
	const frames, cut = 240, 100
	a := NewAligner(60)
	var got []Frame
	for i := range frames {
		track, since := 0, i
		if i >= cut {
			track, since = 1, i-cut
		}
		var faces []tracking.Face
		if since%2 == 0 {
			faces = append(faces, tracked(track, head(i), noise))
		}
		got = append(got, a.Add(faces, i == cut)...)
	}
	for i, f := range append(got, a.End()...) {
		if len(f.Faces) != 1 {
			t.Fatalf("frame %d: got %d faces, want 1", i, len(f.Faces))
		}
		h, to := head(i), f.Faces[0].To
		if d := geom.Distance(to.Apply(Middle), geom.Point{X: float32(h.X), Y: float32(h.Y)}); d > 1.5 {
			t.Errorf("frame %d: %.1f pixels off", i, d)
		}
	}
}

// TestPendingPixels checks that large faces don't wait for as many frames.
func TestPendingPixels(t *testing.T) {
	frame := facetest.Frame(1600, 1600, facetest.Head{X: 800, Y: 600, Eyes: 500})
	noise := rand.New(rand.NewPCG(1, 2))
	s := sampleOf(facetest.Head{X: 160, Y: 130, Eyes: 60}, noise)
	a := NewAligner(25)
	for i := range 60 {
		f := tracking.Face{Face: detection.Face{Landmarks: s.Landmarks}, Crop: pixels.NewCrop(frame, image.Rect(0, 0, 1600, 1600), 500)}
		a.Add([]tracking.Face{f}, false)
		if n := len(a.pending); n > 2*smoothFrames+1 {
			t.Fatalf("after %d frames %d wait, want %d at most", i+1, n, 2*smoothFrames+1)
		}
	}
}
