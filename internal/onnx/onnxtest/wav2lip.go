package onnxtest

import "lipsync/internal/onnx"

// AsItIs is a network of the Wav2Lip kind, which paints the face as it is.
func AsItIs() Graph {
	return Graph{
		Inputs: []onnx.Info{
			{Name: "mel", Type: onnx.Float32, Shape: []int{-1, 1, 80, 16}},
			{Name: "faces", Type: onnx.Float32, Shape: []int{-1, 6, 96, 96}},
		},
		Outputs: []onnx.Info{{Name: "face", Type: onnx.Float32, Shape: []int{-1, 3, 96, 96}}},
		Initializers: []Tensor{
			{Name: "from", Shape: []int{1}, Ints: []int64{3}}, {Name: "to", Shape: []int{1}, Ints: []int64{6}},
			{Name: "axis", Shape: []int{1}, Ints: []int64{1}},
		},
		Nodes: []Node{{Op: "Slice", Inputs: []string{"faces", "from", "to", "axis"}, Outputs: []string{"face"}}},
	}
}

// Endless is AsItIs, but on faces that aren't all black it computes for ever.
func Endless() Graph {
	one := func(name string) onnx.Info { return onnx.Info{Name: name, Type: onnx.Float32, Shape: []int{}} }
	body := Graph{
		Inputs: []onnx.Info{
			{Name: "step", Type: "int64", Shape: []int{}}, {Name: "before", Type: "bool", Shape: []int{}}, one("v"),
		},
		Outputs: []onnx.Info{{Name: "more", Type: "bool", Shape: []int{}}, one("next")},
		Nodes: []Node{
			{Op: "Cast", Inputs: []string{"v"}, Outputs: []string{"more"}, Attributes: map[string]any{"to": 9}}, // bool
			{Op: "Identity", Inputs: []string{"v"}, Outputs: []string{"next"}},
		},
	}
	g := AsItIs()
	g.Initializers = append(g.Initializers, Tensor{Name: "nothing", Floats: []float32{0}})
	g.Nodes = []Node{
		{Op: "ReduceMax", Inputs: []string{"faces"}, Outputs: []string{"brightest"}, Attributes: map[string]any{"keepdims": 0}},
		{Op: "Loop", Inputs: []string{"", "", "brightest"}, Outputs: []string{"last"}, Attributes: map[string]any{"body": body}},
		{Op: "Mul", Inputs: []string{"last", "nothing"}, Outputs: []string{"none"}},
		{Op: "Slice", Inputs: []string{"faces", "from", "to", "axis"}, Outputs: []string{"seen"}},
		{Op: "Add", Inputs: []string{"seen", "none"}, Outputs: []string{"face"}},
	}
	return g
}
