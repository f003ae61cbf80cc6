//go:build cgo

package musetalk_test

import (
	"math"
	"slices"
	"testing"

	"lipsync/internal/test/onnxtest"
)

// TestNetworks runs the small networks in a row, and checks the shapes of what goes in and out, and
// that a sound changes the picture.
func TestNetworks(t *testing.T) {
	run := func(role string, output []int, numbers ...[]float32) []float32 {
		t.Helper()
		session := onnxtest.Load(t, onnxtest.MuseTalk(t, role))
		var shapes [][]int
		for _, in := range session.Inputs() {
			shape := slices.Clone(in.Shape)
			shape[0] = output[0]
			shapes = append(shapes, shape)
		}
		b, err := session.Bind(t.Context(), shapes, [][]int{output})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		for i, n := range numbers {
			if got, want := len(b.Input(i)), len(n); got != want {
				t.Fatalf("%s: input %d has %d numbers, want %d", role, i, got, want)
			}
			copy(b.Input(i), n)
		}
		if err := b.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(b.Output(0))
	}
	waves := func(count int, step float64) []float32 {
		numbers := make([]float32, count)
		for i := range numbers {
			numbers[i] = float32(math.Sin(float64(i) * step))
		}
		return numbers
	}
	states := run("musetalk-hearing", []int{1, 1500, 5, 32}, waves(80*3000, .7))
	latents := run("musetalk-encoder", []int{2, 4, 32, 32}, waves(2*3*256*256, .001))
	sound := slices.Concat(states[:50*32], states[5000*32:5050*32])
	painted := run("musetalk", []int{2, 4, 32, 32}, slices.Concat(latents, latents), sound)
	pictures := run("musetalk-decoder", []int{2, 3, 256, 256}, painted)
	var off float64
	half := len(pictures) / 2
	for i, v := range pictures[:half] {
		off += math.Abs(float64(v - pictures[half+i]))
	}
	if off /= float64(half); !(off > .01 && off < 1) {
		t.Errorf("another sound changes pictures by %.3f, want at least .01 of their range", off)
	}
}
