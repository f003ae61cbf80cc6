package onnx

import "testing"

// SetLarge sets the size from which a model is large, until the test ends.
func SetLarge(t *testing.T, size int64) {
	former := large
	large = size
	t.Cleanup(func() { large = former })
}
