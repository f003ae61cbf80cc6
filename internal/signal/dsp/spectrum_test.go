package dsp_test

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"lipsync/internal/signal/dsp"
)

// lengths are those of transforms: of 2·4^k samples, and others.
var lengths = []int{2, 8, 32, 512, 4, 6, 16, 30, 64, 800}

// TestPower compares the power with the definition of the Fourier transform, of
// a window of two thirds of the transform's length.
func TestPower(t *testing.T) {
	for _, n := range lengths {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x, weights := random(1, n*2/3), random(2, n*2/3)
			s := dsp.NewSpectrum(weights, n)
			s.Power(random(3, n*2/3)) // leaves nothing behind
			got := s.Power(x)
			if len(got) != n/2+1 {
				t.Fatalf("%d bins, want %d", len(got), n/2+1)
			}
			for k := range got {
				var sum complex128
				for i, v := range x {
					sum += cmplx.Rect(v*weights[i], -2*math.Pi*float64(i*k)/float64(n))
				}
				if want := real(sum)*real(sum) + imag(sum)*imag(sum); math.Abs(got[k]-want) > 1e-10 {
					t.Errorf("bin %d: got %g, want %g", k, got[k], want)
				}
			}
		})
	}
}

// TestParseval checks that the spectrum has the energy of the samples.
func TestParseval(t *testing.T) {
	for _, n := range lengths {
		x := random(uint64(n), n)
		power := dsp.NewSpectrum(ones(n), n).Power(x)
		got := power[0] + power[n/2]
		for _, p := range power[1 : n/2] {
			got += 2 * p // and the mirrored bin's
		}
		want := 0.
		for _, v := range x {
			want += v * v
		}
		if got /= float64(n); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%d samples: got an energy of %g, want %g", n, got, want)
		}
	}
}

// TestSine checks the peak of a tone: half its amplitude times the sum of the
// weights.
func TestSine(t *testing.T) {
	for _, c := range []struct {
		n, bin int
		want   float64
	}{
		{512, 0, 256 * 256}, {512, 1, 128 * 128}, {512, 37, 128 * 128}, {512, 255, 128 * 128}, {512, 256, 256 * 256},
		{800, 37, 200 * 200}, {800, 399, 200 * 200},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = math.Cos(2 * math.Pi * float64(c.bin*i) / float64(c.n))
		}
		for k, got := range dsp.NewSpectrum(dsp.PeriodicHann(c.n), c.n).Power(x) {
			switch away := max(k-c.bin, c.bin-k); {
			case away == 0 && math.Abs(got-c.want) > 1e-6:
				t.Errorf("bin %d of %d: got %g, want %g", k, c.n, got, c.want)
			case away > 1 && got > 1e-12*c.want:
				t.Errorf("tone of bin %d of %d: got %g in bin %d, want 0", c.bin, c.n, got, k)
			}
		}
	}
}

func TestPowerAllocatesNothing(t *testing.T) {
	for _, n := range []int{512, 800} {
		s, x := dsp.NewSpectrum(dsp.Hann(n), n), random(1, n)
		if got := testing.AllocsPerRun(10, func() { s.Power(x) }); got != 0 {
			t.Errorf("%d samples: %g allocations, want 0", n, got)
		}
	}
}

func TestHann(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want []float64
	}{
		{"symmetric", dsp.Hann(5), []float64{0, .5, 1, .5, 0}},
		{"periodic", dsp.PeriodicHann(4), []float64{0, .5, 1, .5}},
		{"shortest", dsp.Hann(2), []float64{0, 0}},
	} {
		if len(c.got) != len(c.want) {
			t.Fatalf("%s: got %v, want %v", c.name, c.got, c.want)
		}
		for i := range c.got {
			if math.Abs(c.got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%s: got %v, want %v", c.name, c.got, c.want)
			}
		}
	}
}

func BenchmarkPower(b *testing.B) {
	for _, n := range []int{512, 800} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, x := dsp.NewSpectrum(dsp.Hann(n), n), random(1, n)
			for b.Loop() {
				s.Power(x)
			}
		})
	}
}

func random(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = r.Float64()*2 - 1
	}
	return x
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}
