package speaker

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/mfcc.csv
var mfccGolden string

// TestMFCC compares MFCC with those of python_speech_features, which testdata/mfcc.py wrote. The samples
// are written in pieces of an odd length.
func TestMFCC(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(mfccGolden)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c := NewMFCC()
	for b := goldenSound(); len(b) > 0; {
		n := min(len(b), 333)
		if got, err := c.Write(b[:n]); got != n || err != nil {
			t.Fatalf("wrote %d of %d bytes, %v", got, n, err)
		}
		b = b[n:]
	}
	// The last window of the golden ones is not full.
	if got, want := len(c.rows), len(rows)-1; got != want {
		t.Fatalf("%d rows, want %d", got, want)
	}
	for i, row := range rows {
		for k, text := range row {
			want, _ := strconv.ParseFloat(text, 64)
			if got := float64(c.at(i)[k]); math.Abs(got-want) > 1e-3 {
				t.Errorf("row %d, coefficient %d: got %.4f, want %.4f", i, k, got, want)
			}
		}
	}
}

// goldenSound returns a sweep with noise, and then silence.
func goldenSound() (samples []byte) {
	seed := uint64(1)
	for i := range 4000 {
		seed = (seed*1103515245 + 12345) % (1 << 31)
		x := 0.
		if i < 2400 {
			x = 6000*math.Sin(float64(i*i)/9000) + 900*(float64(seed)/(1<<31)-.5)
		}
		samples = binary.LittleEndian.AppendUint16(samples, uint16(int16(x)))
	}
	return samples
}

// FuzzMFCC writes any sound in pieces of n bytes.
func FuzzMFCC(f *testing.F) {
	f.Add([]byte{}, 1)
	f.Add([]byte{1}, 1)
	f.Add(goldenSound()[:1200], 333)
	f.Add(make([]byte, 2*windowSamples), 2*windowSamples-1)
	f.Add(bytes.Repeat([]byte{255, 127, 0, 128}, 300), 3)
	f.Fuzz(func(t *testing.T, sound []byte, n int) {
		if n < 1 {
			return
		}
		whole, pieces := NewMFCC(), NewMFCC()
		if got, err := whole.Write(sound); got != len(sound) || err != nil {
			t.Fatalf("wrote %d of %d bytes, %v", got, len(sound), err)
		}
		for piece := range slices.Chunk(sound, n) {
			if got, err := pieces.Write(piece); got != len(piece) || err != nil {
				t.Fatalf("wrote %d of %d bytes, %v", got, len(piece), err)
			}
		}
		want := 0
		if samples := len(sound) / 2; samples >= windowSamples {
			want = (samples-windowSamples)/hopSamples + 1
		}
		if len(whole.rows) != want || !slices.Equal(whole.rows, pieces.rows) {
			t.Fatalf("%d rows, and %d or others of pieces; want %d", len(whole.rows), len(pieces.rows), want)
		}
		for i, row := range whole.rows {
			for k, v := range row {
				if !(math.Abs(float64(v)) < 1e3) {
					t.Errorf("row %d, coefficient %d: %g", i, k, v)
				}
			}
		}
	})
}

func BenchmarkMFCC(b *testing.B) {
	second := make([]byte, 32000)
	c := NewMFCC()
	for b.Loop() {
		c.rows = c.rows[:0]
		if _, err := c.Write(second); err != nil {
			b.Fatal(err)
		}
	}
}
