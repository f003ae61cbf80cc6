package onnx

import (
	"cmp"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// header is what is read of a model before ONNX Runtime sees it: the inputs and
// outputs, and that the file is whole and alone. The numbers of fields are those
// of onnx.proto3 of the ONNX project.
type header struct {
	inputs, outputs []Info
}

// maxDepth bounds graphs within graphs.
const maxDepth = 16

var (
	errNoModel  = errors.New("it is no ONNX file, or is cut off")
	errExternal = errors.New("its weights lie in other files: export it as one file")
	errNested   = errors.New("its graphs are nested too deeply")
	errFunction = errors.New("it defines functions of its own: export it with standard operators alone")
	errSparse   = errors.New("it has sparse tensors: export it with dense ones")
	errText     = errors.New("it computes with text: export it with numbers alone")
	errSequence = errors.New("it splits a tensor into a sequence of any length: export it with Split")
	errScan     = errors.New("it collects what each turn of a loop makes: export it without Scan and scan outputs of Loop")
	errNoTensor = errors.New("an input or output is no tensor")
	errType     = errors.New("an input or output is neither float32 nor float16")
	errName     = errors.New("an input or output has a name that cannot be shown")
	errShape    = errors.New("an input or output has an impossible shape")
)

// readHeader reads a ModelProto.
func readHeader(model []byte) (header, error) {
	var h header
	graphs := 0
	err := fields(model, func(f field) error {
		switch f.number {
		case 7: // graph
			graphs++
			return h.readGraph(f.bytes)
		case 25: // functions, which may call themselves, or each other many times over
			return errFunction
		}
		return nil
	})
	if err == nil && graphs != 1 {
		err = errNoModel
	}
	return h, err
}

// readGraph reads the outermost GraphProto. Old files list their weights among
// the inputs, with values: those are none.
func (h *header) readGraph(graph []byte) error {
	weights := make(map[string]bool)
	err := fields(graph, func(f field) error {
		if f.number != 5 { // initializer
			return nil
		}
		return fields(f.bytes, func(f field) error {
			if f.number == 8 { // name
				weights[string(f.bytes)] = true
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = fields(graph, func(f field) error {
		switch f.number {
		case 11: // input
			return appendInfo(&h.inputs, f.bytes, weights)
		case 12: // output
			return appendInfo(&h.outputs, f.bytes, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return checkGraph(graph, 0)
}

// appendInfo reads a ValueInfoProto.
func appendInfo(list *[]Info, value []byte, except map[string]bool) error {
	var name string
	var kind []byte
	err := fields(value, func(f field) error {
		switch f.number {
		case 1:
			name = string(f.bytes)
		case 2:
			kind = f.bytes
		}
		return nil
	})
	if err != nil || except[name] {
		return err
	}
	if !printable(name) {
		return errName // it would be written to terminals and logs
	}
	info, err := readType(kind)
	if err != nil {
		return err
	}
	info.Name = name
	*list = append(*list, info)
	return nil
}

// readType reads a TypeProto, which has to be that of a tensor.
func readType(kind []byte) (Info, error) {
	var tensor []byte
	err := fields(kind, func(f field) error {
		if f.number == 1 { // tensor_type
			tensor = f.bytes
		}
		return nil
	})
	if err != nil {
		return Info{}, err
	}
	if tensor == nil {
		return Info{}, errNoTensor
	}
	var info Info
	err = fields(tensor, func(f field) (err error) {
		switch f.number {
		case 1: // elem_type
			info.Type = map[uint64]Type{1: Float32, 10: Float16}[f.varint]
		case 2: // shape
			info.Shape, err = readShape(f.bytes)
		}
		return err
	})
	if err == nil && info.Type == "" {
		err = errType
	}
	return info, err
}

// readShape reads a TensorShapeProto.
func readShape(b []byte) ([]int, error) {
	shape := []int{}
	err := fields(b, func(f field) error {
		if f.number != 1 { // dim
			return nil
		}
		size := -1
		err := fields(f.bytes, func(f field) error {
			if f.number != 1 { // dim_value
				return nil
			}
			if f.varint < 1 || f.varint > maxElements {
				return errShape
			}
			size = int(f.varint)
			return nil
		})
		shape = append(shape, size)
		return err
	})
	if len(shape) > 8 {
		return nil, errShape
	}
	return shape, err
}

// checkGraph walks through a GraphProto in search of weights in other files, and
// of what takes a few bytes of a file and any amount of memory that nothing bounds:
// sparse weights, sequences, what loops collect, and text, of which a network that
// sees numbers alone has none if nothing in the graph makes it.
func checkGraph(graph []byte, depth int) error {
	if depth > maxDepth {
		return errNested
	}
	return fields(graph, func(f field) error {
		switch f.number {
		case 1: // node
			return checkNode(f.bytes, depth)
		case 5: // initializer
			return checkTensor(f.bytes)
		case 15: // sparse_initializer
			return errSparse
		}
		return nil
	})
}

// checkNode checks a NodeProto.
func checkNode(node []byte, depth int) error {
	inputs, outputs, loop := 0, 0, false
	err := fields(node, func(f field) error {
		switch f.number {
		case 1: // input
			inputs++
		case 2: // output
			outputs++
		case 5: // attribute
			return checkAttribute(f.bytes, depth)
		case 4: // op_type
			switch string(f.bytes) {
			case "SplitToSequence": // also into any number of empty tensors
				return errSequence
			case "Scan":
				return errScan
			case "Loop":
				loop = true
			}
		case 7: // domain
			if string(f.bytes) == "ai.onnx.ml" { // whose operators make text of numbers
				return errText
			}
		}
		return nil
	})
	// The first two inputs of a Loop bound it, the others are its state, which the
	// first outputs are too. Each output beyond holds a tensor a turn, even if empty.
	if err == nil && loop && outputs > inputs-2 {
		err = errScan
	}
	return err
}

// checkAttribute checks an AttributeProto.
func checkAttribute(attribute []byte, depth int) error {
	var name string
	var number uint64
	err := fields(attribute, func(f field) error {
		switch f.number {
		case 1:
			name = string(f.bytes)
		case 3: // i
			number = f.varint
		case 5, 10: // t, tensors
			return checkTensor(f.bytes)
		case 6, 11: // g, graphs
			return checkGraph(f.bytes, depth+1)
		case 22, 23: // sparse_tensor, sparse_tensors
			return errSparse
		}
		return nil
	})
	if name == "to" && int32(number) == text || name == "value_string" || name == "value_strings" { // of Cast, Constant
		return cmp.Or(err, errText)
	}
	return err
}

// text is the number of that type of a tensor's elements.
const text = 8

// checkTensor checks that a TensorProto holds numbers, and names no other file.
func checkTensor(tensor []byte) error {
	return fields(tensor, func(f field) error {
		switch {
		case f.number == 13, f.number == 14 && f.varint != 0: // external_data, data_location
			return errExternal
		case f.number == 2 && int32(f.varint) == text: // data_type
			return errText
		}
		return nil
	})
}

// field is one of a message: bytes if it has a length, else varint.
type field struct {
	number protowire.Number
	bytes  []byte
	varint uint64
}

// fields calls f with each field of a message.
func fields(message []byte, f func(field) error) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return errNoModel
		}
		message = message[n:]
		next := field{number: number}
		switch kind {
		case protowire.BytesType:
			next.bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			next.varint, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return errNoModel
		}
		message = message[n:]
		if err := f(next); err != nil {
			return err
		}
	}
	return nil
}
