package speaker

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lipsync/internal/sound/speech"
	"lipsync/internal/test/check"
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
	c := NewMFCC(check.Scratch(t))
	for b := goldenSound(); len(b) > 0; {
		n := min(len(b), 333)
		if got, err := c.Write(b[:n]); got != n || err != nil {
			t.Fatalf("wrote %d of %d bytes, %v", got, n, err)
		}
		b = b[n:]
	}
	// The last window of the golden ones is not full.
	if got, want := c.rows, len(rows)-1; got != want {
		t.Fatalf("%d rows, want %d", got, want)
	}
	for i, row := range rows {
		at := rowsOf(t, c, i, 1)
		for k, text := range row {
			want, _ := strconv.ParseFloat(text, 64)
			if got := float64(at[k]); math.Abs(got-want) > 1e-3 {
				t.Errorf("row %d, coefficient %d: got %.4f, want %.4f", i, k, got, want)
			}
		}
	}
}

// rowsOf returns rows of coefficients, one after the other.
func rowsOf(t *testing.T, c *MFCC, from, n int) []float32 {
	t.Helper()
	rows := make([]float32, n*coefficients)
	check.Must(t, c.fill(rows, from))
	return rows
}

// TestMFCCEnd reads rows at the end of a sound, and after it.
func TestMFCCEnd(t *testing.T) {
	c := NewMFCC(check.Scratch(t))
	_, err := c.Write(goldenSound()[:4000])
	check.Must(t, err)
	all := rowsOf(t, c, 0, c.rows+3)
	silence := slices.Repeat(c.silence[:], 3)
	for from := range c.rows + 1 {
		if got, want := rowsOf(t, c, from, c.rows+3-from), all[from*coefficients:]; !slices.Equal(got, want) {
			t.Errorf("from row %d: got %v, want %v", from, got, want)
		}
	}
	if end := all[c.rows*coefficients:]; !slices.Equal(end, silence) || slices.Equal(all[:coefficients], c.silence[:]) {
		t.Errorf("after the end: got %v, want silence %v", end, silence)
	}
	if got := rowsOf(t, c, c.rows+1000, 3); !slices.Equal(got, silence) {
		t.Errorf("long after the end: got %v, want silence %v", got, silence)
	}
}

// TestMFCCMemory checks that a longer sound takes no more memory.
func TestMFCCMemory(t *testing.T) {
	c, second := NewMFCC(check.Scratch(t)), make([]byte, 2*speech.SampleRate)
	write := func(seconds int) (used int) {
		for range seconds {
			_, err := c.Write(second)
			check.Must(t, err)
		}
		return check.Heap()
	}
	if before, after := write(10), write(100); after-before > 64<<10 {
		t.Errorf("100 s take %d bytes of memory", after-before)
	}
	runtime.KeepAlive(c)
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
		whole, pieces := NewMFCC(check.Scratch(t)), NewMFCC(check.Scratch(t))
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
		rows := rowsOf(t, whole, 0, want)
		if whole.rows != want || !slices.Equal(rows, rowsOf(t, pieces, 0, want)) {
			t.Fatalf("%d rows, and %d or others of pieces; want %d", whole.rows, pieces.rows, want)
		}
		for i, v := range rows {
			if !(math.Abs(float64(v)) < 1e3) {
				t.Errorf("row %d, coefficient %d: %g", i/coefficients, i%coefficients, v)
			}
		}
	})
}

func BenchmarkMFCC(b *testing.B) {
	second := make([]byte, 32000)
	c := NewMFCC(check.Scratch(b))
	for b.Loop() {
		if _, err := c.Write(second); err != nil {
			b.Fatal(err)
		}
	}
}
