//go:build !cgo

package onnx

import (
	"strings"
	"testing"
)

func TestOpenWithoutCgo(t *testing.T) {
	if _, err := Open(""); err == nil || !strings.Contains(err.Error(), "built without cgo") {
		t.Errorf("got %v", err)
	}
}
