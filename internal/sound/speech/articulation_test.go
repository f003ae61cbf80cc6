package speech

import (
	"bytes"
	"embed"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// testdata holds speech with known sounds, of voices that didn't train the
// network; training/testdata.py writes it.
//
//go:embed testdata
var testdata embed.FS

var recordings = []string{"human-librivox", "human-cards", "festival-lj"}

// sound is a sound of speech, in seconds and the names of training/phones.py.
type sound struct {
	Start, End float64
	Sound      string
}

// recording returns a recording of testdata.
func recording(t *testing.T, name string) []float64 {
	t.Helper()
	wav, err := testdata.ReadFile("testdata/" + name + ".wav")
	if err != nil {
		t.Fatal(err)
	}
	const header = 44
	x := make([]float64, (len(wav)-header)/2)
	for i := range x {
		x[i] = float64(int16(uint16(wav[header+2*i])|uint16(wav[header+2*i+1])<<8)) / (1 << 15)
	}
	return x
}

func sounds(t *testing.T, name string) []sound {
	t.Helper()
	file, err := testdata.ReadFile("testdata/sounds.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string][]sound
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	return all[name]
}

// marks counts known sounds, and those of them that the networks hear.
type marks struct{ closures, closed, vowels, shut, teeth, bitten int }

func (m *marks) add(a []Articulation, sounds []sound) {
	for _, s := range sounds {
		from, to := int(math.Round(s.Start*HopRate)), int(math.Round(s.End*HopRate))
		during := a[min(from, len(a)):min(to, len(a))]
		if len(during) == 0 {
			continue
		}
		low, high := float32(1), float32(0)
		bitten := false
		for _, v := range during {
			low, high = min(low, v.Opening), max(high, v.Opening)
			bitten = bitten || v.Labiodental > max(.5, v.Closure)
		}
		switch s.Sound {
		case "m", "b", "p":
			m.closures++
			m.closed += count(low < .15)
		case "a", "A", "&", "0", "V", "O", "E", "e":
			m.vowels++
			m.shut += count(high < .15)
		case "f", "v":
			m.teeth++
			m.bitten += count(bitten)
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestMarks computes the articulation of people who speak, without noise and with noise 15 dB below the voice.
func TestMarks(t *testing.T) {
	for _, c := range []struct {
		name           string
		noise          float64
		closed, bitten float64
	}{{"clean", 0, .9, .75}, {"noise", .178, .85, 0}} {
		var m marks
		for _, name := range recordings {
			x := recording(t, name)
			for i, v := range hiss(float64(len(x))/SampleRate, c.noise*rms(x)*math.Sqrt(3)) {
				x[i] += v
			}
			m.add(hopsOf(t, read(t, samples(x))), sounds(t, name))
		}
		t.Logf("%s: %+v", c.name, m)
		if m.closures < 12 || m.vowels < 15 || m.teeth < 6 {
			t.Fatalf("%s: too few sounds: %+v", c.name, m)
		}
		if got := float64(m.closed) / float64(m.closures); got < c.closed {
			t.Errorf("%s: lips close in %.2f of m, b and p, want %.2f", c.name, got, c.closed)
		}
		if m.shut > 0 {
			t.Errorf("%s: %d of %d open vowels stay closed", c.name, m.shut, m.vowels)
		}
		if got := float64(m.bitten) / float64(m.teeth); got < c.bitten {
			t.Errorf("%s: %.2f of f and v at the teeth, want %.2f", c.name, got, c.bitten)
		}
	}
}

// rms returns the root of the mean square where x is loud.
func rms(x []float64) float64 {
	var sum, n float64
	for i := 0; i+400 <= len(x); i += 400 {
		var square float64
		for _, v := range x[i : i+400] {
			square += v * v
		}
		if square/400 > 1e-4 {
			sum, n = sum+square, n+400
		}
	}
	return math.Sqrt(sum / n)
}

// TestGain compares the articulation of one recording at different gains.
func TestGain(t *testing.T) {
	for _, name := range recordings {
		x := recording(t, name)
		top := 0.
		for _, v := range x {
			top = max(top, math.Abs(v))
		}
		want := hopsOf(t, read(t, samples(x)))
		for _, gain := range []float64{.99 / top, .3, .1, .03} {
			y := slices.Clone(x)
			for i := range y {
				y[i] *= gain
			}
			for i, got := range hopsOf(t, read(t, samples(y))) {
				if d := difference(got, want[i]); d > .1 {
					t.Errorf("%s, gain %.2f, hop %d: got %.2v, want %.2v", name, gain, i, got, want[i])
					break
				}
			}
		}
	}
}

// TestCompose checks what silence and closure leave of the other numbers.
func TestCompose(t *testing.T) {
	const yes, no = 1, 0
	for _, c := range []struct {
		what string
		y    [outputs]float32
		want Articulation
	}{
		{"an open mouth", [...]float32{yes, no, no, no, no, no}, Articulation{Opening: 1}},
		{"a closure", [...]float32{yes, yes, no, no, no, no}, Articulation{Closure: 1}},
		{"a lip at the teeth", [...]float32{no, no, yes, no, no, no}, Articulation{Labiodental: 1}},
		{"silence", [...]float32{yes, no, yes, no, no, yes}, Articulation{Silence: 1}},
	} {
		if got := compose(&c.y); difference(got, c.want) > .01 {
			t.Errorf("%s: got %.2v, want %.2v", c.what, got, c.want)
		}
	}
}

func difference(a, b Articulation) float64 {
	d := 0.
	for _, v := range []float32{a.Opening - b.Opening, a.Closure - b.Closure, a.Labiodental - b.Labiodental, a.Rounding - b.Rounding, a.Spread - b.Spread, a.Silence - b.Silence} {
		d = max(d, math.Abs(float64(v)))
	}
	return d
}

// TestNoSpeech analyses sounds that no mouth makes.
func TestNoSpeech(t *testing.T) {
	tones := func(seconds float64, hz ...float64) []float64 {
		x := silence(seconds)
		for i := range x {
			for _, f := range hz {
				for k := 1.; k <= 4; k++ {
					x[i] += .08 / k * math.Sin(2*math.Pi*f*k*float64(i)/SampleRate)
				}
			}
		}
		return x
	}
	tone := silence(3)
	for i := range tone {
		tone[i] = .3 * math.Sin(2*math.Pi*1000*float64(i)/SampleRate)
	}
	chords := join(tones(.5, 262, 330, 392), tones(.5, 220, 262, 330), tones(.5, 175, 220, 262), tones(.5, 196, 247, 294))
	for name, x := range map[string][]float64{"noise": hiss(3, .3), "quiet noise": hiss(3, .02), "tone": tone, "chords": join(chords, chords)} {
		var open, silent []float32
		for _, a := range hopsOf(t, read(t, samples(x))) {
			open, silent = append(open, a.Opening), append(silent, a.Silence)
		}
		if got := mean(silent); got < .9 {
			t.Errorf("%s: Silence is %.2f on average, want .9", name, got)
		}
		if got := mean(open); got > .03 {
			t.Errorf("%s: Opening is %.2f on average, want .03", name, got)
		}
	}
}

// TestPauseWithNoise analyses two sentences with noise between them.
func TestPauseWithNoise(t *testing.T) {
	x := recording(t, "human-librivox")
	a := hopsOf(t, read(t, samples(join(x, hiss(1, .03), x))))
	from := len(x) * HopRate / SampleRate
	var open []float32
	for _, v := range a[from+10 : from+90] {
		open = append(open, v.Opening)
	}
	if got := mean(open); got > .05 {
		t.Errorf("between two sentences: Opening is %.2f on average, want .05", got)
	}
}

// TestClosuresReachFrames checks that each closure that is heard closes the frame whose middle is nearest, and those whose middles are within the time
// for which lips touch.
func TestClosuresReachFrames(t *testing.T) {
	for _, name := range recordings {
		s := read(t, samples(recording(t, name)))
		hops := hopsOf(t, s)
		peaks := Closures(hops)
		if len(peaks) < 2 {
			t.Fatalf("%s: %d closures", name, len(peaks))
		}
		for _, fps := range []float64{24000. / 1001, 24, 25, 30, 50, 60} {
			n := int(s.Seconds() * fps)
			frames := framesOf(t, s, fps, n)
			if len(frames) != n {
				t.Fatalf("%s, %g fps: got %d frames, want %d", name, fps, len(frames), n)
			}
			for _, p := range peaks {
				peak := float64(p.Peak) / HopRate
				for i, a := range frames {
					nearest := i == int(math.Round(peak*fps-.5))
					if (nearest || math.Abs((float64(i)+.5)/fps-peak) < touching/2) && (a.Closure != 1 || a.Opening != 0) {
						t.Errorf("%s, %g fps: frame %d, with the closure at %d ms: got %+v", name, fps, i, p.Peak*10, a)
					}
				}
			}
		}
	}
}

func TestClosures(t *testing.T) {
	hops := make([]Articulation, 40)
	for i, v := range map[int]float32{3: .3, 4: .6, 5: .9, 6: .7, 7: .3, 8: .2, 12: .3, 13: .34, 20: .36, 38: .4, 39: .8} {
		hops[i].Closure = v
	}
	if got, want := Closures(hops), []Run{{3, 8, 5}, {20, 21, 20}, {38, 40, 39}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOpenVowels(t *testing.T) {
	frames := make([]Articulation, 12)
	for i, v := range map[int]float32{1: .45, 2: .8, 3: .41, 4: .3, 6: .45, 7: .49, 9: .4, 10: .51, 11: .51} {
		frames[i].Opening = v
	}
	if got, want := OpenVowels(frames), []Run{{1, 4, 2}, {10, 12, 10}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBetweenHops checks the curve between hops and beyond the last.
func TestBetweenHops(t *testing.T) {
	hops := []Articulation{{Opening: 1, Rounding: .5}, {Opening: 0, Spread: 1}}
	for _, c := range []struct {
		fps  float64
		want []Articulation // in the middle of frames
	}{
		{200, []Articulation{{Opening: .75, Spread: .25, Rounding: .375}, {Opening: .25, Spread: .75, Rounding: .125}, hops[1], hops[1], Rest}},
		{50, []Articulation{hops[1], Rest}},
		{1, []Articulation{Rest, Rest}},
		{200, []Articulation{{Opening: .75, Spread: .25, Rounding: .375}}},
	} {
		f := newFrames(c.fps, len(c.want))
		for _, hop := range hops {
			f.add(hop)
		}
		if got := f.end(); !slices.Equal(got, c.want) {
			t.Errorf("%g frames/s: got %+v, want %+v", c.fps, got, c.want)
		}
	}
}

// TestSmoothInPieces checks that hops are the same if they are filtered piece by piece.
func TestSmoothInPieces(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, smoothReach, smoothHops, smoothHops + smoothReach, smoothHops + smoothReach + 1, 3 * smoothHops} {
		all := make([]Articulation, n)
		for i := range all {
			all[i] = Articulation{random.Float32(), random.Float32(), random.Float32(), random.Float32(), random.Float32(), random.Float32()}
		}
		var got []Articulation
		s := smoother{next: func(a Articulation) { got = append(got, a) }}
		for _, a := range all {
			s.add(a)
		}
		s.end()
		if want := smooth(all); !slices.Equal(got, want) {
			t.Errorf("%d hops: got %d others", n, len(got))
		}
	}
}

// TestEmpty asks for frames of an empty sound.
func TestEmpty(t *testing.T) {
	for i, a := range framesOf(t, read(t, bytes.NewReader(nil)), 25, 3) {
		if a != Rest {
			t.Errorf("frame %d: got %+v, want rest", i, a)
		}
	}
}
