package people

import (
	"image"
	"testing"
	"time"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/pixels"
)

// grey returns the pixels around a face.
func grey() *pixels.Crop {
	frame := image.NewYCbCr(image.Rect(0, 0, 160, 96), image.YCbCrSubsampleRatio420)
	return pixels.NewCrop(frame, frame.Rect, 25)
}

// TestManyPeople keeps the people who are seen longest, and not more boxes than an answer can have.
func TestManyPeople(t *testing.T) {
	p := NewGatherer(1)
	crop := grey()
	for frame := range 400 {
		f := alignment.Frame{Index: frame}
		for n := frame / 2; n < mostPeople+20; n++ { // person n is seen in the first 2n + 2 frames
			f.Faces = append(f.Faces, alignment.Face{Person: n, Box: detection.Box{X: 80, Y: 48, Size: 40}, Crop: crop})
		}
		p.Add(f)
	}
	faces, err := p.Faces(400, func(frames int) time.Duration { return time.Duration(frames) * time.Second })
	if err != nil || len(faces) != mostPeople {
		t.Fatalf("got %d faces, %v, want %d", len(faces), err, mostPeople)
	}
	for _, f := range faces {
		if f.Last < 42 {
			t.Errorf("got a person until %v s, want those who are seen longer", f.Last)
		}
	}
}

// TestShare counts frames that are not tracked, which have no crop, except before the first one that is.
func TestShare(t *testing.T) {
	p := NewGatherer(60)
	crop := grey()
	for frame := range 60 {
		face := alignment.Face{Box: detection.Box{X: 80, Y: 48, Size: 40}}
		if frame%2 == 1 {
			face.Crop = crop
		}
		p.Add(alignment.Frame{Index: frame, Faces: []alignment.Face{face}})
	}
	faces, err := p.Faces(60, func(frames int) time.Duration { return time.Duration(frames) * time.Second })
	if err != nil || len(faces) != 1 || faces[0].First != 1 || faces[0].Last != 60 || faces[0].Share != .983 {
		t.Errorf("got %+v, %v", faces, err)
	}
}

// TestForgetPeople keeps a bounded number of people of a video that shows another one in each frame, and one in all frames.
func TestForgetPeople(t *testing.T) {
	p := NewGatherer(60)
	crop := grey()
	for frame := range 3 * mostKnown {
		face := alignment.Face{Box: detection.Box{X: 80, Y: 48, Size: 40}, Crop: crop}
		other := face
		other.Person = frame + 1
		p.Add(alignment.Frame{Index: frame, Faces: []alignment.Face{other, face}})
		if len(p.byPerson) > mostKnown {
			t.Fatalf("got %d people in memory", len(p.byPerson))
		}
	}
	if q := p.byPerson[0]; q == nil || q.frames != 3*mostKnown {
		t.Errorf("got %+v, want the one in all frames", q)
	}
}
