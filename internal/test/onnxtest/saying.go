package onnxtest

import (
	"slices"

	"lipsync/internal/network/onnx"
)

// Saying is a network that sees a picture of 8 × 8 pixels, in, and always says the
// same: outputs a, b and so on.
func Saying(outputs ...Tensor) Graph {
	g := Graph{Inputs: []onnx.Info{{Name: "in", Type: onnx.Float32, Shape: []int{1, 3, 8, 8}}}}
	for i, value := range outputs {
		name := string(rune('a' + i))
		value.Name = name + " of"
		g.Initializers = append(g.Initializers, value)
		g.Nodes = append(g.Nodes, Node{Op: "Identity", Inputs: []string{value.Name}, Outputs: []string{name}})
		g.Outputs = append(g.Outputs, onnx.Info{Name: name, Type: onnx.Float32, Shape: value.Shape})
	}
	return g
}

// Product multiplies its inputs, a of any number of rows of 3 and b of one, to c.
func Product(kind onnx.Type) Graph {
	return Graph{
		Inputs:  []onnx.Info{{Name: "a", Type: kind, Shape: []int{-1, 3}}, {Name: "b", Type: kind, Shape: []int{1, 3}}},
		Outputs: []onnx.Info{{Name: "c", Type: kind, Shape: []int{-1, 3}}},
		Nodes:   []Node{{Op: "Mul", Inputs: []string{"a", "b"}, Outputs: []string{"c"}}},
	}
}

// Full is a tensor of one value.
func Full(value float32, shape ...int) Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	return Tensor{Shape: shape, Floats: slices.Repeat([]float32{value}, n)}
}
