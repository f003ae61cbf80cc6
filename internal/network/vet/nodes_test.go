package vet_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"lipsync/internal/network/vet"
	"lipsync/internal/test/onnxtest"
)

// forCUDA adds to a model the metadata with nodes for NVIDIA's GPUs.
func forCUDA(model []byte, nodes string) []byte {
	return slices.Concat(model, message(14, slices.Concat(message(1, []byte("lipsync.cuda.nodes")), message(2, []byte(nodes)))))
}

// node is a GraphProto with one node of an operator.
func node(op string) string {
	return base64.StdEncoding.EncodeToString(message(1, slices.Concat(message(1, []byte("a")), message(2, []byte("c")), message(4, []byte(op)))))
}

// TestForCUDA checks that only the nodes differ, and that what they are is judged.
func TestForCUDA(t *testing.T) {
	plain := onnxtest.Product(vet.Float16)
	other := slices.Concat(plain.Bytes(), message(14, message(1, []byte("author"))))
	if got, err := vet.ForCUDA(other); got != nil || err != nil {
		t.Errorf("without such nodes: got %q, %v", got, err)
	}
	model := forCUDA(other, node("Own"))
	want, _ := vet.Read(model)
	own, err := vet.ForCUDA(model)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := vet.Read(own); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if !bytes.Contains(own, []byte("Own")) || bytes.Contains(own, []byte(plain.Nodes[0].Op)) {
		t.Errorf("got %q, want the node Own and no other", own)
	}
	for name, c := range map[string]struct{ nodes, want string }{
		"no base64":      {"?", "its nodes for NVIDIA's GPUs are no nodes: export it again"},
		"no message":     {base64.StdEncoding.EncodeToString([]byte{0xff}), "it is not an ONNX file, or it is incomplete"},
		"an initializer": {base64.StdEncoding.EncodeToString(message(5, nil)), "its nodes for NVIDIA's GPUs are no nodes: export it again"},
		"a bad operator": {node("SplitToSequence"), "it splits a tensor into a sequence of any length: export it with Split"},
	} {
		own, err := vet.ForCUDA(forCUDA(plain.Bytes(), c.nodes))
		if err == nil {
			_, err = vet.Read(own)
		}
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// FuzzForCUDA checks that a model that ForCUDA takes has the same inputs and outputs with other nodes.
func FuzzForCUDA(f *testing.F) {
	f.Add(with(cast), node("Own"))
	f.Add(caller(), node("Loop"))
	f.Add(message(7, nil), "")
	f.Fuzz(func(t *testing.T, model []byte, nodes string) {
		if nodes == "" {
			_, _ = vet.ForCUDA(model)
			return
		}
		own, err := vet.ForCUDA(forCUDA(model, nodes))
		if err != nil {
			return
		}
		want, wantErr := vet.Read(model)
		got, gotErr := vet.Read(own)
		if wantErr == nil && gotErr == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
