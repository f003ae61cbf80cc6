package hostile_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
	"lipsync/internal/render/musetalk"
	"lipsync/internal/test/onnxtest"
)

// TestModels_long loads and tries networks of all classes in turn, as lipsync models add does.
func TestModels_long(t *testing.T) {
	runtime := onnxtest.Runtime(t)
	m := newMaker(t)
	w := newWatch(t, m.secret)
	var sum table
	for i := range *models {
		class := modelClasses[i%len(modelClasses)]
		m.n = i / len(modelClasses)
		m.Rand = rand.New(rand.NewPCG(*seed, uint64(i)))
		t.Run(fmt.Sprintf("%s/%d", class.name, m.n), func(t *testing.T) {
			role, content := class.make(m)
			sum.add(class.name, try(t, runtime, role, content))
			w.check(t, t.Name())
		})
	}
	if r := try(t, runtime, catalog.Wav2Lip, onnxtest.AsItIs().Bytes()); r.sentence != "used" {
		t.Errorf("a valid network: %s", r.sentence)
	}
	t.Log(sum.String())
}

// try tries one network, and checks how that ends.
func try(t *testing.T, runtime *onnx.Runtime, role catalog.Role, content []byte) result {
	t.Helper()
	s := startSampling()
	session, err := runtime.LoadModel(onnx.NewModel("test.onnx", content), onnx.Options{Providers: []onnx.Provider{onnx.CPU}, Threads: engines.Threads(role)})
	if err == nil {
		err = errors.Join(engines.Try(t.Context(), role, session), session.Close())
	}
	got := s.stop(t.Name())
	if got.sentence = "used"; err != nil {
		got.sentence = sentence(err)
	}
	if strings.ContainsFunc(got.sentence, func(r rune) bool { return r < ' ' }) || strings.Contains(got.sentence, "context") {
		t.Errorf("got error %q, want a sentence", err)
	}
	most := maxTime
	if got.sentence == "the network did not end within 1m0s" && slices.Contains(musetalk.Roles(), role) { // others have 15 s
		most += 45 * time.Second
	}
	got.check(t, most)
	return got
}

// sentence returns an error's text without the part that ONNX Runtime added.
func sentence(err error) string {
	var bad *onnx.ModelError
	text := err.Error()
	if errors.As(err, &bad) {
		text = bad.Reason
	}
	for _, end := range []string{"ONNX Runtime says", "the network failed", "a network that tells who speaks makes", "this is no model of the Wav2Lip family", "this is no network of the role"} {
		if before, _, found := strings.Cut(text, end); found {
			return before + end + " …"
		}
	}
	return text
}

