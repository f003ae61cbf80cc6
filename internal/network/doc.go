// Package network groups what runs neural networks: ONNX Runtime, the batches of many callers, the check of files of strangers, the
// folder of models, and a runner of small convolution networks in Go.
//
// May import: domain, signal.
//
// Inside: batch → onnx; catalog → onnx; conv → half; onnx → half, vet.
package network
