package speech

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"syscall"
	"testing"
	"testing/iotest"

	"lipsync/internal/test/check"
)

func TestLength(t *testing.T) {
	for _, c := range []struct {
		bytes int
		want  float64 // seconds
	}{
		{0, 0},
		{1, 0}, // half a sample is none
		{2, .01},
		{3, .01},
		{2 * SampleRate, 1},
		{2*SampleRate + 1, 1},
		{2 * SampleRate / 5, .2},
		{2 * (SampleRate/5 - 1), .2},
		{2 * 7 * SampleRate, 7},
	} {
		s := read(t, bytes.NewReader(make([]byte, c.bytes)))
		if got := s.Seconds(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d bytes: got %g s, want %g s", c.bytes, got, c.want)
		}
	}
}

// TestFrames checks that the openings follow the sound at each rate, to the
// end, and stop with it.
func TestFrames(t *testing.T) {
	word := recording(t, "human-librivox")
	word = word[SampleRate/5 : 7*SampleRate/10]
	sound := join(silence(.5), word, silence(.5), word)
	for _, fps := range []float64{24000. / 1001, 25, 30000. / 1001, 50} {
		n := int(2.5 * fps)
		got := openings(t, read(t, samples(sound)), fps, n)
		if len(got) != n {
			t.Fatalf("%g fps: got %d frames, want %d", fps, len(got), n)
		}
		var said, after, pauses float32
		for i, v := range got {
			at := (float64(i) + .5) / fps
			switch inside := math.Mod(at, 1) - .5; { // from the word's start
			case at >= 2.02:
				after = max(after, v)
			case inside > 0:
				said = max(said, v)
			case inside > -.4 && inside < -.1:
				pauses = max(pauses, v)
			}
		}
		if said < .5 || pauses > .05 || after > 0 {
			t.Errorf("%g fps: opens by %.2f in words, %.2f in pauses, %.2f after the end", fps, said, pauses, after)
		}
	}
}

func TestSilence(t *testing.T) {
	for name, sound := range map[string][]float64{
		"nothing":              nil,
		"digital silence":      silence(1),
		"a fifth of a second":  silence(.2),
		"hum and hiss, -70 dB": hiss(1, 3e-4),
	} {
		for i, v := range openings(t, read(t, samples(sound)), 25, 30) {
			if v != 0 {
				t.Errorf("%s: frame %d: got %g, want 0", name, i, v)
			}
		}
	}
}

// TestRareSpeech checks that a word has the same openings in a long silence as in a
// short one.
func TestRareSpeech(t *testing.T) {
	word := join(silence(1.5), recording(t, "human-librivox"), silence(1.5))
	want := openings(t, read(t, samples(join(word, word))), 25, 100)
	if top := slices.Max(want); top < .5 {
		t.Fatalf("in a short silence: opens by %.2f at most", top)
	}
	got := openings(t, read(t, samples(join(word, silence(60), word, silence(30)))), 25, 100)
	for i := range want {
		if math.Abs(float64(got[i]-want[i])) > .1 {
			t.Errorf("frame %d: got %.2f, want %.2f", i, got[i], want[i])
		}
	}
}

// TestStart checks that a sound has the same openings at any time.
func TestStart(t *testing.T) {
	sound := join(silence(1), recording(t, "festival-lj"), silence(1))
	later := join(silence(.2), sound)
	a, b := openings(t, read(t, samples(sound)), 50, 200), openings(t, read(t, samples(later)), 50, 210)
	for i := range a {
		if math.Abs(float64(a[i]-b[i+10])) > .05 {
			t.Errorf("frame %d: %.3f, but %.3f ten frames later", i, a[i], b[i+10])
		}
	}
}

// TestEnd checks that a sound that ends is followed by silence.
func TestEnd(t *testing.T) {
	sound := babble(.3337)
	short, long := read(t, samples(sound)), read(t, samples(join(sound, silence(.5))))
	for i := range short.levels {
		if got, want := *newFeatureReader(short.features).at(i), *newFeatureReader(long.features).at(i); got != want {
			t.Errorf("hop %d of %d: got %v, want %v", i, len(short.levels), got, want)
		}
	}
}

