package vet_test

import (
	"fmt"

	"lipsync/internal/network/vet"
)

// A file that isn't ONNX is refused before ONNX Runtime sees it.
func ExampleRead() {
	_, err := vet.Read([]byte("PK\x03\x04 a zip file"))
	fmt.Println(err)
	// Output: it is not an ONNX file, or it is incomplete
}

// A dimension of -1 takes any size: batches of faces.
func ExampleInfo_Fits() {
	input := vet.Info{Name: "face", Type: vet.Float32, Shape: vet.Shape{-1, 3, 96, 96}}
	fmt.Println(input)
	fmt.Println(input.Fits(vet.Shape{16, 3, 96, 96}), input.Fits(vet.Shape{16, 3, 64, 64}))
	// Output:
	// face float32 n×3×96×96
	// true false
}
