//go:build cgo

package onnx

import (
	"fmt"
	"runtime"

	ort "github.com/yalue/onnxruntime_go"

	"lipsync/internal/network/half"
	"lipsync/internal/network/vet"
)

// tensor is an input or output. Its memory is Go's; the pinner keeps it in place for
// the library. It is not page-locked, so copies to a GPU are slower than they could be.
type tensor struct {
	shape   []int
	numbers []float32
	halves  []byte // the numbers in half precision, if the network takes them so; else nil
	value   ort.Value
	pinner  runtime.Pinner
}

func newTensors(kind string, infos []Info, shapes [][]int) ([]*tensor, error) {
	if len(shapes) != len(infos) {
		return nil, fmt.Errorf("got shapes of %d %s, and the network has %d", len(shapes), kind, len(infos))
	}
	var list []*tensor
	for i, info := range infos {
		t, err := newTensor(info, shapes[i])
		if err != nil {
			return list, err
		}
		list = append(list, t)
	}
	return list, nil
}

func newTensor(info Info, shape []int) (*tensor, error) {
	if !info.Fits(shape) {
		return nil, fmt.Errorf("%s does not take the shape %s", info, vet.Shape(shape))
	}
	n, err := vet.Shape(shape).Elements()
	if err != nil {
		return nil, err
	}
	t := &tensor{shape: shape, numbers: make([]float32, n)}
	sizes := make(ort.Shape, len(shape))
	for i, size := range shape {
		sizes[i] = int64(size)
	}
	if info.Type == Float16 {
		t.halves = make([]byte, 2*n)
		t.pinner.Pin(&t.halves[0])
		t.value, err = ort.NewCustomDataTensor(sizes, t.halves, ort.TensorElementDataTypeFloat16)
	} else {
		t.pinner.Pin(&t.numbers[0])
		t.value, err = ort.NewTensor(sizes, t.numbers)
	}
	if err != nil {
		t.pinner.Unpin()
		return nil, err
	}
	return t, nil
}

func values(list []*tensor) []ort.Value {
	values := make([]ort.Value, len(list))
	for i, t := range list {
		values[i] = t.value
	}
	return values
}

func (t *tensor) pack() {
	if t.halves != nil {
		half.Encode(t.halves, t.numbers)
	}
}

func (t *tensor) unpack() {
	if t.halves != nil {
		half.Decode(t.numbers, t.halves)
	}
}

func (t *tensor) close() error {
	defer t.pinner.Unpin()
	return t.value.Destroy()
}
