package onnxtest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"lipsync/internal/network/onnx"
)

// Graph is a network, of which Write makes a file. The numbers of fields are those
// of onnx.proto3 of the ONNX project; the operators are those of its opset 17.
type Graph struct {
	Inputs, Outputs []onnx.Info
	Nodes           []Node
	Initializers    []Tensor
}

// Node is one step of a network.
type Node struct {
	Op              string
	Domain          string // of the operator; "": ONNX's own
	Inputs, Outputs []string
	Attributes      map[string]any // of int, []int, float64, string, Tensor or Graph
}

// Tensor is a constant. It holds Floats or Ints, or says that a file holds them.
type Tensor struct {
	Name   string
	Shape  []int
	Floats []float32
	Ints   []int64
	File   string
}

// Sequence is the type of an input that is a sequence of tensors, and no tensor.
const Sequence onnx.Type = "sequence"

// elementType is ONNX's number of a type: of more than package onnx takes.
func elementType(t onnx.Type) uint64 {
	return map[onnx.Type]uint64{onnx.Float32: 1, "int64": 7, "string": 8, "bool": 9, onnx.Float16: 10}[t]
}

// Write writes the network to a file.
func (g Graph) Write(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, g.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Bytes are the file's content: a ModelProto.
func (g Graph) Bytes() []byte {
	var m message
	m.varint(1, 8) // ir_version
	m.bytes(7, g.graph("test"))
	var opset message
	opset.bytes(1, nil) // the standard operators
	opset.varint(2, 17)
	m.bytes(8, opset)
	return m
}

func (g Graph) graph(name string) []byte {
	var m message
	for _, n := range g.Nodes {
		m.bytes(1, n.message())
	}
	m.bytes(2, []byte(name))
	for _, t := range g.Initializers {
		m.bytes(5, t.message())
	}
	for _, i := range g.Inputs {
		m.bytes(11, info(i))
	}
	for _, i := range g.Outputs {
		m.bytes(12, info(i))
	}
	return m
}

func (n Node) message() []byte {
	var m message
	for _, name := range n.Inputs {
		m.bytes(1, []byte(name))
	}
	for _, name := range n.Outputs {
		m.bytes(2, []byte(name))
	}
	m.bytes(4, []byte(n.Op))
	m.bytes(7, []byte(n.Domain))
	for _, name := range slices.Sorted(maps.Keys(n.Attributes)) {
		m.bytes(5, attribute(name, n.Attributes[name]))
	}
	return m
}

func attribute(name string, value any) []byte {
	const float, integer, text, tensor, graph, integers = 1, 2, 3, 4, 5, 7
	kind := uint64(0)
	var m message
	m.bytes(1, []byte(name))
	switch v := value.(type) {
	case float64:
		kind = float
		m = protowire.AppendTag(m, 2, protowire.Fixed32Type)
		m = protowire.AppendFixed32(m, math.Float32bits(float32(v)))
	case int:
		kind = integer
		m.varint(3, uint64(v))
	case string:
		kind = text
		m.bytes(4, []byte(v))
	case Tensor:
		kind = tensor
		m.bytes(5, v.message())
	case Graph:
		kind = graph
		m.bytes(6, v.graph(name))
	case []int:
		kind = integers
		for _, i := range v {
			m.varint(8, uint64(i))
		}
	default:
		panic(fmt.Sprintf("attribute %s is a %T", name, value))
	}
	m.varint(20, kind)
	return m
}

func (t Tensor) message() []byte {
	var m message
	for _, size := range t.Shape {
		m.varint(1, uint64(size))
	}
	var raw []byte
	kind := elementType(onnx.Float32)
	for _, x := range t.Floats {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	if t.Ints != nil {
		kind = elementType("int64")
	}
	for _, x := range t.Ints {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
	}
	m.varint(2, kind)
	m.bytes(8, []byte(t.Name))
	if t.File != "" {
		var location message
		location.bytes(1, []byte("location"))
		location.bytes(2, []byte(t.File))
		m.bytes(13, location)
		m.varint(14, 1) // external
		return m
	}
	m.bytes(9, raw)
	return m
}

// info is a ValueInfoProto of a tensor.
func info(i onnx.Info) []byte {
	var shape, tensor, kind, m message
	for _, size := range i.Shape {
		var dim message
		if size != -1 {
			dim.varint(1, uint64(size))
		}
		shape.bytes(1, dim)
	}
	tensor.varint(1, elementType(i.Type))
	if i.Shape != nil {
		tensor.bytes(2, shape)
	}
	kind.bytes(1, tensor)
	if i.Type == Sequence {
		var of message
		of.bytes(1, kind)
		kind = nil
		kind.bytes(4, of)
	}
	m.bytes(1, []byte(i.Name))
	m.bytes(2, kind)
	return m
}

// message is a protobuf message in the making.
type message []byte

func (m *message) bytes(number protowire.Number, value []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, number, protowire.BytesType), value)
}

func (m *message) varint(number protowire.Number, value uint64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, number, protowire.VarintType), value)
}
