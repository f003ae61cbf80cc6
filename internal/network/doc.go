// Package network groups what runs neural networks: ONNX Runtime, the batches of many callers, the check of files of strangers, and
// the folder of models.
//
// May import: domain.
//
// Inside: batch → onnx; catalog → onnx; onnx → half, vet.
package network
