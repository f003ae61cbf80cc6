package speaker

import (
	_ "embed"
	"encoding/binary"
	"encoding/csv"
	"math"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/cepstra.csv
var cepstraGolden string

// TestCepstra compares cepstra with those of python_speech_features; see
// testdata/cepstra.py. It hears the samples in pieces of odd lengths.
func TestCepstra(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(cepstraGolden)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c := NewCepstra()
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

// goldenSound is a sweep with noise, and then silence.
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

func BenchmarkCepstra(b *testing.B) {
	second := make([]byte, 32000)
	c := NewCepstra()
	for b.Loop() {
		c.rows = c.rows[:0]
		if _, err := c.Write(second); err != nil {
			b.Fatal(err)
		}
	}
}
