package neural

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/neuraltest"
)

// swaying is a head that moves, turns and grows.
func swaying(i int) facetest.Head {
	s, c := math.Sincos(float64(i) / 40)
	return facetest.Head{X: 160 + 20*s, Y: 120 + 8*c, Eyes: 50 + 4*s, Turn: .1 * c}
}

// TestTracks follows one face through enough frames that they are aligned in
// several parts. In some the tracker misses it, in others it is gone, and a new
// track starts when it comes back.
func TestTracks(t *testing.T) {
	within := func(i int, ranges ...int) int { // counts firsts and ends up to i: odd from the first of each two to before the second
		k, _ := slices.BinarySearch(ranges, i+1)
		return k
	}
	missed := func(i int) bool { return within(i, 10, 13, 50, 53, 82, 85, 93, 96, 150, 151)%2 == 1 }
	lives := func(i int) int { return within(i, 86, 92, 130, 140, 200, 260) }
	gone := func(i int) bool { return lives(i)%2 == 1 }
	track := func(i int) int { return 7 + lives(i)/2 }
	const frames = 330
	a, err := newTestEngine(t, 96, 4, neuraltest.AsItIs).Analyse(engine.Video{Width: 320, Height: 300, FPS: 25})
	if err != nil {
		t.Fatal(err)
	}
	aligner := alignment.NewAligner(25)
	for i := range frames {
		h := swaying(i)
		faces := neuraltest.Tracked(facetest.Frame(320, 300, h), h)
		faces[0].Track = track(i)
		if missed(i) || gone(i) {
			faces = nil
		}
		neuraltest.AddAll(t, a, aligner.Add(faces, false))
	}
	neuraltest.AddAll(t, a, aligner.End())
	planned, err := a.Plan(t.Context(), engine.Output{
		Frames: frames, Source: func(output int) int { return output }, Speaker: track, Samples: neuraltest.PCM(neuraltest.Tone(frames * 16000 / 25)),
	})
	if err != nil {
		t.Fatal(err)
	}
	p := planned.(*painter)
	for i := range frames {
		onto, ok := p.at(i)
		if ok == gone(i) {
			t.Errorf("frame %d: the face is there: %t, want %t", i, ok, !gone(i))
			continue
		}
		if !ok {
			continue
		}
		h := swaying(i)
		x, y := h.At(0, facetest.Lips)
		got := onto.Apply(geom.Point{X: 1.2, Y: .45 + facetest.Lips})
		if d := geom.Distance(got, geom.Point{X: float32(x), Y: float32(y)}); !(d <= 1.6) { // beside a gap they are smoothed across it
			t.Errorf("frame %d: the lips are %.2f pixels off", i, d)
		}
	}
	for i, want := range map[int]int{9: 1, 11: 1, 85: 1, 88: 0, 135: 0, 150: 1, 259: 0, 329: 1} {
		mouths, err := p.Paint(t.Context(), i, facetest.Frame(320, 300, swaying(i)))
		if err != nil || len(mouths) != want {
			t.Errorf("frame %d: %d mouths, %v, want %d", i, len(mouths), err, want)
		}
	}
}

// TestNobodySpeaks checks frames in which no one, or someone unknown, speaks.
func TestNobodySpeaks(t *testing.T) {
	a, drawn := neuraltest.Draw(t, newTestEngine(t, 96, 1, neuraltest.AsItIs), 25, 320, 300, 2, neuraltest.Still)
	for _, track := range []int{-1, 3} {
		p, err := a.Plan(t.Context(), engine.Output{
			Frames: 2, Source: func(int) int { return 1 }, Speaker: func(int) int { return track }, Samples: neuraltest.PCM(nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		if mouths, err := p.Paint(t.Context(), 0, drawn[1]); err != nil || len(mouths) != 0 {
			t.Errorf("track %d: %d mouths, %v, want none", track, len(mouths), err)
		}
	}
}

// TestTwoPeople follows two people, who speak in turn, over a cut, after which they sit closer and have other tracks. The mouth of the one
// who speaks is painted, where it is.
func TestTwoPeople(t *testing.T) {
	const frames, cut = 60, 30
	head := func(i, person int) facetest.Head {
		if i < cut {
			return facetest.Head{X: 140 + float64(300*person), Y: 120, Eyes: 40}
		}
		return facetest.Head{X: 500 - float64(200*person), Y: 150, Eyes: 50}
	}
	track := func(i, person int) int {
		if i < cut {
			return person
		}
		return 2 + person
	}
	speaks := func(i int) int { return i / 7 % 2 }
	e := newTestEngine(t, 96, 4, neuraltest.AsItIs)
	a, err := e.Analyse(engine.Video{Width: 640, Height: 360, FPS: 25})
	if err != nil {
		t.Fatal(err)
	}
	aligner := alignment.NewAligner(25)
	for i := range frames {
		var faces []tracking.Face
		for person := range 2 {
			h := head(i, person)
			for _, face := range neuraltest.Tracked(facetest.Frame(640, 360, h), h) {
				face.Track = track(i, person)
				faces = append(faces, face)
			}
		}
		neuraltest.AddAll(t, a, aligner.Add(faces, i == cut))
	}
	neuraltest.AddAll(t, a, aligner.End())
	p, err := a.Plan(t.Context(), engine.Output{
		Frames: frames, Source: func(output int) int { return output }, Speaker: func(i int) int { return track(i, speaks(i)) },
		Samples: neuraltest.PCM(neuraltest.Tone(frames * 16000 / 25)),
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		m := neuraltest.Mouth(t, p, i, facetest.Frame(640, 360, head(i, speaks(i))))
		for person := range 2 {
			x, y := head(i, person).At(0, facetest.Lips)
			if got := m.Mask.AlphaAt(int(x), int(y)).A; got > 0 != (person == speaks(i)) {
				t.Errorf("frame %d: the mask on the mouth of person %d is %d, and %d speaks", i, person, got, speaks(i))
			}
		}
		m.Release()
	}
}
