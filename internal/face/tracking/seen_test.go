package tracking

import (
	"context"
	"image"
	"math"
	"testing"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
)

// mouthless is a detector that doesn't find the mouths of two in three faces, by their place.
type mouthless struct{ detection.Detector }

func (f mouthless) LocateMouth(ctx context.Context, frame *image.YCbCr, face detection.Face) (detection.Face, bool, error) {
	if int(100*face.Box.X)%3 > 0 {
		return detection.Face{}, false, nil
	}
	return f.Detector.LocateMouth(ctx, frame, face)
}

// TestPlaceAtOnce places the mouths of two people in all frames at once, after the tracker has seen all. They must be as if the
// mouths of each frame were placed before the next frame, also where a mouth isn't found.
func TestPlaceAtOnce(t *testing.T) {
	d := mouthless{newDetector(t, "", "")}
	var frames []*image.YCbCr
	for i := range 40 {
		frames = append(frames, facetest.Frame(width, height,
			facetest.Head{X: 160 + 3*float64(i), Y: 150, Eyes: 48, Turn: .08 * math.Sin(float64(i)/4)}, facetest.Head{X: 460, Y: 160 + .5*float64(i), Eyes: 42}))
	}
	one, many := NewTracker(d, 25), NewTracker(d, 25)
	var all []*Seen
	for _, frame := range frames {
		seen, err := many.Add(t.Context(), frame)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, seen)
	}
	var g errgroup.Group
	for i, seen := range all {
		g.Go(func() error { return seen.Place(t.Context(), frames[i]) })
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	still, kept := 0, 0 // mouths that were not found, and those of them that are placed on the face as in the frame before
	var before []Face
	for i, frame := range frames {
		faces, _, err := add(t.Context(), one, frame)
		if err != nil || len(faces) != len(all[i].Faces) {
			t.Fatalf("frame %d: %d faces, want %d; %v", i, len(all[i].Faces), len(faces), err)
		}
		for k := range faces {
			if got, want := all[i].Faces[k].Face, faces[k].Face; got != want {
				t.Errorf("frame %d, face %d: got %v, want %v", i, k, got, want)
			}
			if i > 0 && int(100*faces[k].Box.X)%3 > 0 {
				still++
				if d := drop(&faces[k]) - drop(&before[k]); d < 1e-4 && d > -1e-4 {
					kept++
				}
			}
		}
		before = faces
	}
	if still < 20 || 10*kept < 8*still { // the others are in frames in which the whole face was detected
		t.Errorf("of %d mouths that were not found, %d stayed as they were; want most of at least 20", still, kept)
	}
}

// drop returns the distance from the nose to the lower lip, in distances of the pupils.
func drop(f *Face) float32 {
	return geom.Distance(f.Landmarks[detection.Nose], f.Landmarks[detection.LowerLip]) / f.Eyes()
}

// TestLost checks why no face is found in the last frame of scenes.
func TestLost(t *testing.T) {
	still := figure{person: man, x: 320, y: 180, scale: 1}
	small, leaves, gone := still, still, still
	small.scale, leaves.dx, gone.to = .12, -25, 6
	for _, c := range []struct {
		name   string
		frames int
		who    []figure
		want   Lost
	}{
		{"nobody", 16, nil, Unseen},
		{"too small", 16, []figure{small}, TooSmall},
		{"too small for long", 90, []figure{small}, TooSmall},
		{"walks out", 16, []figure{leaves}, Outside},
		{"walked out", 90, []figure{leaves}, Unseen},
		{"turns away", 16, []figure{gone}, TurnedAway},
		{"turned away", 90, []figure{gone}, Unseen},
		{"is there", 16, []figure{still}, Unseen},
	} {
		t.Run(c.name, func(t *testing.T) {
			tracker, got := NewTracker(newDetector(t, "", ""), 25), Unseen
			for _, frame := range compose(t, c.frames, c.who...) {
				seen, err := tracker.Add(t.Context(), frame)
				if err != nil {
					t.Fatal(err)
				}
				got = seen.Lost
			}
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// mistaken is a detector that takes something for a face once, and locates none.
type mistaken struct {
	detection.Detector
	searches, closer *int
}

func (m mistaken) Detect(_ context.Context, _ *image.YCbCr, smallest float64) ([]detection.Face, error) {
	if smallest == 0 {
		*m.closer++
		return nil, nil
	}
	if *m.searches++; *m.searches > 1 {
		return nil, nil
	}
	return []detection.Face{{Box: detection.Box{X: 320, Y: 180, Size: 100}}}, nil
}

func (mistaken) Locate(context.Context, *image.YCbCr, detection.Face) (f detection.Face, ok bool, err error) {
	return f, false, nil
}

// TestLostFades wants what a search took for a face once to say for two seconds why there is none, and small faces to be searched for after that.
func TestLostFades(t *testing.T) {
	m := mistaken{searches: new(int), closer: new(int)}
	tracker, frame := NewTracker(m, 25), facetest.Frame(width, height)
	for i := range 60 {
		seen, err := tracker.Add(t.Context(), frame)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]Lost{true: TurnedAway}[i < 50]; seen.Lost != want || i < 50 && *m.closer > 0 {
			t.Errorf("frame %d: got %v after %d searches for small faces, want %v", i, seen.Lost, *m.closer, want)
		}
	}
	if *m.closer == 0 {
		t.Error("nobody searched for small faces")
	}
}