// TestBounds checks that openings are from 0 to 1 in odd sounds too.
func TestBounds(t *testing.T) {
	square := make([]float64, SampleRate)
	for i := range square {
		square[i] = float64(i/40%2)*2 - 1
	}
	click := silence(1)
	click[SampleRate/2] = 1
	steady := make([]float64, SampleRate)
	for i := range steady {
		steady[i] = 1
	}
	for name, sound := range map[string][]float64{
		"square wave": square, "click": click, "steady current": steady, "noise": hiss(1, 1), "one sample": {1}, "loud vowel": vowel(1, 3),
	} {
		for i, v := range openings(t, read(t, samples(sound)), 25, 30) {
			if !(v >= 0 && v <= 1) {
				t.Errorf("%s: frame %d: got %g", name, i, v)
			}
		}
	}
}

func TestLevelsAt(t *testing.T) {
	s := read(t, samples(join(silence(1), vowel(1, .3))))
	got := s.LevelsAt(25, 0, 1001)
	for i, want := range map[int]bool{0: false, 12: false, 37: true, 49: true, 50: false, 1000: false} {
		if loud := got[i] > 0; loud != want {
			t.Errorf("frame %d: %.0f dB, want loud: %t", i, got[i], want)
		}
	}
	for _, part := range [][2]int{{0, 20}, {20, 49}, {40, 60}, {900, 1001}} {
		if some := s.LevelsAt(25, part[0], part[1]); !slices.Equal(some, got[part[0]:part[1]]) {
			t.Errorf("frames %v: got %v, want the same as in all", part, some)
		}
	}
	if got := read(t, bytes.NewReader(nil)).LevelsAt(25, 0, 2); got[0] != -70 || got[1] != -70 {
		t.Errorf("no sound: got %v, want -70 dB", got)
	}
}

// TestBrokenFile computes the articulation of a track whose features can't be read, and reads one whose features can't be written.
func TestBrokenFile(t *testing.T) {
	s := read(t, samples(babble(1)))
	check.Must(t, s.features.Truncate(0))
	if frames, err := s.ArticulationAt(25, 25); err == nil || frames != nil {
		t.Errorf("got %d frames (%v), want an error", len(frames), err)
	}
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	check.Must(t, err)
	defer full.Close()
	if _, err := Read(samples(babble(1)), full); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want a full disk", err)
	}
}

