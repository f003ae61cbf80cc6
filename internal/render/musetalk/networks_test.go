//go:build cgo

package musetalk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/onnx"
	"lipsync/internal/network/vet"
	"lipsync/internal/test/onnxtest"
)

// The files of testdata are made by export/reference.py, which says what each holds.

// golden reads a file of testdata.
func golden(t *testing.T, name string) []float32 {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]float32, len(content)/4)
	if err := binary.Read(bytes.NewReader(content), binary.LittleEndian, numbers); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// TestNetworks checks that the small networks make of the same inputs what the published networks
// make with the same weights. Files of 16 bits are within .01 of the range.
func TestNetworks(t *testing.T) {
	first, columns := golden(t, "mel.f32"), 160
	mel := slices.Repeat([]float32{slices.Min(first)}, 80*3000)
	for band := range 80 {
		copy(mel[band*3000:], first[band*columns:(band+1)*columns])
	}
	pictures := make([]float32, 2*3*256*256)
	for i := range pictures {
		c, y, x := float64(i/(256*256)%3), float64(i/256%256), float64(i%256)
		pictures[i] = float32(math.Sin(x*.05+c) * math.Cos(y*.03+x*y*.0005-c))
		if i < len(pictures)/2 && y >= 128 {
			pictures[i] = -1
		}
	}
	latents, painted, windows := golden(t, "latents.f32"), golden(t, "painted.f32"), golden(t, "windows.f32")
	const step = 5 * 32 // numbers of the five states of a step

	states := run(t, "musetalk-hearing", []int{1, 1500, 5, 32}, mel)
	near(t, "the sound of frame 15", states[26*step:36*step], windows[3*10*step:4*10*step], .01)
	near(t, "the latents", run(t, "musetalk-encoder", []int{2, 4, 32, 32}, pictures), latents, .01)
	near(t, "the painted latents", run(t, "musetalk", []int{1, 4, 32, 32}, latents, windows[3*10*step:4*10*step]), painted, .01)
	picture := run(t, "musetalk-decoder", []int{1, 3, 256, 256}, painted)
	rgb, err := os.ReadFile("testdata/painted.rgb")
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]float32, len(rgb)), make([]float32, len(rgb))
	for i, v := range rgb {
		c, y, x := i%3, i/3/64*4, i/3%64*4
		got[i], want[i] = min(max(picture[(c*256+y)*256+x], 0), 1)*255, float32(v)
	}
	near(t, "the picture", got, want, 2./255)
}

// TestNodesForGPUs checks that ONNX Runtime takes the networks with their nodes for GPUs, except the one operator that the CPU lacks.
func TestNodesForGPUs(t *testing.T) {
	for _, role := range []string{"musetalk", "musetalk-encoder", "musetalk-decoder"} {
		content, err := os.ReadFile(onnxtest.MuseTalk(t, role))
		if err != nil {
			t.Fatal(err)
		}
		own, err := vet.ForCUDA(content)
		if err != nil || own == nil {
			t.Fatalf("%s: got %d bytes, %v", role, len(own), err)
		}
		_, err = onnxtest.Runtime(t).LoadModel(onnx.NewModel(role, own), onnx.Options{Providers: []onnx.Provider{onnx.CPU}})
		if want := "Failed to find kernel for com.microsoft.GroupNorm"; !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: got %v, want %s", role, err, want)
		}
	}
}

// run runs a small network, and returns its output.
func run(t *testing.T, role string, output []int, inputs ...[]float32) []float32 {
	t.Helper()
	session := onnxtest.Load(t, onnxtest.MuseTalk(t, role))
	var shapes [][]int
	for _, in := range session.Inputs() {
		shapes = append(shapes, slices.Concat(output[:1], in.Shape[1:]))
	}
	b, err := session.Bind(t.Context(), shapes, [][]int{output})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i, numbers := range inputs {
		if copy(b.Input(i), numbers) != len(b.Input(i)) {
			t.Fatalf("%s: got %d numbers, want %d", role, len(numbers), len(b.Input(i)))
		}
	}
	if err := b.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return slices.Clone(b.Output(0))
}

// near checks that no number is off by more than a part of the range.
func near(t *testing.T, what string, got, want []float32, part float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d numbers, want %d", what, len(got), len(want))
	}
	var off float64 // NaN if any number is
	for i, v := range got {
		off = max(off, math.Abs(float64(v-want[i])))
	}
	if off /= float64(slices.Max(want) - slices.Min(want)); !(off <= part) {
		t.Errorf("%s: off by %.1e of the range, want at most %.1e", what, off, part)
	}
}
