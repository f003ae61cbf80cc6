package musetalk

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"lipsync/internal/test/neuraltest"
)

// sound reads the samples of a file.
func sound(t testing.TB, path string) *io.SectionReader {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("data")) + 8
	return io.NewSectionReader(bytes.NewReader(data), int64(at), int64(len(data)-at))
}

// melOf returns the spectrogram of the stretch that begins with a sample.
func melOf(t testing.TB, samples *io.SectionReader, from int64) []float32 {
	t.Helper()
	l, mel := spectrograms.Get().(*spectrogram), make([]float32, bands*columns)
	defer spectrograms.Put(l)
	if err := l.fill(mel, samples, from); err != nil {
		t.Fatal(err)
	}
	return mel
}

// golden reads numbers of testdata. export/reference.py makes its files by the published code's libraries, and says what each holds.
func golden(t testing.TB, name string, n int) []float32 {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]float32, n)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, numbers); err != nil || len(data) != 4*n {
		t.Fatalf("%s: %d bytes, %v", name, len(data), err)
	}
	return numbers
}

// TestMelEqualsReference compares with the spectrogram that the published code gets. From the column 160 on it is silent.
func TestMelEqualsReference(t *testing.T) {
	const width = 160
	want := golden(t, "mel.f32", bands*width)
	silent, worst := slices.Min(want), 0.
	for i, v := range melOf(t, sound(t, "testdata/sound.wav"), 0) {
		reference := silent
		if b, c := i/columns, i%columns; c < width {
			reference = want[b*width+c]
		}
		worst = max(worst, math.Abs(float64(v-reference)))
	}
	if !(worst <= 1e-4) {
		t.Errorf("differs from the reference by %g, want at most 1e-4", worst)
	}
}

// TestMelOfLaterStretch checks that a stretch begins where it should, as if the speech began there.
func TestMelOfLaterStretch(t *testing.T) {
	tone := neuraltest.Tone(70 * 16000)
	const from = 26 * 16000
	if got, want := melOf(t, neuraltest.PCM(tone), from), melOf(t, neuraltest.PCM(tone[from:]), 0); !slices.Equal(got, want) {
		t.Error("it differs from that of the speech from there on")
	}
}

// TestMelOfSilence checks stretches without a sample.
func TestMelOfSilence(t *testing.T) {
	for _, n := range []int{0, 1} {
		mel := melOf(t, neuraltest.PCM(make([]int16, n)), 0)
		if slices.Min(mel) != -1.5 || slices.Max(mel) != -1.5 {
			t.Errorf("%d samples: from %g to %g, want -1.5", n, slices.Min(mel), slices.Max(mel))
		}
	}
}

// FuzzMel computes the spectrogram of any sound.
func FuzzMel(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte{1}, 0)
	f.Add(bytes.Repeat([]byte{255, 127, 0, 128}, 3000), 7)
	f.Add(make([]byte, 9999), 6000)
	f.Fuzz(func(t *testing.T, data []byte, from int) {
		if from < 0 || from > 1<<40 {
			return
		}
		mel := melOf(t, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), int64(from))
		for i, v := range mel {
			if !(v >= -1.5 && v <= 2.5) {
				t.Fatalf("band %d, column %d: %g", i/columns, i%columns, v)
			}
		}
	})
}

func BenchmarkMel(b *testing.B) {
	samples := sound(b, "testdata/sound.wav")
	for b.Loop() {
		melOf(b, samples, 0)
	}
}
