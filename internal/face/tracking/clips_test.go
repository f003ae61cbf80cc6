package tracking

import (
	"image"
	"slices"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/sharedtest"
)

// clips are all clips of people that docs/testing.md lists.
var clips = []struct {
	file                  string
	width, height, people int
}{{"woman.mp4", 720, 974, 1}, {"talking_man.mp4", 512, 512, 1}, {"two_people.mp4", 704, 352, 2}}

// TestClips checks that everybody is followed from the first frame to the last. It also checks
// that other networks place boxes and landmarks like those of package eyes, in the mean of a clip, since engines
// rely on that.
func TestClips(t *testing.T) {
	for _, c := range clips {
		t.Run(c.file, func(t *testing.T) {
			frames := sharedtest.Frames(t, c.width, c.height, "-i", sharedtest.Path(t, "media", c.file))
			builtIn := followAll(t, newDetector(t, "", ""), frames, c.people)
			networks := followAll(t, newDetector(t, "ultraface_rfb_320.onnx", "facemesh_192.onnx"), frames, c.people)
			var m meanDifference
			for i := range frames {
				m.add(builtIn[i], networks[i])
			}
			for k, p := range m.landmarks {
				if d := geom.Distance(p, geom.Point{}) / m.n; d > .09 {
					t.Errorf("landmark %d is off by %.3f, %.3f distances of the pupils", k, p.X/m.n, p.Y/m.n)
				}
			}
			if d, size := geom.Distance(m.box, geom.Point{})/m.n, m.size/m.n; d > .25 || size < .85 || size > 1.15 {
				t.Errorf("boxes are off by %.2f distances of the pupils, and %.2f times as large", d, size)
			}
		})
	}
}

// meanDifference sums the differences of the faces that two detectors found.
type meanDifference struct {
	landmarks detection.Landmarks // in distances of the pupils, as is box
	box       geom.Point
	size      float32 // ratio
	n         float32
}

func (m *meanDifference) add(a, b []Face) {
	for _, f := range a {
		i := slices.IndexFunc(b, func(g Face) bool { return g.Box.Same(f.Box) })
		if i < 0 {
			continue
		}
		g, eyes := b[i], geom.Distance(f.Landmarks[detection.LeftPupil], f.Landmarks[detection.RightPupil])
		for k, p := range f.Landmarks {
			m.landmarks[k].X += (g.Landmarks[k].X - p.X) / eyes
			m.landmarks[k].Y += (g.Landmarks[k].Y - p.Y) / eyes
		}
		m.box.X += (g.Box.X - f.Box.X) / eyes
		m.box.Y += (g.Box.Y - f.Box.Y) / eyes
		m.size += g.Box.Size / f.Box.Size
		m.n++
	}
}

// followAll returns the faces of each frame. Each person must have one track in all frames.
func followAll(t *testing.T, d detection.Detector, frames []*image.YCbCr, people int) (all [][]Face) {
	t.Helper()
	tracker, found := NewTracker(d, 25), 0
	for _, frame := range frames {
		faces, _, err := add(t.Context(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		all, found = append(all, faces), found+len(faces)
	}
	if share := float64(found) / float64(people*len(frames)); share < .99 || tracker.next != people {
		t.Errorf("%.3f of the faces are found, in %d tracks, want .99 in %d", share, tracker.next, people)
	}
	return all
}
