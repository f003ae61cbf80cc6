package onnxtest

import (
	"slices"

	"lipsync/internal/network/onnx"
)

// Endless is the network, but it computes for ever when a number of that tensor is
// above 0; else it is as before.
func (g Graph) Endless(tensor string) Graph {
	output := g.Outputs[0].Name
	made := output + " made"
	g.Nodes = slices.Clone(g.Nodes)
	for i, n := range g.Nodes {
		g.Nodes[i].Outputs = slices.Clone(n.Outputs)
		for k, name := range n.Outputs {
			if name == output {
				g.Nodes[i].Outputs[k] = made
			}
		}
	}
	g.Nodes = append(g.Nodes,
		Node{Op: "ReduceMax", Inputs: []string{tensor}, Outputs: []string{"largest"}, Attributes: map[string]any{"keepdims": 0}},
		Node{Op: "Relu", Inputs: []string{"largest"}, Outputs: []string{"above 0"}},
		Node{Op: "Loop", Inputs: []string{"", "", "above 0"}, Outputs: []string{"zero"}, Attributes: map[string]any{"body": whileNotZero()}},
		Node{Op: "Add", Inputs: []string{made, "zero"}, Outputs: []string{output}})
	return g
}

// whileNotZero is the body of a Loop that goes on while its one number is not 0.
func whileNotZero() Graph {
	one := func(name string, t onnx.Type) onnx.Info { return onnx.Info{Name: name, Type: t, Shape: []int{}} }
	return Graph{
		Inputs:  []onnx.Info{one("step", "int64"), one("condition", "bool"), one("number", onnx.Float32)},
		Outputs: []onnx.Info{one("go on", "bool"), one("next", onnx.Float32)},
		Nodes: []Node{
			{Op: "Cast", Inputs: []string{"number"}, Outputs: []string{"go on"}, Attributes: map[string]any{"to": int(elementType("bool"))}},
			{Op: "Identity", Inputs: []string{"number"}, Outputs: []string{"next"}},
		},
	}
}