// TestMemory measures how much memory each hop takes until the last one is articulated: its level, and a copy of that.
func TestMemory(t *testing.T) {
	second, err := io.ReadAll(samples(babble(1)))
	check.Must(t, err)
	use := func(seconds int) (used int) {
		before := check.Heap()
		var repeated []io.Reader
		for range seconds {
			repeated = append(repeated, bytes.NewReader(second))
		}
		s, hop := read(t, io.MultiReader(repeated...)), 0
		check.Must(t, s.Articulation(func(Articulation) {
			if hop++; hop == len(s.levels) {
				used = check.Heap() - before
			}
		}))
		return used
	}
	use(1) // makes the networks
	const less, more = 60, 180
	if each := float64(use(more)-use(less)) / ((more - less) * HopRate); each > 12 {
		t.Errorf("a hop takes %.1f bytes of memory, want 12 at most", each)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	_, err := Read(io.MultiReader(bytes.NewReader(make([]byte, 5000)), iotest.ErrReader(broken)), check.Scratch(t))
	if !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

// TestPieces checks that it doesn't matter how the samples arrive.
func TestPieces(t *testing.T) {
	sound := babble(.5)
	whole, bytewise := read(t, samples(sound)), read(t, iotest.OneByteReader(samples(sound)))
	if !slices.Equal(whole.levels, bytewise.levels) {
		t.Fatalf("got %v, want %v", bytewise.levels, whole.levels)
	}
	for i := range whole.levels {
		if got, want := *newFeatureReader(bytewise.features).at(i), *newFeatureReader(whole.features).at(i); got != want {
			t.Errorf("hop %d: got %v, want %v", i, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte{}, 25.)
	f.Add([]byte{1}, 1.)
	f.Add(bytes.Repeat([]byte{0, 128}, 3000), 23.976)
	f.Add(bytes.Repeat([]byte{255, 127, 0, 128}, 1000), 60.)
	f.Add(make([]byte, 9999), 29.97)
	f.Fuzz(func(t *testing.T, data []byte, fps float64) {
		if !(fps >= 1 && fps <= 120) || len(data) > 1<<16 {
			return
		}
		s := read(t, bytes.NewReader(data))
		if got, want := s.Seconds(), float64(len(data)/2)/SampleRate; math.Abs(got-want) > .02 {
			t.Errorf("got %g s, want %g s", got, want)
		}
		for i, a := range framesOf(t, s, fps, int(s.Seconds()*fps)+2) {
			for _, v := range []float32{a.Opening, a.Closure, a.Labiodental, a.Rounding, a.Spread, a.Silence} {
				if !(v >= 0 && v <= 1) {
					t.Errorf("frame %d: got %+v", i, a)
				}
			}
		}
	})
}

func read(t *testing.T, r io.Reader) *Speech {
	t.Helper()
	s, err := Read(r, check.Scratch(t))
	check.Must(t, err)
	return s
}

// hopsOf returns the articulation of each hop.
func hopsOf(t *testing.T, s *Speech) (all []Articulation) {
	t.Helper()
	check.Must(t, s.Articulation(func(a Articulation) { all = append(all, a) }))
	return all
}

// framesOf returns the articulation of frames.
func framesOf(t *testing.T, s *Speech, fps float64, n int) []Articulation {
	t.Helper()
	all, err := s.ArticulationAt(fps, n)
	check.Must(t, err)
	return all
}

// samples encodes values from -1 to 1. Larger values are limited to that range.
func samples(x []float64) io.Reader {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint16(b, uint16(int16(min(max(v, -1), .9999)*(1<<15))))
	}
	return bytes.NewReader(b)
}

func join(parts ...[]float64) (all []float64) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

func silence(seconds float64) []float64 { return make([]float64, int(seconds*SampleRate)) }

// vowel is a voice of 120 Hz with the formants of an open a; hum is one with
// the mouth closed.
func vowel(seconds, level float64) []float64 { return voiceOf(seconds, level, 750, 1200) }
func hum(seconds, level float64) []float64   { return voiceOf(seconds, level, 240, 1000) }

// voiceOf adds the harmonics of a voice, strong around the formants.
func voiceOf(seconds, level, first, second float64) []float64 {
	x := silence(seconds)
	var power float64
	for hz := 120.; hz < 4000; hz += 120 {
		near := func(f, width float64) float64 { return 1 / (1 + (hz-f)*(hz-f)/(width*width)) }
		a := near(first, 90) + .4*near(second, 110) + .002
		power += a * a / 2
		for i := range x {
			x[i] += a * math.Sin(2*math.Pi*hz*float64(i)/SampleRate)
		}
	}
	for i := range x {
		x[i] *= level / math.Sqrt(power) / 2
	}
	return x
}

// hiss is white noise.
func hiss(seconds, level float64) []float64 {
	r := rand.New(rand.NewPCG(1, 1))
	x := silence(seconds)
	for i := range x {
		x[i] = level * (2*r.Float64() - 1)
	}
	return x
}

// babble is syllables: a hum, a vowel, a hiss, and a pause, over a soft noise.
func babble(seconds float64) []float64 {
	x := hiss(seconds, .002)
	syllable := join(hum(.08, .2), vowel(.15, .3), hiss(.07, .08), silence(.1))
	for i := range x {
		x[i] += syllable[i%len(syllable)]
	}
	return x
}

func mean(x []float32) (m float32) {
	for _, v := range x {
		m += v / float32(len(x))
	}
	return m
}

// openings returns the opening in each of n frames.
func openings(t *testing.T, s *Speech, fps float64, n int) []float32 {
	out := make([]float32, n)
	for i, a := range framesOf(t, s, fps, n) {
		out[i] = a.Opening
	}
	return out
}
