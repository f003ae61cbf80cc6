package vet

import (
	"fmt"
	"strings"
)

// Type is the type of a tensor's numbers.
type Type string

// The types that inputs and outputs can have.
const (
	Float32 Type = "float32"
	Float16 Type = "float16"
)

// Info is an input or an output of a network.
type Info struct {
	Name  string `json:"name"`
	Type  Type   `json:"type"`
	Shape Shape  `json:"shape"` // nil if not even the number of dimensions is fixed
}

// Fits tells whether a tensor of the shape can be this input or output.
func (i Info) Fits(shape Shape) bool {
	if i.Shape == nil {
		return true
	}
	if len(i.Shape) != len(shape) {
		return false
	}
	for n, size := range i.Shape {
		if size != shape[n] && size != -1 {
			return false
		}
	}
	return true
}

// String returns the input or output for tables and messages, such as rgb float32 n×3×192×192.
func (i Info) String() string {
	if i.Shape == nil {
		return fmt.Sprintf("%s %s of any shape", i.Name, i.Type)
	}
	return fmt.Sprintf("%s %s %s", i.Name, i.Type, i.Shape)
}

// Shape has the size of each dimension of a tensor. -1 means any size.
type Shape []int

// String returns the shape for messages, such as n×3×192×192.
func (s Shape) String() string {
	sizes := make([]string, len(s))
	for n, size := range s {
		sizes[n] = fmt.Sprint(size)
		if size == -1 {
			sizes[n] = "n"
		}
	}
	return strings.Join(sizes, "×")
}

// maxElements bounds the number of elements of a tensor: 1 GiB of float32. The
// largest tensors that the networks of this service take are batches of some hundred
// faces of 384 × 384 pixels.
const maxElements = 1 << 28

// Elements returns the number of elements of a tensor of the shape. It returns an error
// if a size is not fixed, or if there would be more than maxElements.
func (s Shape) Elements() (int, error) {
	n := 1
	for _, size := range s {
		if size < 1 || size > maxElements/n {
			return 0, fmt.Errorf("a tensor of %s: each size must be at least 1, and their product at most %d", s, maxElements)
		}
		n *= size
	}
	return n, nil
}
