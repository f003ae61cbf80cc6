package conv

import (
	"fmt"
	"strings"
	"testing"
)

// small is a network with each kind of layer.
func small() *drawn {
	d := draw(8)
	d.add(29*12, `{"op":"patches","from":[0],"channels":12,"stride":2,"before":0}`)
	d.add(10*12+14*12, `{"op":"separable","from":[1,1],"channels":12,"stride":1,"before":1}`)
	d.add(0, `{"op":"pool","from":[2]}`)
	d.add(0, `{"op":"double","from":[3,2]}`)
	d.add(14*16, `{"op":"product","from":[4],"channels":16}`)
	d.add(10*16, `{"op":"depthwise","from":[5],"stride":2,"before":1}`)
	d.add(0, `{"op":"spread","from":[6]}`)
	d.add(66*6, `{"op":"whole","from":[7],"channels":6}`)
	d.add(0, `{"op":"frame","from":[8],"size":2,"scale":1.5,"share":0.5,"level":[0,1],"points":[0,1]}`)
	d.add(0, `{"op":"crop","from":[2,9],"size":2}`)
	d.add(0, `{"op":"place","from":[8,9],"share":0.5}`)
	return d
}

// TestRefuse checks that files are refused whose layers don't fit each other, or that are incomplete.
func TestRefuse(t *testing.T) {
	whole := small().file(10, 11)
	for i := range whole {
		if _, err := Read(whole[:i]); err == nil {
			t.Fatalf("the first %d of %d bytes were read", i, len(whole))
		}
	}
	if _, err := Read(append(whole, 0)); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("with a byte more: got %v", err)
	}
	const first = `{"op":"patches","from":[0],"channels":12,"stride":2,"before":0}`
	for layers, want := range map[string]string{
		first + `,{"op":"melt","from":[1]}`:                                                                             "no such layer",
		first + `,{"op":"pool","from":[]}`:                                                                              "no such layer of 0 tensors",
		first + `,{"op":"pool","from":[1,1]}`:                                                                           "no such layer of 2 tensors",
		first + `,{"op":"pool","from":[0]}`:                                                                             "no tensor 0",
		first + `,{"op":"pool","from":[2]}`:                                                                             "no tensor 2",
		first + `,{"op":"pool","from":[-1]}`:                                                                            "no tensor -1",
		first + `,{"op":"pool","from":[1]},{"op":"pool","from":[2]},{"op":"pool","from":[3]}`:                           "other shapes",
		first + `,{"op":"pool","from":[1]},{"op":"double","from":[1,2]}`:                                                "other shapes",
		first + `,{"op":"spread","from":[1]},{"op":"spread","from":[2]}`:                                                "other shapes",
		first + `,{"op":"pool","from":[1]},{"op":"product","from":[1,2],"channels":12}`:                                 "other shapes",
		first + `,{"op":"product","from":[1,1],"channels":11}`:                                                          "other shapes",
		first + `,{"op":"product","from":[1],"channels":0}`:                                                             "other shapes",
		first + `,{"op":"product","from":[1],"channels":-5}`:                                                            "other shapes",
		first + `,{"op":"product","from":[1],"channels":4611686018427387904}`:                                           "incomplete",
		first + `,{"op":"product","from":[1],"channels":10000}`:                                                         "incomplete",
		first + `,{"op":"depthwise","from":[1],"stride":3,"before":1}`:                                                  "stride of 3",
		first + `,{"op":"depthwise","from":[1],"stride":1,"before":0}`:                                                  "begin 0 before",
		first + `,{"op":"separable","from":[1],"stride":0,"before":1,"channels":8}`:                                     "stride of 0",
		first + `,{"op":"frame","from":[1],"size":2,"level":[0,1],"points":[4]}`:                                        "no point 4",
		first + `,{"op":"frame","from":[1],"size":2,"level":[0,-1],"points":[3]}`:                                       "no point -1",
		first + `,{"op":"crop","from":[1,1],"size":2}`:                                                                  "other shapes",
		first + `,{"op":"frame","from":[1],"size":2,"level":[0,1],"points":[2]},{"op":"crop","from":[1,2],"size":0}`:    "other shapes",
		first + `,{"op":"frame","from":[1],"size":2,"level":[0,1],"points":[2]},{"op":"crop","from":[1,2],"size":1024}`: "too much memory",
		first + `,{"op":"pool","from":[1],"colour":"red"}`:                                                              "unknown field",
		first + `,`: "can't be read",
	} {
		d := draw(8)
		d.add(2000, layers)
		_, err := Read(d.file(1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", layers, err, want)
		}
	}
	for _, side := range []int{-8, 0, 1, 1025} {
		if _, err := Read(draw(side).file(1)); err == nil {
			t.Errorf("a side of %d was read", side)
		}
	}
	for _, outputs := range [][]int{{}, {0}, {-1}, {12}} {
		if _, err := Read(small().file(outputs...)); err == nil {
			t.Errorf("outputs %v were read", outputs)
		}
	}
}

// TestRunPanics checks that a run with numbers of another size ends, and changes no memory.
func TestRunPanics(t *testing.T) {
	n, err := Read(small().file(10, 11))
	if err != nil {
		t.Fatal(err)
	}
	input, a, b := make([]float32, 3*64), make([]float32, 2*2*12), make([]float32, 6)
	n.Run(1, input, a, b)
	for name, run := range map[string]func(){
		"a short input":    func() { n.Run(1, input[:10], a, b) },
		"one output":       func() { n.Run(1, input, a) },
		"a short output":   func() { n.Run(1, input, a, b[:5]) },
		"a long output":    func() { n.Run(1, input, b, a) },
		"a missing output": func() { n.Run(1, input, a, nil) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "conv: got ") {
					t.Errorf("%s: got %q", name, got)
				}
			}()
			run()
		}()
	}
}

// FuzzRead checks that no file makes Read panic, or a network that panics.
func FuzzRead(f *testing.F) {
	f.Add(small().file(10, 11))
	f.Add(small().file(1))
	f.Fuzz(func(t *testing.T, content []byte) {
		n, err := Read(content)
		if err != nil || n.side > 16 {
			return
		}
		input, sizes := n.Sizes()
		for _, size := range sizes {
			if size > 1<<16 {
				return
			}
		}
		runTwice(n, make([]float32, input))
	})
}