// modelClasses are ways to make hostile networks.
var modelClasses = []struct {
	name string
	make func(*maker) (catalog.Role, []byte)
}{
	{"truncated", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		b := g.Bytes()
		return role, b[:m.IntN(len(b))]
	}},
	{"noise", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		b := g.Bytes()
		for range 1 + m.IntN(8) {
			b[m.IntN(len(b))] = byte(m.Uint32())
		}
		return role, b
	}},
	{"numbers", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		b := g.Bytes()
		at := m.IntN(len(b) - 1)
		return role, slices.Concat(b[:at], protowire.AppendVarint(nil, m.lie()), b[at+1:])
	}},
	{"fields twice", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		b := g.Bytes()
		return role, slices.Concat(b, b[m.IntN(len(b)):])
	}},
	{"no networks", func(m *maker) (catalog.Role, []byte) {
		return catalog.Wav2Lip, [][]byte{nil, make([]byte, 16<<20), []byte("PK\x03\x04archive/data.pkl"), []byte("\x80\x02}q\x00."), []byte("<html>")}[m.n%5]
	}},
	{"weights elsewhere", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		file := []string{m.secret, "../../../../../.." + m.secret, "http://127.0.0.1:1/", "/dev/zero", "/proc/self/environ"}[m.n%5]
		g.Initializers[0] = onnxtest.Tensor{Name: "from", Shape: []int{1}, Ints: []int64{}, File: file}
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"large weights that are not there", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		g.Initializers[m.n%3].Shape = [][]int{{1 << 40}, {1 << 31, 1 << 31}, {-1}, {2_500_000_000}, slices.Repeat([]int{1 << 16}, 4)}[m.n%5]
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"memory", func(m *maker) (catalog.Role, []byte) {
		return catalog.Wav2Lip, growing(int64(m.IntN(1000) + []int{50_000, 100_000, 1 << 20, 1 << 30, 1 << 31}[m.n%5])).Bytes()
	}},
	{"graphs in graphs", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.Graph{Nodes: []onnxtest.Node{{Op: "Identity", Inputs: []string{"faces"}, Outputs: []string{"x"}}}}
		depth := []int{3, 15, 17, 40, 200}[m.n%5]
		for range depth {
			g = onnxtest.Graph{Nodes: []onnxtest.Node{{Op: "If", Inputs: []string{"faces"}, Outputs: []string{"x"}, Attributes: map[string]any{"then_branch": g, "else_branch": onnxtest.Graph{}}}}}
		}
		w := onnxtest.AsItIs()
		w.Nodes = append(w.Nodes, g.Nodes...)
		return catalog.Wav2Lip, w.Bytes()
	}},
	{"text, sequences and scans", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		g.Nodes = append(g.Nodes, []onnxtest.Node{
			{Op: "Cast", Inputs: []string{"mel"}, Outputs: []string{"t"}, Attributes: map[string]any{"to": 8}},
			{Op: "SplitToSequence", Inputs: []string{"mel"}, Outputs: []string{"t"}},
			{Op: "Scan", Inputs: []string{"mel"}, Outputs: []string{"t"}},
			{Op: "LabelEncoder", Domain: "ai.onnx.ml", Inputs: []string{"mel"}, Outputs: []string{"t"}},
			{Op: "Loop", Inputs: []string{"", "", "mel"}, Outputs: []string{"t", "all"}},
		}[m.n%5])
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"many nodes", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		last := "face"
		for i := range []int{20_000, 1_000, 100_000, 2_000, 5_000}[m.n%5] {
			next := fmt.Sprint("n", i)
			g.Nodes = append(g.Nodes, onnxtest.Node{Op: []string{"Identity", "Relu", "Neg", "Abs", "Floor"}[m.n%5], Inputs: []string{last}, Outputs: []string{next}})
			last = next
		}
		g.Outputs[0].Name = last
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"many inputs", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		many := slices.Repeat([]onnx.Info{g.Inputs[m.n%2]}, 5_000)
		for i := range many {
			many[i].Name = fmt.Sprint("i", i*(m.n%3)) // or one name for all
		}
		if m.n%2 == 0 {
			g.Inputs = append(g.Inputs, many...)
		} else {
			g.Outputs = append(g.Outputs, many...)
		}
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"shapes", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		g.Inputs[m.IntN(len(g.Inputs))].Shape = [][]int{{0}, {-5}, {1 << 62}, slices.Repeat([]int{1}, 9), nil, {1, 6, 1 << 14, 1 << 14}, {-1, 6, -1, -1}}[m.IntN(7)]
		return role, g.Bytes()
	}},
	{"types", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		g.Inputs[0].Type = []onnx.Type{"int64", "string", "bool", onnxtest.Sequence, onnx.Float16}[m.n%5]
		return role, g.Bytes()
	}},
	{"roles", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		roles := catalog.Roles()
		return roles[(slices.Index(roles, role)+1+m.n)%len(roles)], g.Bytes()
	}},
	{"other outputs than said", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		g.Outputs[0].Shape = []int{-1, -1, -1, -1}
		g.Initializers[1].Ints = []int64{[]int64{4, 3, 5, 0, math.MaxInt64}[m.n%5]}
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"names", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		g.Outputs[0].Name = []string{"\x1b[2J", "", "mel", strings.Repeat("a", 1<<20), "\xff\xfe\x00"}[m.n%5]
		return role, g.Bytes()
	}},
	{"wiring", func(m *maker) (catalog.Role, []byte) {
		g := onnxtest.AsItIs()
		n := &g.Nodes[0]
		switch m.n % 5 {
		case 0:
			n.Inputs[0] = n.Outputs[0] // of itself
		case 1:
			n.Inputs[0] = "gone"
		case 2:
			n.Op, n.Domain = "Juggle", "com.example"
		case 3:
			g.Nodes = append(g.Nodes, g.Nodes[0]) // made twice
		default:
			n.Inputs = slices.Repeat(n.Inputs, 100)
		}
		return catalog.Wav2Lip, g.Bytes()
	}},
	{"functions, versions and formats", func(m *maker) (catalog.Role, []byte) {
		b := onnxtest.AsItIs().Bytes()
		field := func(number protowire.Number, content []byte) []byte {
			return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
		}
		number := func(n protowire.Number, v uint64) []byte {
			return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
		}
		return catalog.Wav2Lip, [][]byte{
			slices.Concat(b, field(25, field(1, []byte("F")))),
			slices.Concat(b, number(1, 1<<40)),                              // ir_version
			slices.Concat(b, field(8, number(2, 9999))),                     // opset
			slices.Concat([]byte("\x12\x06..ORTM"), b),                      // also as the runtime's own format
			slices.Concat(b, field(7, field(15, number(3, 2_500_000_000)))), // sparse weights
		}[m.n%5]
	}},
	{"without end", func(m *maker) (catalog.Role, []byte) {
		role, g := m.network()
		return role, endless(g).Bytes()
	}},
}

