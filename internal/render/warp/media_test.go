package warp

import (
	"strconv"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/test/sharedtest"
	"lipsync/internal/test/tracktest"
)

// TestRealPeople runs tracker and engine on clips of people, which are not part of the repository.
func TestRealPeople(t *testing.T) {
	for _, c := range []struct {
		file          string
		width, height int
	}{{file: "woman.mp4", width: 720, height: 974}, {file: "talking_man.mp4", width: 512, height: 512}} {
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			s := decodeClip(t, sharedtest.Path(t, "media", c.file), c.width, c.height, 60)
			a, p := s.plan(t, openIn(60, true, false, true, true, false))
			if len(a.tracks) != 1 {
				t.Fatalf("%d people, want one", len(a.tracks))
			}
			painted := 0
			for i := range s.frames {
				mouths, err := p.Paint(t.Context(), i, s.frames[i])
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range mouths {
					painted++
					checkMouth(t, i, s.frames[i], m)
					eyes := s.faces[i][0].Landmarks[detection.LeftPupil]
					if got := m.Image.Rect.Min.Y; got < int(eyes.Y) {
						t.Errorf("frame %d: paints from %d, above the eyes", i, got)
					}
				}
			}
			if painted < len(s.frames)*9/10 {
				t.Errorf("%d of %d frames are painted", painted, len(s.frames))
			}
		})
	}
}

// decodeClip decodes the first frames of a clip and tracks the faces in them.
func decodeClip(t *testing.T, path string, width, height, frames int) *scene {
	t.Helper()
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tracker := tracking.NewTracker(detector, fps)
	decoded := sharedtest.Frames(t, width, height, "-i", path, "-frames:v", strconv.Itoa(frames))
	if len(decoded) != frames {
		t.Fatalf("%s: got %d frames, want %d", path, len(decoded), frames)
	}
	s := &scene{}
	for _, f := range decoded {
		faces, _, err := tracktest.Add(t.Context(), tracker, f)
		if err != nil {
			t.Fatal(err)
		}
		s.frames, s.faces = append(s.frames, f), append(s.faces, faces)
	}
	return s
}
