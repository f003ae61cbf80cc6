package vet_test

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"lipsync/internal/network/vet"
	"lipsync/internal/test/onnxtest"
)

// TestRead checks what is refused before ONNX Runtime sees it, and what is read of the
// rest.
func TestRead(t *testing.T) {
	fits := onnxtest.Product(vet.Float32)
	listed := onnxtest.Product(vet.Float32) // lists a weight among the inputs, as old files do
	listed.Initializers = []onnxtest.Tensor{{Name: "b", Shape: []int{1, 3}, Floats: []float32{1, 2, 3}}}
	noInput, noOutput := onnxtest.Product(vet.Float32), onnxtest.Product(vet.Float32)
	noInput.Inputs, noOutput.Outputs = nil, nil
	for _, c := range []struct {
		name  string
		model []byte
		want  string
	}{
		{"fits", fits.Bytes(), "a float32 n×3, b float32 1×3 → c float32 n×3"},
		{"listed weight", listed.Bytes(), "a float32 n×3 → c float32 n×3"},
		{"halves", onnxtest.Product(vet.Float16).Bytes(), "a float16 n×3, b float16 1×3 → c float16 n×3"},
		{"nothing", nil, "it is not an ONNX file, or it is incomplete"},
		{"text", []byte("a text is no network"), "it is not an ONNX file, or it is incomplete"},
		{"cut off", fits.Bytes()[:40], "it is not an ONNX file, or it is incomplete"},
		{"text as input", onnxtest.Product("string").Bytes(), "an input or output is neither float32 nor float16"},
		{"integers", onnxtest.Product("int64").Bytes(), "an input or output is neither float32 nor float16"},
		{"sequence", sequence().Bytes(), "an input or output is not a tensor"},
		{"name that commands a terminal", named("\x1b[2J").Bytes(), "an input or output has a name that cannot be shown"},
		{"size 0", sized(0).Bytes(), "an input or output has an impossible shape"},
		{"size below 0", sized(-5).Bytes(), "an input or output has an impossible shape"},
		{"huge size", sized(1 << 62).Bytes(), "an input or output has an impossible shape"},
		{"many dimensions", sized(1, 1, 1, 1, 1, 1, 1, 1, 1).Bytes(), "an input or output has an impossible shape"},
		{"weights elsewhere", external(0).Bytes(), "its weights are in other files: export it as one file"},
		{"weights elsewhere in a branch", external(1).Bytes(), "its weights are in other files: export it as one file"},
		{"no input", noInput.Bytes(), "it has no inputs or no outputs"},
		{"no output", noOutput.Bytes(), "it has no inputs or no outputs"},
		{"deep", external(40).Bytes(), "its graphs are nested too deeply"},
		{"function that calls itself", caller(), "it defines functions of its own: export it with standard operators only"},
		{"10 GB of sparse weights", sparseWeights(), "it has sparse tensors: export it with dense ones"},
		{"text of numbers", with(cast), "it processes text: export it with numbers only"},
		{"text of numbers by an odd number", with(onnxtest.Node{Op: "Cast", Attributes: map[string]any{"to": 1<<32 + 8}}), "it processes text: export it with numbers only"},
		{"text of numbers in a branch", with(branch(cast)), "it processes text: export it with numbers only"},
		{"a text", with(onnxtest.Node{Op: "Constant", Attributes: map[string]any{"value_string": "a"}}), "it processes text: export it with numbers only"},
		{"texts", with(onnxtest.Node{Op: "Constant", Attributes: map[string]any{"value_strings": "a"}}), "it processes text: export it with numbers only"},
		{"text by a table", with(onnxtest.Node{Op: "LabelEncoder", Domain: "ai.onnx.ml"}), "it processes text: export it with numbers only"},
		{"text among the weights", message(7, message(5, varint(2, 8))), "it processes text: export it with numbers only"},
		{"text as a constant", message(7, message(1, message(5, message(5, varint(2, 8))))), "it processes text: export it with numbers only"},
		{"a sequence of any length", with(onnxtest.Node{Op: "SplitToSequence"}), "it splits a tensor into a sequence of any length: export it with Split"},
		{"a loop that collects", with(collector), "it collects a tensor in each iteration of a loop: export it without Scan and without scan outputs of Loop"},
		{"a loop that collects, in a branch", with(branch(collector)), "it collects a tensor in each iteration of a loop: export it without Scan and without scan outputs of Loop"},
		{"a scan", with(onnxtest.Node{Op: "Scan"}), "it collects a tensor in each iteration of a loop: export it without Scan and without scan outputs of Loop"},
		{"a loop that collects nothing", onnxtest.Product(vet.Float32).Endless("a").Bytes(), "a float32 n×3, b float32 1×3 → c float32 n×3"},
		{"numbers of another type", with(onnxtest.Node{Op: "Cast", Attributes: map[string]any{"to": 10}}), "a float32 n×3, b float32 1×3 → c float32 n×3"},
		{"4096 nodes", with(slices.Repeat([]onnxtest.Node{{Op: "Relu"}}, 4095)...), "a float32 n×3, b float32 1×3 → c float32 n×3"},
		{"more nodes", with(branch(slices.Repeat([]onnxtest.Node{{Op: "Relu"}}, 4095)...)), "it has more than 4096 nodes: simplify it"},
		{"a sparse attribute", sparseAttribute(22), "it has sparse tensors: export it with dense ones"},
		{"sparse attributes", sparseAttribute(23), "it has sparse tensors: export it with dense ones"},
	} {
		h, err := vet.Read(c.model)
		got := list(h.Inputs) + " → " + list(h.Outputs)
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func list(infos []vet.Info) string {
	texts := make([]string, len(infos))
	for i, info := range infos {
		texts[i] = info.String()
	}
	return strings.Join(texts, ", ")
}

func sized(sizes ...int) onnxtest.Graph {
	g := onnxtest.Product(vet.Float32)
	g.Inputs[0].Shape = sizes
	return g
}

func named(name string) onnxtest.Graph {
	g := onnxtest.Product(vet.Float32)
	g.Outputs[0].Name = name
	return g
}

func sequence() onnxtest.Graph {
	g := onnxtest.Product(vet.Float32)
	g.Inputs[0].Type = onnxtest.Sequence
	return g
}

// external has a weight in another file, so many graphs deep.
func external(depth int) onnxtest.Graph {
	weight := onnxtest.Tensor{Name: "w", Shape: []int{3}, File: "../../etc/passwd"}
	g := onnxtest.Graph{Initializers: []onnxtest.Tensor{weight}}
	for range depth {
		g = onnxtest.Graph{Nodes: []onnxtest.Node{{Op: "If", Attributes: map[string]any{"then_branch": g}}}}
	}
	p := onnxtest.Product(vet.Float32)
	p.Initializers, p.Nodes = g.Initializers, append(p.Nodes, g.Nodes...)
	return p
}

// caller has a function whose only node calls it again. ONNX Runtime follows it
// until its stack is full, which ends the process.
func caller() []byte {
	g := onnxtest.Product(vet.Float32)
	g.Nodes = []onnxtest.Node{{Op: "F", Domain: "own", Inputs: []string{"a"}, Outputs: []string{"c"}}}
	name, domain, input, output := []byte("F"), []byte("own"), []byte("a"), []byte("c")
	call := slices.Concat(message(1, input), message(2, output), message(4, name), message(7, domain))
	version := slices.Concat(message(1, domain), varint(2, 1))
	function := slices.Concat(message(1, name), message(4, input), message(5, output), message(7, call),
		message(9, version), message(10, domain))
	return slices.Concat(g.Bytes(), message(8, version), message(25, function))
}

// sparseWeights has weights that are almost all 0, and would take 10 GB.
func sparseWeights() []byte {
	value := slices.Concat(varint(1, 1), varint(2, 1), message(9, make([]byte, 4)))          // a float32
	index := slices.Concat(varint(1, 1), varint(2, 7), message(9, make([]byte, 8)))          // an int64
	weights := slices.Concat(message(1, value), message(2, index), varint(3, 2_500_000_000)) // values, indices, dims
	return message(7, message(15, weights))                                                  // graph, sparse_initializer
}

// sparseAttribute has a node with an attribute of sparse tensors, whose number
// in AttributeProto is given.
func sparseAttribute(number protowire.Number) []byte {
	return message(7, message(1, message(5, message(number, nil)))) // graph, node, attribute
}

// cast makes text of numbers. Text lies outside of the memory that is bounded, and
// grows to any length when it is joined to itself again and again.
var cast = onnxtest.Node{Op: "Cast", Inputs: []string{"a"}, Outputs: []string{"t"}, Attributes: map[string]any{"to": 8}}

// collector is a loop with one state and one more output, which grows by a tensor a
// turn. Empty ones take nothing of the memory that is bounded.
var collector = onnxtest.Node{Op: "Loop", Inputs: []string{"", "", "state"}, Outputs: []string{"last", "all"}}

func branch(nodes ...onnxtest.Node) onnxtest.Node {
	return onnxtest.Node{Op: "If", Attributes: map[string]any{"then_branch": onnxtest.Graph{Nodes: nodes}}}
}

// with is product with more nodes.
func with(nodes ...onnxtest.Node) []byte {
	g := onnxtest.Product(vet.Float32)
	g.Nodes = append(g.Nodes, nodes...)
	return g.Bytes()
}

// message is a field that is a message or text.
func message(number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func varint(number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), value)
}

func FuzzRead(f *testing.F) {
	f.Add(caller())
	f.Add(sparseWeights())
	f.Add(sparseAttribute(22))
	f.Add(with(cast))
	f.Add(with(collector))
	f.Add(onnxtest.Product(vet.Float16).Bytes())
	f.Add(external(2).Bytes())
	f.Add(sequence().Bytes())
	f.Fuzz(func(t *testing.T, model []byte) {
		h, _ := vet.Read(model)
		for _, info := range append(h.Inputs, h.Outputs...) {
			for _, size := range info.Shape {
				if size < 1 && size != -1 {
					t.Errorf("the size %d passed", size)
				}
			}
		}
	})
}

// TestSplit checks that large weights stay in the file, and all else is in both forms.
func TestSplit(t *testing.T) {
	g := onnxtest.Product(vet.Float32)
	g.Inputs = g.Inputs[:1]
	g.Initializers = []onnxtest.Tensor{onnxtest.Full(1, 3), onnxtest.Full(7, 3, 10_000)}
	g.Initializers[0].Name, g.Initializers[1].Name = "b", "large"
	whole := g.Bytes()
	judged, linked, halves, err := vet.Split(bytes.NewReader(whole), int64(len(whole)), "m.onnx")
	if err != nil || halves != 0 || len(judged) > len(whole)-120_000 || len(linked) > len(judged)+100 {
		t.Fatalf("got %d and %d bytes of %d: %v", len(judged), len(linked), len(whole), err)
	}
	want, _ := vet.Read(whole)
	if got, err := vet.Read(judged); !reflect.DeepEqual(got, want) || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := vet.Read(linked); err == nil || err.Error() != "its weights are in other files: export it as one file" {
		t.Errorf("the form for ONNX Runtime: got %v", err)
	}
	at := bytes.Index(whole, bytes.Repeat([]byte{0, 0, 0xe0, 0x40}, 10_000)) // 7 as float32
	for _, text := range []string{"m.onnx", "120000", strconv.Itoa(at)} {
		if !bytes.Contains(linked, []byte(text)) {
			t.Errorf("the form for ONNX Runtime doesn't say %s", text)
		}
	}
}

// TestSplitHalves checks that large weights of 16 bits are counted, and no others.
func TestSplitHalves(t *testing.T) {
	of := func(kind, size int) []byte { // the numbers stand before their type
		return message(5, slices.Concat(message(9, make([]byte, size)), varint(2, uint64(kind))))
	}
	model := message(7, slices.Concat(of(10, 100_000), of(1, 200_000), of(16, 400_000), of(10, 1000), of(7, 800_000)))
	if _, _, got, err := vet.Split(bytes.NewReader(model), int64(len(model)), "m.onnx"); got != 500_000 || err != nil {
		t.Errorf("got %d, %v, want 500000", got, err)
	}
}

// TestSplitKeepsLittle checks that files which hide many bytes elsewhere than in raw data are refused, before memory holds them.
func TestSplitKeepsLittle(t *testing.T) {
	const want = "its weights are not raw data: export them as raw data of initializers"
	many := make([]byte, 33<<20)
	for name, c := range map[string]struct {
		model []byte
		want  string
	}{
		"raw data":               {message(7, message(5, message(9, many))), "<nil>"},
		"float_data":             {message(7, message(5, message(4, many))), want},
		"a constant":             {message(7, message(1, message(5, message(5, message(9, many))))), want},
		"an unknown field":       {message(99, many), want},
		"many fields of weights": {message(7, message(5, bytes.Repeat(message(99, many[:8<<10]), 5<<10))), want},
		"many empty graphs":      {bytes.Repeat(message(7, nil), 1<<17), want},
	} {
		r := bytes.NewReader(c.model)
		judged, linked, _, err := vet.Split(r, r.Size(), "m.onnx")
		if fmt.Sprint(err) != c.want || len(judged)+len(linked) > 1000 {
			t.Errorf("%s: got %d and %d bytes, %v, want %s", name, len(judged), len(linked), err, c.want)
		}
	}
}

// FuzzSplit checks that Read judges what Split leaves as it judges the whole.
func FuzzSplit(f *testing.F) {
	f.Add(caller(), 0)
	f.Add(sparseWeights(), 0)
	f.Add(with(cast), 70_000)
	f.Add(external(2).Bytes(), 70_000)
	f.Add(message(7, message(5, varint(2, 8))), 70_000)
	f.Fuzz(func(t *testing.T, model []byte, weights int) {
		if weights = max(weights, 0) % (1 << 18); weights > 0 { // fuzzers make no such long bytes
			model = slices.Concat(model, message(7, message(5, message(9, make([]byte, weights)))))
		}
		judged, _, _, err := vet.Split(bytes.NewReader(model), int64(len(model)), "m.onnx")
		if err != nil {
			return
		}
		want, wantErr := vet.Read(model)
		got, gotErr := vet.Read(judged)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("got %v, %v, want %v, %v", got, gotErr, want, wantErr)
		}
	})
}
