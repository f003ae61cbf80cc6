package onnx

// ReadHeader is readHeader, for tests that write networks with onnxtest.
func ReadHeader(model []byte) (inputs, outputs []Info, err error) {
	h, err := readHeader(model)
	return h.inputs, h.outputs, err
}
