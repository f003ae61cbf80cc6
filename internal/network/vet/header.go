package vet

import (
	"strings"
	"unicode"
)

// readGraph reads the outermost GraphProto. Old files list their weights among the
// inputs. Weights have values in the file, and are left out here.
func (h *Header) readGraph(graph []byte) error {
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
			return appendInfo(&h.Inputs, f.bytes, weights)
		case 12: // output
			return appendInfo(&h.Outputs, f.bytes, nil)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return new(checker).checkGraph(graph, 0)
}

// appendInfo appends a ValueInfoProto to the list, unless its name is excepted.
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
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
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

// readType reads a TypeProto, which must be that of a tensor.
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
func readShape(b []byte) (Shape, error) {
	shape := Shape{}
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
