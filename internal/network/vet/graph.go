package vet

import "cmp"

// checker checks the graphs of one file.
type checker struct{ nodes int }

// maxNodes bounds the nodes of all graphs together. ONNX Runtime takes 10 s on one core to load a
// chain of so many, and the time grows with their square. The largest network of this
// service, of MuseTalk, has 1088.
const maxNodes = 4096

// checkGraph searches a GraphProto for weights in other files, and for things that can
// take any amount of memory with a few bytes of a file: sparse weights, sequences,
// tensors that loops collect, and text. ONNX Runtime bounds none of that memory. A
// network whose inputs are numbers has no text unless its graph makes some.
func (c *checker) checkGraph(graph []byte, depth int) error {
	if depth > maxDepth {
		return errNested
	}
	return fields(graph, func(f field) error {
		switch f.number {
		case 1: // node
			if c.nodes++; c.nodes > maxNodes {
				return errNodes
			}
			return c.checkNode(f.bytes, depth)
		case 5: // initializer
			return checkTensor(f.bytes)
		case 15: // sparse_initializer
			return errSparse
		}
		return nil
	})
}

// checkNode checks a NodeProto.
func (c *checker) checkNode(node []byte, depth int) error {
	inputs, outputs, loop := 0, 0, false
	err := fields(node, func(f field) error {
		switch f.number {
		case 1: // input
			inputs++
		case 2: // output
			outputs++
		case 5: // attribute
			return c.checkAttribute(f.bytes, depth)
		case 4: // op_type
			switch string(f.bytes) {
			case "SplitToSequence": // even into any number of empty tensors
				return errSequence
			case "Scan":
				return errScan
			case "Loop":
				loop = true
			}
		case 7: // domain
			if string(f.bytes) == "ai.onnx.ml" { // its operators make text of numbers
				return errText
			}
		}
		return nil
	})
	// The first two inputs of a Loop bound the number of its iterations; the others are
	// its state. The first outputs are the state after the loop. Each further output
	// holds one tensor for each iteration, even if the tensor is empty.
	if err == nil && loop && outputs > inputs-2 {
		err = errScan
	}
	return err
}

// checkAttribute checks an AttributeProto.
func (c *checker) checkAttribute(attribute []byte, depth int) error {
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
			return c.checkGraph(f.bytes, depth+1)
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

// text is the number of the type of tensors whose elements are strings.
const text = 8

// checkTensor checks that a TensorProto holds numbers and names no other file.
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
