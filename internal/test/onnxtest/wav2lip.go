package onnxtest

import "lipsync/internal/network/onnx"

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

// Endless is AsItIs, but on sound that isn't silent it computes for ever.
func Endless() Graph { return AsItIs().Endless("mel") }

// Grey is a network of the Wav2Lip kind, which paints the whole face in one grey.
func Grey() Graph {
	g := AsItIs()
	g.Nodes[0].Outputs = []string{"seen"}
	g.Initializers = append(g.Initializers,
		Tensor{Name: "none", Shape: []int{1}, Floats: []float32{0}}, Tensor{Name: "half", Shape: []int{1}, Floats: []float32{.5}})
	g.Nodes = append(g.Nodes,
		Node{Op: "Mul", Inputs: []string{"seen", "none"}, Outputs: []string{"black"}},
		Node{Op: "Add", Inputs: []string{"black", "half"}, Outputs: []string{"face"}})
	return g
}
