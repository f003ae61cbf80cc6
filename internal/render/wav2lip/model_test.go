package wav2lip

import (
	"strings"
	"testing"

	"lipsync/internal/network/batch"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/neural"
)

func info(name string, shape ...int) onnx.Info {
	return onnx.Info{Name: name, Type: onnx.Float32, Shape: shape}
}

// TestModels checks that the inputs of a model are distinguished by their shapes.
func TestModels(t *testing.T) {
	face, sound, out := info("a", -1, 6, 96, 96), info("b", -1, 1, 80, 16), info("c", -1, 3, 96, 96)
	for _, c := range []struct {
		name            string
		inputs, outputs []onnx.Info
		want            neural.Network
	}{
		{"usual", []onnx.Info{sound, face}, []onnx.Info{out}, neural.Network{Pictures: 1, Sound: 0, View: neural.View{Size: 96}, Network: batch.Network{Most: 5}}},
		{"other order", []onnx.Info{face, sound}, []onnx.Info{out}, neural.Network{Pictures: 0, Sound: 1, View: neural.View{Size: 96}, Network: batch.Network{Most: 5}}},
		{"output unknown", []onnx.Info{face, sound}, []onnx.Info{info("c", -1, -1, -1, -1)}, neural.Network{Pictures: 0, Sound: 1, View: neural.View{Size: 96}, Network: batch.Network{Most: 5}}},
		{"fixed, 288", []onnx.Info{info("x", 2, 6, 288, 288), info("y", 2, 1, 80, 16)}, []onnx.Info{info("z", 2, 3, 288, 288)},
			neural.Network{Pictures: 0, Sound: 1, View: neural.View{Size: 288}, Network: batch.Network{Most: 2, Fixed: true}}},
	} {
		got, err := describe(c.inputs, c.outputs, 5)
		if err != nil || got.Pictures != c.want.Pictures || got.Sound != c.want.Sound || got.View.Size != c.want.View.Size ||
			got.Most != c.want.Most || got.Fixed != c.want.Fixed {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// TestCPUBatch checks that batches of large faces are smaller, and that a size that
// no model has, which is refused later on, does no harm.
func TestCPUBatch(t *testing.T) {
	for size, want := range map[int]int{0: 4, 96: 4, 128: 4, 192: 1, 256: 1, 288: 1, 384: 1, 512: 1, 1 << 28: 1} {
		if got := cpuBatch(size); got != want {
			t.Errorf("%d pixels: got %d, want %d", size, got, want)
		}
	}
}

// TestHostileModels checks that each model is refused in a sentence with the reason.
func TestHostileModels(t *testing.T) {
	face, sound, out := info("a", -1, 6, 96, 96), info("b", -1, 1, 80, 16), info("c", -1, 3, 96, 96)
	for _, c := range []struct {
		name            string
		inputs, outputs []onnx.Info
		want            string
	}{
		{"nothing", nil, nil, "its inputs are [] and its outputs []"},
		{"no sound", []onnx.Info{face}, []onnx.Info{out}, "its inputs are"},
		{"two faces", []onnx.Info{face, face}, []onnx.Info{out}, "its inputs are"},
		{"one more input", []onnx.Info{face, sound, sound}, []onnx.Info{out}, "its inputs are"},
		{"two outputs", []onnx.Info{face, sound}, []onnx.Info{out, out}, "its outputs"},
		{"not even a shape", []onnx.Info{info("a"), sound}, []onnx.Info{out}, "its inputs are"},
		{"not square", []onnx.Info{info("a", -1, 6, 96, 128), sound}, []onnx.Info{out}, "its inputs are"},
		{"any size", []onnx.Info{info("a", -1, 6, -1, -1), sound}, []onnx.Info{out}, "of -1 pixels"},
		{"huge", []onnx.Info{info("a", -1, 6, 1<<20, 1<<20), sound}, []onnx.Info{out}, "of 1048576 pixels"},
		{"another output", []onnx.Info{face, sound}, []onnx.Info{info("c", -1, 3, 48, 48)}, "its output is c float32 n×3×48×48, not n×3×96×96"},
		{"batches differ", []onnx.Info{info("a", 2, 6, 96, 96), sound}, []onnx.Info{out}, "its batch is of 2 faces but of -1 sounds"},
		{"no batch", []onnx.Info{info("a", 0, 6, 96, 96), info("b", 0, 1, 80, 16)}, []onnx.Info{out}, "its batch is of 0 faces"},
		{"huge batch", []onnx.Info{info("a", 1<<40, 6, 96, 96), info("b", 1<<40, 1, 80, 16)}, []onnx.Info{out}, "its batch is of 1099511627776 faces"},
		{"large batch", []onnx.Info{info("a", 65, 6, 96, 96), info("b", 65, 1, 80, 16)}, []onnx.Info{out}, "its batch is of 65 faces, not of 1 to 64"},
	} {
		_, err := describe(c.inputs, c.outputs, 5)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
		}
	}
}
