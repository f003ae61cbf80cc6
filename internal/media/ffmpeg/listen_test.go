package ffmpeg

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"

	"lipsync/internal/media/ffmpeg/medium"
)

// TestFolding makes one channel of two tones: the same on both sides, on one side only, and of opposite signs.
func TestFolding(t *testing.T) {
	const rate = 16000
	for name, c := range map[string]struct{ left, right, want float64 }{
		"both":     {.5, .5, .5},
		"left":     {.5, 0, .25},
		"right":    {0, .5, .25},
		"opposite": {.5, -.5, .5},
		"nearly":   {.5, -.4, .45},
	} {
		var pairs []float32
		for i := range rate {
			s := math.Sin(2 * math.Pi * 200 * float64(i) / rate)
			pairs = append(pairs, float32(c.left*s), float32(c.right*s))
		}
		var f folding
		var loudest float32
		for _, s := range f.fold(pairs, rate)[rate/10:] {
			loudest = max(loudest, s)
		}
		if math.Abs(float64(loudest)-c.want) > .01 {
			t.Errorf("%s: got %.3f, want %.3f", name, loudest, c.want)
		}
	}
}

// TestPlace puts blocks of 10 samples, at 1000 Hz, into their places.
func TestPlace(t *testing.T) {
	type given struct {
		at    float64 // in seconds
		holds bool
	}
	for name, c := range map[string]struct {
		blocks  []given
		until   int64
		want    int // samples
		silence int // of these
	}{
		"one after the other":       {[]given{{0, true}, {.01, true}, {.02, true}}, 0, 30, 0},
		"inexact":                   {[]given{{0, true}, {.015, true}, {.012, true}}, 0, 30, 0},
		"a begin slightly late":     {[]given{{.004, true}, {.014, true}}, 0, 24, 4},
		"a gap":                     {[]given{{0, true}, {.51, true}, {.52, true}}, 0, 530, 500},
		"a late begin":              {[]given{{.25, true}, {.26, true}}, 0, 270, 250},
		"a begin before the line":   {[]given{{-.025, true}, {-.015, true}, {-.005, true}, {.005, true}}, 0, 15, 0},
		"an overlap":                {[]given{{0, true}, {.01, true}, {.02, true}, {.005, true}, {.015, true}}, 0, 30, 0},
		"a wrong time":              {[]given{{0, true}, {2, false}, {.02, true}}, 0, 30, 0},
		"padding":                   {[]given{{0, true}, {.01, true}, {.02, true}}, 24, 24, 0},
		"more than padding":         {[]given{{0, true}, {.01, true}, {.02, true}, {.03, true}}, 14, 40, 0},
		"sound far after its end":   {[]given{{0, true}, {.01, true}, {1, true}}, 14, 1010, 980},
		"a gap that ends the sound": {[]given{{0, true}, {.01, true}}, 5000, 20, 0},
	} {
		h := &heard{form: form{rate: 1000, channels: 1}, decoded: 1, to: 1 << 30, until: math.MaxInt64, padding: 20}
		if c.until > 0 {
			h.until = c.until
		}
		block := make([]byte, 0, 40)
		for range 10 {
			block = binary.LittleEndian.AppendUint32(block, math.Float32bits(.5))
		}
		var got []byte
		for _, b := range c.blocks {
			if err := h.place(timed{b.at, block}, b.holds); err != nil {
				t.Fatal(err)
			}
			more, err := io.ReadAll(h)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, more...)
		}
		silent := 0
		for i := 0; i < len(got); i += 2 {
			if got[i] == 0 && got[i+1] == 0 {
				silent++
			}
		}
		if len(got)/2 != c.want || silent != c.silence {
			t.Errorf("%s: got %d samples, %d of silence, want %d and %d", name, len(got)/2, silent, c.want, c.silence)
		}
	}
}

// TestLoudest accepts floats up to loudest, in each form, and refuses those that are louder or no numbers.
func TestLoudest(t *testing.T) {
	for s, want := range map[float64]error{1e8: nil, -1e8: nil, 1.1e8: medium.ErrUnsupported, math.Inf(-1): medium.ErrUnsupported, math.NaN(): medium.ErrUnsupported} {
		for _, float := range []bool{false, true} {
			f := form{rate: PCMRate, channels: 1, float: float}
			if _, err := f.convert(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(s))), 1, &folding{}); !errors.Is(err, want) {
				t.Errorf("%g in %+v: got %v, want %v", s, f, err, want)
			}
		}
	}
}
