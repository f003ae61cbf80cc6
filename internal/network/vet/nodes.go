package vet

import (
	"encoding/base64"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// cudaNodes is the key of the metadata that ForCUDA reads.
const cudaNodes = "lipsync.cuda.nodes"

var errNodesForCUDA = errors.New("its nodes for NVIDIA's GPUs are no nodes: export it again")

// ForCUDA returns a model with the nodes that it has for NVIDIA's GPUs in place of those that any processor can compute, or nil if it
// has none. So a network can use operators of ONNX Runtime that only CUDA computes, and run without a GPU all the same. The metadata
// have these nodes as a GraphProto in base64, under the key lipsync.cuda.nodes. Read judges the result like any model.
func ForCUDA(model []byte) ([]byte, error) {
	var nodes []byte
	err := fields(model, func(f field) (err error) {
		if f.number != 14 { // metadata_props
			return nil
		}
		key, value, err := property(f.bytes)
		if err != nil || string(key) != cudaNodes {
			return err
		}
		if nodes, err = base64.StdEncoding.AppendDecode(nil, value); err != nil {
			return errNodesForCUDA
		}
		return fields(nodes, func(f field) error {
			if f.number != 1 { // node
				return errNodesForCUDA
			}
			return nil
		})
	})
	if err != nil || nodes == nil {
		return nil, err
	}
	return rewrite(model, func(number protowire.Number, value []byte) ([]byte, error) {
		switch number {
		case 7: // graph
			graph, err := rewrite(value, func(number protowire.Number, value []byte) ([]byte, error) {
				if number == 1 { // node
					return nil, nil
				}
				return value, nil
			})
			return append(graph, nodes...), err
		case 14:
			return nil, nil
		}
		return value, nil
	})
}

// property returns the key and the value of a StringStringEntryProto.
func property(entry []byte) (key, value []byte, err error) {
	err = fields(entry, func(f field) error {
		switch f.number {
		case 1:
			key = f.bytes
		case 2:
			value = f.bytes
		}
		return nil
	})
	return key, value, err
}

// rewrite returns a message with other values of the fields that have a length, as change gives them. Fields for which it gives nil
// are left out.
func rewrite(message []byte, change func(protowire.Number, []byte) ([]byte, error)) ([]byte, error) {
	written := make([]byte, 0, len(message))
	for len(message) > 0 {
		number, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return nil, errNoModel
		}
		length := protowire.ConsumeFieldValue(number, kind, message[head:])
		if length < 0 {
			return nil, errNoModel
		}
		field := message[:head+length]
		message = message[head+length:]
		if kind != protowire.BytesType {
			written = append(written, field...)
			continue
		}
		value, _ := protowire.ConsumeBytes(field[head:])
		if value == nil {
			value = []byte{}
		}
		value, err := change(number, value)
		if err != nil {
			return nil, err
		}
		if value != nil {
			written = protowire.AppendBytes(append(written, field[:head]...), value)
		}
	}
	return written, nil
}