// network returns a valid network, of each role in turn.
func (m *maker) network() (catalog.Role, onnxtest.Graph) {
	switch m.n % 5 {
	case 1:
		return catalog.FaceDetector, onnxtest.Saying(onnxtest.Full(1, 1, 1, 2), onnxtest.Full(.5, 1, 1, 4))
	case 2:
		return catalog.FaceLandmarks, onnxtest.Saying(onnxtest.Full(1, 1), onnxtest.Full(.5, 1, 468, 3))
	case 3:
		return catalog.FaceDetector, onnxtest.Saying(onnxtest.Full(float32(math.NaN()), 1, 1, 2), onnxtest.Full(float32(math.Inf(1)), 1, 1, 4))
	case 4:
		role := musetalk.Roles()[m.n/5%len(musetalk.Roles())]
		return role, onnxtest.MuseTalkGrey(string(role))
	}
	return catalog.Wav2Lip, onnxtest.AsItIs()
}

// growing makes a tensor of side × side equal numbers.
func growing(side int64) onnxtest.Graph {
	g := onnxtest.AsItIs()
	g.Nodes[0].Outputs[0] = "seen"
	g.Initializers = append(g.Initializers, onnxtest.Tensor{Name: "one", Shape: []int{1, 1}, Floats: []float32{1}}, onnxtest.Tensor{Name: "size", Shape: []int{2}, Ints: []int64{side, side}})
	g.Nodes = append(g.Nodes,
		onnxtest.Node{Op: "Expand", Inputs: []string{"one", "size"}, Outputs: []string{"large"}},
		onnxtest.Node{Op: "ReduceMax", Inputs: []string{"large"}, Outputs: []string{"max"}, Attributes: map[string]any{"keepdims": 0}},
		onnxtest.Node{Op: "Mul", Inputs: []string{"seen", "max"}, Outputs: []string{"face"}})
	return g
}

// endless adds a computation that never ends, whatever the input.
func endless(g onnxtest.Graph) onnxtest.Graph {
	g.Initializers = append(g.Initializers, onnxtest.Tensor{Name: "always", Shape: []int{1}, Floats: []float32{1}})
	return g.Endless("always")
}
