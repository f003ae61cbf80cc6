package score

import (
	"bytes"
	"encoding/binary"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/signal/geom"
)

const fps = 25.

// babble returns samples of tones whose loudness changes at random, some four times a second.
func babble(seed uint64, seconds int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, 2*sampleRate*seconds)
	from, to := 0., 0.
	const syllable = sampleRate / 8
	for i := range len(b) / 2 {
		if i%syllable == 0 {
			from, to = to, r.Float64()
		}
		gain := from + (to-from)*float64(i%syllable)/syllable
		t := float64(i) / sampleRate
		binary.LittleEndian.PutUint16(b[2*i:], uint16(int16(8000*gain*(math.Sin(2*math.Pi*700*t)+.3*math.Sin(2*math.Pi*200*t)))))
	}
	return b
}

func read(t testing.TB, samples []byte) *Sound {
	t.Helper()
	s, err := Read(bytes.NewReader(samples))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// speaking returns mouths whose lower half becomes darker as far as the samples open them, with noise. They are late by some frames.
func speaking(t testing.TB, samples []byte, n, late int) []Frame {
	all := make([]Frame, n)
	for i := range all {
		all[i].Number = i
	}
	curve, ok := read(t, samples).opening(all, fps)
	if !ok {
		t.Fatal("nobody speaks")
	}
	r := rand.New(rand.NewPCG(9, 9))
	for i := range all {
		for k := range all[i].Mouth {
			all[i].Mouth[k] = 100 + float32(5*r.NormFloat64())
			if at := i - late; k >= cells/2 && at >= 0 && at < n {
				all[i].Mouth[k] -= float32(40 * curve[at])
			}
		}
	}
	return all
}

// TestOf scores mouths that move with a speech, earlier and later, and with another one.
func TestOf(t *testing.T) {
	speech := babble(1, 10)
	for late := -6; late <= 6; late += 3 {
		got, ok := Of(speaking(t, speech, 250, late), read(t, speech), fps)
		if !ok || got.Offset != late || got.Confidence < .99 {
			t.Errorf("%d frames late: got %+v, %t", late, got, ok)
		}
	}
	sure := 0
	const others = 40
	mouths := speaking(t, speech, 250, 0)
	for seed := range uint64(others) {
		if got, _ := Of(mouths, read(t, babble(seed+2, 10)), fps); got.Confidence >= .95 {
			sure++
		}
	}
	if sure > 6 { // with a chance of 1 in 20, more than 6 of 40 have a chance of 1 in 300
		t.Errorf("%d of %d other speeches have a confidence of .95", sure, others)
	}
}

// TestOfParts scores two people who speak in turn, and are seen in parts of the video only.
func TestOfParts(t *testing.T) {
	speech := babble(1, 20)
	var seen []Frame
	for _, f := range speaking(t, speech, 500, 2) {
		if f.Number%125 < 60 {
			f.Person = f.Number / 125 % 2
			if f.Person == 1 { // whose mouth becomes brighter
				for k, v := range f.Mouth {
					f.Mouth[k] = 200 - v
				}
			}
			seen = append(seen, f)
		}
	}
	if got, ok := Of(seen, read(t, speech), fps); !ok || got.Offset != 2 || got.Confidence < .99 {
		t.Errorf("got %+v, %t, want an offset of 2", got, ok)
	}
}

// TestOfLittle has no score without enough mouths, or without speech. Mouths that don't move have a confidence of 0.
func TestOfLittle(t *testing.T) {
	speech := babble(1, 10)
	all := speaking(t, speech, 250, 0)
	var parts []Frame // each shorter than a second
	for _, f := range all {
		if f.Number%25 < 20 {
			parts = append(parts, f)
		}
	}
	for name, c := range map[string]struct {
		frames []Frame
		speech []byte
		fps    float64
	}{
		"short": {all[:74], speech, fps}, "no mouths": {nil, speech, fps}, "short parts": {parts, speech, fps}, "a low rate": {all, speech, 9.9},
		"silence": {all, make([]byte, len(speech)), fps}, "no samples": {all, nil, fps}, "speech elsewhere": {all[125:], speech[:2*sampleRate*5], fps},
	} {
		if got, ok := Of(c.frames, read(t, c.speech), c.fps); ok {
			t.Errorf("%s: got %+v, want no score", name, got)
		}
	}
	for i := range all {
		all[i].Mouth = Mouth{7: 100}
	}
	if got, ok := Of(all, read(t, speech), fps); !ok || got.Confidence != 0 {
		t.Errorf("at rest: got %+v, %t, want a confidence of 0", got, ok)
	}
}

// TestMouthOf finds the cells of a mouth in a frame.
func TestMouthOf(t *testing.T) {
	frame := image.NewYCbCr(image.Rect(0, 0, 400, 400), image.YCbCrSubsampleRatio420)
	for i := range frame.Y {
		frame.Y[i] = uint8(i % 400 / 2) // a ramp from left to right
	}
	m := MouthOf(frame, geom.Similarity{A: 100, X: 20, Y: 30})
	for k, v := range m {
		x := 20 + 100*(regionLeft+regionSide/side*(float64(k%side)+.5))
		if want := x / 2; math.Abs(float64(v)-want) > .5 {
			t.Errorf("cell %d: got %.2f, want %.2f", k, v, want)
		}
	}
}

// TestSurrogates checks that surrogates have the pauses of their curve, about its spectrum, and other values in each frame.
func TestSurrogates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const pause, end, edge, slow = 100, 200, 10, 4 // frames
	curve := make([]float64, 400)
	for i := range curve {
		curve[i] = r.NormFloat64()
		if i >= pause && i < end {
			curve[i] *= .01
		}
	}
	quick(curve, 3)
	steps := func(x []float64) (sum float64) {
		for i := 1; i < len(x); i++ {
			sum += math.Abs(x[i] - x[i-1])
		}
		return sum
	}
	l := newLike(curve, slow)
	for range 5 {
		other := l.curve(l.phased())
		var product, squares, quiet float64
		for i, v := range other {
			product += v * curve[i]
			squares += curve[i] * curve[i]
			if i >= pause+edge && i < end-edge {
				quiet += v * v
			}
		}
		if quiet > .01*squares {
			t.Errorf("%.3f of the movement is in the pause", quiet/squares)
		}
		if ratio := steps(other) / steps(curve); math.Abs(product) > .3*squares || ratio < .8 || ratio > 1.25 {
			t.Errorf("correlation %.2f, steps %.2f times as large", product/squares, ratio)
		}
	}
}

// FuzzRead reads any samples. The opening that they ask for must be a number in each frame. Nothing else of the samples is in a score.
func FuzzRead(f *testing.F) {
	f.Add(babble(1, 4)[:3201])
	f.Add([]byte{})
	f.Add(append(babble(1, 1), make([]byte, 4000)...)) // with digital silence
	frames := make([]Frame, 90)
	for i := range frames {
		frames[i].Number = i
	}
	f.Fuzz(func(t *testing.T, samples []byte) {
		curve, ok := read(t, samples).opening(frames, fps)
		if ok && len(curve) != len(frames) || slices.ContainsFunc(curve, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }) {
			t.Errorf("got %v", curve)
		}
	})
}

// BenchmarkOf scores as many mouths as are measured of one output, at most.
func BenchmarkOf(b *testing.B) {
	speech := babble(1, 82)
	mouths, sound := speaking(b, speech, 2048, 0), read(b, speech)
	for b.Loop() {
		Of(mouths, sound, fps)
	}
}
