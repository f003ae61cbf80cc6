package musetalk

import (
	"slices"
	"strings"
	"testing"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
)

func info(name string, shape ...int) onnx.Info {
	return onnx.Info{Name: name, Type: onnx.Float16, Shape: shape}
}

// TestParts checks that the width of states is that of the model, and that inputs are distinguished by their shapes.
func TestParts(t *testing.T) {
	latents, sound := info("a", -1, 8, 32, 32), info("b", -1, 50, 768)
	for _, c := range []struct {
		role            catalog.Role
		inputs, outputs []onnx.Info
		width           int
		order           []int
	}{
		{catalog.MuseTalkHearing, []onnx.Info{info("x", -1, 80, 3000)}, []onnx.Info{info("y", -1, 1500, 5, 32)}, 32, []int{0}},
		{catalog.MuseTalkEncoder, []onnx.Info{info("x", -1, 3, 256, 256)}, []onnx.Info{info("y", -1, 4, 32, 32)}, 384, []int{0}},
		{catalog.MuseTalkDecoder, []onnx.Info{info("x", -1, 4, 32, 32)}, []onnx.Info{info("y")}, 384, []int{0}},
		{catalog.MuseTalkDecoder, []onnx.Info{info("x", -1, 4, -1, -1)}, []onnx.Info{info("y", -1, 3, -1, -1)}, 384, []int{0}},
		{catalog.MuseTalk, []onnx.Info{latents, sound}, []onnx.Info{info("y", -1, 4, 32, 32)}, 768, []int{0, 1}},
		{catalog.MuseTalk, []onnx.Info{sound, latents}, []onnx.Info{info("y", -1, -1, -1, -1)}, 768, []int{1, 0}},
	} {
		p, err := describe(c.role, c.inputs, c.outputs)
		if err != nil || p.width != c.width || !slices.Equal(p.inputs, c.order) {
			t.Errorf("%s of %v: got %+v, %v, want a width of %d and the order %v", c.role, c.inputs, p, err, c.width, c.order)
		}
	}
}

// TestHostileParts checks that each model is refused in a sentence with the reason.
func TestHostileParts(t *testing.T) {
	latents, sound, out := info("a", -1, 8, 32, 32), info("b", -1, 50, 384), info("c", -1, 4, 32, 32)
	picture := info("p", -1, 3, 256, 256)
	for _, c := range []struct {
		name            string
		role            catalog.Role
		inputs, outputs []onnx.Info
		want            string
	}{
		{"nothing", catalog.MuseTalk, nil, nil, "its inputs are [] and its outputs [], not [n×8×32×32 n×50×384] and n×4×32×32, for any n"},
		{"no sound", catalog.MuseTalk, []onnx.Info{latents}, []onnx.Info{out}, "its inputs are [a float16 n×8×32×32] and"},
		{"latents twice", catalog.MuseTalk, []onnx.Info{latents, latents}, []onnx.Info{out}, "its inputs are"},
		{"any width", catalog.MuseTalk, []onnx.Info{latents, info("b", -1, 50, -1)}, []onnx.Info{out}, "n×50×n"},
		{"no width", catalog.MuseTalk, []onnx.Info{latents, info("b", -1, 50, 0)}, []onnx.Info{out}, "n×50×0"},
		{"huge width", catalog.MuseTalk, []onnx.Info{latents, info("b", -1, 50, 1<<40)}, []onnx.Info{out}, "n×50×1099511627776"},
		{"two outputs", catalog.MuseTalk, []onnx.Info{latents, sound}, []onnx.Info{out, out}, "its outputs [c float16"},
		{"another output", catalog.MuseTalk, []onnx.Info{latents, sound}, []onnx.Info{info("c", -1, 4, 64, 64)}, "n×4×64×64"},
		{"a fixed batch", catalog.MuseTalkEncoder, []onnx.Info{info("p", 1, 3, 256, 256)}, []onnx.Info{out}, "1×3×256×256"},
		{"a fixed batch goes out", catalog.MuseTalkEncoder, []onnx.Info{picture}, []onnx.Info{info("c", 8, 4, 32, 32)}, "8×4×32×32"},
		{"huge batch", catalog.MuseTalkEncoder, []onnx.Info{info("p", 1<<40, 3, 256, 256)}, []onnx.Info{out}, "1099511627776×3"},
		{"no shape", catalog.MuseTalkEncoder, []onnx.Info{info("p")}, []onnx.Info{out}, "of any shape"},
		{"the encoder decodes", catalog.MuseTalkDecoder, []onnx.Info{picture}, []onnx.Info{out}, "not [n×4×32×32] and n×3×256×256"},
		{"hears no states", catalog.MuseTalkHearing, []onnx.Info{info("m", -1, 80, 3000)}, []onnx.Info{info("s", -1, 1500, 384)}, "n×1500×384"},
		{"hears any width", catalog.MuseTalkHearing, []onnx.Info{info("m", -1, 80, 3000)}, []onnx.Info{info("s", -1, 1500, 5, -1)}, "n×1500×5×n"},
		{"hears more bands", catalog.MuseTalkHearing, []onnx.Info{info("m", -1, 128, 3000)}, []onnx.Info{info("s", -1, 1500, 5, 384)}, "n×128×3000"},
	} {
		_, err := describe(c.role, c.inputs, c.outputs)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), string(c.role)) || strings.Contains(err.Error(), "%!") {
			t.Errorf("%s: got %v, want %q in it", c.name, err, c.want)
		}
	}
}
