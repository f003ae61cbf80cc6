// Package vet reads the header of an ONNX file: the inputs and outputs of its
// network. It refuses files that cannot be used and files that could harm the
// process that loads them.
//
// The file is a protobuf message, a ModelProto. The field numbers in this package
// are those of onnx.proto3 of the ONNX project.
package vet

import "errors"

// Header has the inputs and outputs of the network of a file.
type Header struct {
	Inputs, Outputs []Info // in the file's order
}

// maxDepth bounds graphs within graphs.
const maxDepth = 16

var (
	errNoModel  = errors.New("it is not an ONNX file, or it is incomplete")
	errExternal = errors.New("its weights are in other files: export it as one file")
	errNoRaw    = errors.New("its weights are not raw data: export them as raw data of initializers")
	errNested   = errors.New("its graphs are nested too deeply")
	errNodes    = errors.New("it has more than 4096 nodes: simplify it")
	errFunction = errors.New("it defines functions of its own: export it with standard operators only")
	errSparse   = errors.New("it has sparse tensors: export it with dense ones")
	errText     = errors.New("it processes text: export it with numbers only")
	errSequence = errors.New("it splits a tensor into a sequence of any length: export it with Split")
	errScan     = errors.New("it collects a tensor in each iteration of a loop: export it without Scan and without scan outputs of Loop")
	errNoTensor = errors.New("an input or output is not a tensor")
	errType     = errors.New("an input or output is neither float32 nor float16")
	errName     = errors.New("an input or output has a name that cannot be shown")
	errShape    = errors.New("an input or output has an impossible shape")
	errEmpty    = errors.New("it has no inputs or no outputs")
)

// Read returns the header of a file with the given content, a ModelProto. If the
// file is refused, the error gives the reason, and says how to export a file that is not
// refused.
func Read(model []byte) (Header, error) {
	var h Header
	graphs := 0
	err := fields(model, func(f field) error {
		switch f.number {
		case 7: // graph
			graphs++
			return h.readGraph(f.bytes)
		case 25: // functions, which may call themselves, or each other many times
			return errFunction
		}
		return nil
	})
	switch {
	case err != nil:
		return Header{}, err
	case graphs != 1:
		return Header{}, errNoModel
	case len(h.Inputs) == 0 || len(h.Outputs) == 0:
		return Header{}, errEmpty
	}
	return h, nil
}
