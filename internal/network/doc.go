// Package network groups what runs neural networks: ONNX Runtime, the check of files of strangers, and
// the folder of models.
//
// May import: domain.
//
// Inside: catalog → onnx; onnx → vet.
package network
