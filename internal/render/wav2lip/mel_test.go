package wav2lip

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"lipsync/internal/test/neuraltest"
	"lipsync/internal/test/sharedtest"
	"math"
	"os"
	"testing"
)

// voice reads the shared recording.
func voice(t testing.TB) *io.SectionReader {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, "media", "speech.wav"))
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("data")) + 8
	return io.NewSectionReader(bytes.NewReader(data), int64(at), int64(len(data)-at))
}

// goldenMel reads the reference's own numbers: 80 rows of columns.
func goldenMel(t testing.TB) (values []float32, width int) {
	t.Helper()
	data, err := os.ReadFile(sharedtest.Path(t, "golden", "mel.npy"))
	if err != nil {
		t.Fatal(err)
	}
	data = data[10+int(binary.LittleEndian.Uint16(data[8:])):] // after the header of NumPy's format 1
	values = make([]float32, len(data)/4)
	if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, values); err != nil {
		t.Fatal(err)
	}
	return values, len(values) / bands
}

// TestMelEqualsReference compares every window with the published code's.
func TestMelEqualsReference(t *testing.T) {
	want, width := goldenMel(t)
	samples := voice(t)
	if got := columnsOf(samples.Size() / 2); got != width {
		t.Fatalf("%d columns, want %d", got, width)
	}
	l, w := newSpectrogram(), new(window)
	worst := 0.
	for start := 0; start <= width-columns; start++ {
		if err := l.fill(w, samples, start); err != nil {
			t.Fatal(err)
		}
		for b := range bands {
			for c := range columns {
				d := math.Abs(float64(w[b*columns+c] - want[b*width+start+c]))
				worst = max(worst, d)
			}
		}
	}
	if worst > 1e-4 {
		t.Errorf("differs from the reference by %g, want at most 1e-4", worst)
	}
}

func TestWindowsEqualReference(t *testing.T) {
	data, err := os.ReadFile(sharedtest.Path(t, "golden", "windows.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden map[string]struct {
		Windows     int
		First, Last []int
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	total := columnsOf(voice(t).Size() / 2)
	for name, fps := range map[string]float64{"23.976": 24000. / 1001, "25": 25, "29.97": 30000. / 1001, "30": 30, "50": 50, "60": 60} {
		want := golden[name]
		if want.Windows == 0 {
			t.Fatalf("no windows at %s", name)
		}
		at := func(frame int) int { return windowStart(frame, fps, total) }
		for i, w := range want.First {
			if at(i) != w {
				t.Errorf("%s: frame %d hears column %d, want %d", name, i, at(i), w)
			}
		}
		for k, w := range want.Last {
			if i := want.Windows - len(want.Last) + k; at(i) != w {
				t.Errorf("%s: frame %d hears column %d, want %d", name, i, at(i), w)
			}
		}
		for i := want.Windows; i < want.Windows+50; i++ {
			if at(i) != total-columns {
				t.Errorf("%s: frame %d after the end hears column %d, want the last window", name, i, at(i))
			}
		}
	}
}

// TestShortSounds checks sounds that are shorter than a window.
func TestShortSounds(t *testing.T) {
	for _, n := range []int{0, 1, 2, 199, 399, 400, 401, 3199, 3200} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			sound := make([]int16, n)
			for i := range sound {
				sound[i] = int16(8000 * math.Sin(float64(i)))
			}
			w := new(window)
			start := windowStart(3, 25, columnsOf(int64(n)))
			if err := newSpectrogram().fill(w, neuraltest.PCM(sound), start); err != nil {
				t.Fatal(err)
			}
			loudest := float32(-4)
			for _, v := range w {
				if v < -4 || v > 4 || v != v {
					t.Fatalf("a value of %g", v)
				}
				loudest = max(loudest, v)
			}
			if (loudest > -4) != (n > 2) { // two samples sway too fast for any band
				t.Errorf("the loudest value is %g", loudest)
			}
		})
	}
}

func TestReflect(t *testing.T) {
	for _, c := range []struct{ i, n, want int }{
		{-1, 5, 1}, {-4, 5, 4}, {-5, 5, 3}, {0, 5, 0}, {4, 5, 4}, {5, 5, 3}, {8, 5, 0}, {9, 5, 1}, {-3, 1, 0}, {3, 0, 0}, {-3, 2, 1},
	} {
		if got := reflect(c.i, c.n); got != c.want {
			t.Errorf("%d of %d: got %d, want %d", c.i, c.n, got, c.want)
		}
	}
}

// FuzzListen computes the window of any sound, at a frame and a frame rate.
func FuzzListen(f *testing.F) {
	f.Add([]byte{}, 0, 25.)
	f.Add([]byte{1}, 3, 25.)
	f.Add(bytes.Repeat([]byte{255, 127, 0, 128}, 3000), 5, 23.976)
	f.Add(make([]byte, 9999), 1000, 60.)
	f.Fuzz(func(t *testing.T, data []byte, frame int, fps float64) {
		if !(fps >= 1 && fps <= 120) || frame < 0 || frame > 1<<40 {
			return
		}
		sound, w := io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), new(window)
		start := windowStart(frame, fps, columnsOf(sound.Size()/2))
		if err := newSpectrogram().fill(w, sound, start); err != nil {
			t.Fatal(err)
		}
		for i, v := range w {
			if !(v >= -4 && v <= 4) {
				t.Errorf("band %d, column %d: %g", i/columns, i%columns, v)
			}
		}
	})
}

func BenchmarkListen(b *testing.B) {
	samples, l, w := voice(b), newSpectrogram(), new(window)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := l.fill(w, samples, i%500); err != nil {
			b.Fatal(err)
		}
	}
}
