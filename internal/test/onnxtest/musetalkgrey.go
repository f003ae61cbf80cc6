package onnxtest

import "lipsync/internal/network/onnx"

// MuseTalkGrey is the network of a role of MuseTalk, such as musetalk-encoder. Together such networks hear nothing, and paint the
// whole face in one grey, in no time.
func MuseTalkGrey(role string) Graph {
	const width = 8 // of a state
	latent, picture := []int{-1, 4, 32, 32}, []int{-1, 3, 256, 256}
	switch role {
	case "musetalk-hearing":
		return filled("mel", []int{-1, 80, 3000}, "states", []int{-1, 1500, 5, width}, 0)
	case "musetalk-encoder":
		return filled("picture", picture, "latent", latent, 0)
	case "musetalk":
		g := filled("latents", []int{-1, 8, 32, 32}, "latent", latent, 0)
		g.Inputs = append(g.Inputs, onnx.Info{Name: "sound", Type: onnx.Float32, Shape: []int{-1, 50, width}})
		return g
	}
	return filled("latent", latent, "picture", picture, .5)
}

// filled is a network whose output is full of a value, for as many items as its input has.
func filled(in string, from []int, out string, to []int, value float32) Graph {
	ints := func(name string, values ...int64) Tensor {
		return Tensor{Name: name, Shape: []int{len(values)}, Ints: values}
	}
	rest := make([]int64, len(to)-1)
	for i, size := range to[1:] {
		rest[i] = int64(size)
	}
	return Graph{
		Inputs:       []onnx.Info{{Name: in, Type: onnx.Float32, Shape: from}},
		Outputs:      []onnx.Info{{Name: out, Type: onnx.Float32, Shape: to}},
		Initializers: []Tensor{ints("first", 0), ints("rest", rest...), {Name: "value", Shape: []int{1}, Floats: []float32{value}}},
		Nodes: []Node{
			{Op: "Shape", Inputs: []string{in}, Outputs: []string{"sizes"}},
			{Op: "Gather", Inputs: []string{"sizes", "first"}, Outputs: []string{"items"}, Attributes: map[string]any{"axis": 0}},
			{Op: "Concat", Inputs: []string{"items", "rest"}, Outputs: []string{"to"}, Attributes: map[string]any{"axis": 0}},
			{Op: "Expand", Inputs: []string{"value", "to"}, Outputs: []string{out}},
		},
	}
}
