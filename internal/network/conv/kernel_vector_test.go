//go:build amd64 || arm64

package conv

import (
	"math"
	"math/rand/v2"
	"testing"
)

// needVectors skips a test where the kernels in assembly can't run.
func needVectors(t *testing.T) {
	t.Helper()
	if !vectors {
		t.Skip("the processor has no AVX2 and FMA, so only the kernels in Go run")
	}
}

// TestPlain runs tests of whole networks with the kernels in Go, which other tests run only where the processor can't do more.
func TestPlain(t *testing.T) {
	needVectors(t)
	vectors = false
	defer func() { vectors = true }()
	t.Run("convolutions", TestConvolutions)
	t.Run("part", TestPart)
	t.Run("matrix", TestMatrix)
	t.Run("at once", TestAtOnce)
}

// near checks that the kernel in assembly has written what the one in Go has.
func near(t *testing.T, got, want []float32) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i] - w)); !(d < 1e-5) && !(math.IsNaN(float64(got[i])) && math.IsNaN(float64(w))) && got[i] != w {
			t.Fatalf("number %d is %v, want %v", i, got[i], w)
		}
	}
}

// TestMultiply compares the product of a block in assembly with that in Go.
func TestMultiply(t *testing.T) {
	needVectors(t)
	random := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		p := product{depth: 4 * (1 + random.IntN(20)), panels: 1 + random.IntN(5), pixels: Block}
		p.inPitch, p.outPitch, p.addPitch = random.IntN(100), p.panels*lanes+random.IntN(9), p.panels*lanes+random.IntN(9)
		p.addPanels = random.IntN(p.panels + 1)
		p.in, p.weights = numbers(random, Block*100+p.depth), numbers(random, p.panels*lanes*p.depth)
		p.bias, p.slopes = numbers(random, p.panels*lanes), numbers(random, p.panels*lanes)
		p.add = numbers(random, Block*p.addPitch)
		if random.IntN(10) == 0 {
			p.in[random.IntN(len(p.in))] = float32(math.NaN())
			p.in[random.IntN(len(p.in))] = float32(math.Inf(1))
		}
		p.out = numbers(random, Block*p.outPitch)
		want := p
		want.out = append([]float32(nil), p.out...)
		want.plain()
		p.run()
		near(t, p.out, want.out)
	}
}

// TestSlide compares windows in assembly with those in Go.
func TestSlide(t *testing.T) {
	needVectors(t)
	random := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		w := window{panels: 1 + random.IntN(5), pixels: 1 + random.IntN(20)}
		w.pitch = w.panels * lanes
		w.step = w.pitch * (1 + random.IntN(2))
		size := (w.pixels-1)*w.step + 3*w.pitch
		w.above, w.centre, w.below = numbers(random, size), numbers(random, size), numbers(random, size)
		w.weights = numbers(random, w.panels*lanes*taps)
		if random.IntN(10) == 0 {
			w.centre[random.IntN(size)] = float32(math.NaN())
		}
		w.out = numbers(random, w.pixels*w.pitch+lanes)
		want := w
		want.out = append([]float32(nil), w.out...)
		want.plain()
		w.run()
		near(t, w.out, want.out)
	}
}
