package speaker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/face/alignment"
	"lipsync/internal/network/onnx"
	"lipsync/internal/test/check"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/onnxtest"
)

// identity returns a network whose scores are the mean of its faces, with inputs and output of the given
// shapes.
func identity(sound, faces, scores []int) onnxtest.Graph {
	return onnxtest.Graph{
		Inputs:  []onnx.Info{{Name: "faces", Type: onnx.Float32, Shape: faces}, {Name: "sound", Type: onnx.Float32, Shape: sound}},
		Outputs: []onnx.Info{{Name: "scores", Type: onnx.Float32, Shape: scores}},
		Nodes: []onnxtest.Node{
			{Op: "ReduceMean", Inputs: []string{"faces"}, Outputs: []string{"mean"}, Attributes: map[string]any{"axes": []int{2, 3}, "keepdims": 0}},
			{Op: "Identity", Inputs: []string{"mean"}, Outputs: []string{"scores"}},
			{Op: "Identity", Inputs: []string{"sound"}, Outputs: []string{"unused"}},
		},
	}
}

// published returns identity with the shapes of the published network.
func published() onnxtest.Graph {
	return identity([]int{1, -1, 13}, []int{1, -1, 112, 112}, []int{1, -1})
}

// failing returns a network that fails when a number of the input is more than 0: the number becomes the
// index into a list of one element.
func failing(input string) onnxtest.Graph {
	g := published()
	g.Initializers = []onnxtest.Tensor{{Name: "list", Shape: []int{1}, Floats: []float32{0}}}
	g.Nodes = append(g.Nodes[:1],
		onnxtest.Node{Op: "ReduceMax", Inputs: []string{input}, Outputs: []string{"max"}, Attributes: map[string]any{"keepdims": 0}},
		onnxtest.Node{Op: "Cast", Inputs: []string{"max"}, Outputs: []string{"index"}, Attributes: map[string]any{"to": 7}},
		onnxtest.Node{Op: "Gather", Inputs: []string{"list", "index"}, Outputs: []string{"zero"}},
		onnxtest.Node{Op: "Add", Inputs: []string{"mean", "zero"}, Outputs: []string{"scores"}})
	return g
}

func session(t *testing.T, g onnxtest.Graph) *onnx.Session {
	t.Helper()
	return onnxtest.LoadWith(t, g.File(t), onnx.Options{})
}

// network returns the network of a graph, and its log.
func network(t *testing.T, g onnxtest.Graph) (*Network, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	n, err := NewNetwork(t.Context(), []*onnx.Session{session(t, g)}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n, log
}

func TestNewNetwork(t *testing.T) {
	sound, faces, scores := []int{1, -1, 13}, []int{1, -1, 112, 112}, []int{1, -1}
	for _, test := range []struct {
		name                 string
		sound, faces, scores []int
		ok                   bool
	}{
		{name: "as published", sound: sound, faces: faces, scores: scores, ok: true},
		{name: "any batch", sound: []int{-1, -1, 13}, faces: []int{-1, -1, 112, 112}, scores: []int{-1, -1}, ok: true},
		{name: "other sound", sound: []int{1, -1, 80}, faces: faces, scores: scores},
		{name: "other faces", sound: sound, faces: []int{1, -1, 224, 224}, scores: scores},
		{name: "colours", sound: sound, faces: []int{1, -1, 3, 112, 112}, scores: scores},
		{name: "one length", sound: []int{1, 100, 13}, faces: []int{1, 25, 112, 112}, scores: []int{1, 25}},
		{name: "two classes", sound: sound, faces: faces, scores: []int{1, -1, 2}},
	} {
		_, err := NewNetwork(t.Context(), []*onnx.Session{session(t, identity(test.sound, test.faces, test.scores))}, nil)
		if (err == nil) != test.ok {
			t.Errorf("%s: %v", test.name, err)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "a network that tells who speaks makes scores") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestTry checks that a network that would never end, and one that fails, are refused before any job.
func TestTry(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	endless := published()
	endless.Initializers = []onnxtest.Tensor{{Name: "one", Shape: []int{1}, Floats: []float32{1}}}
	if _, err := NewNetwork(ctx, []*onnx.Session{session(t, endless.Endless("one"))}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("endless: got %v, want %v", err, context.DeadlineExceeded)
	}
	bad := failing("index from")
	bad.Initializers = append(bad.Initializers, onnxtest.Tensor{Name: "index from", Shape: []int{1}, Floats: []float32{5}})
	if _, err := NewNetwork(t.Context(), []*onnx.Session{session(t, bad)}, nil); err == nil || !strings.HasPrefix(err.Error(), "the network that tells who speaks can't be run: ") {
		t.Errorf("failing: got %v", err)
	}
}

// TestFailingNetwork checks a network that fails in the second window of a job. The speakers are those
// without a network, the fault is logged once, and the job goes on. That the job's context ended is an
// error.
func TestFailingNetwork(t *testing.T) {
	n, log := network(t, failing("faces"))
	whispers := func(frame int) float32 { return speaks(frame) * .3 }
	people := []person{{track: 0, size: 100, to: 100, mouth: mumbles}, {track: 1, size: 100, to: 100, mouth: whispers}}
	score := func(ctx context.Context) *Analyser {
		c, windows := play(100, nil, people...), make(chan *Window, 2)
		c.network = n
		windows <- &Window{track: 1, crops: slices.Repeat([]*crop{{0}}, windowTicks)}
		windows <- &Window{track: 0, crops: slices.Repeat([]*crop{{100}}, windowTicks)} // fails
		close(windows)
		if err := c.Score(ctx, windows, NewMFCC(check.Scratch(t))); !errors.Is(err, ctx.Err()) {
			t.Errorf("got %v, want %v", err, ctx.Err())
		}
		return c
	}
	sound := tone(t, 100)
	got, want := score(t.Context()).Active(sound), play(100, nil, people...).Active(sound)
	for i := range 100 {
		if got(i) != want(i) {
			t.Errorf("frame %d: %d speaks, without a network %d", i, got(i), want(i))
		}
	}
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("logged %q, want one error", log)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	score(ended)
}

// TestScore checks that each tick gets the score of its own picture, over windows and through frames in
// which the face was missed.
func TestScore(t *testing.T) {
	network, _ := network(t, published())
	const frames = 333
	c := New(25, network)
	windows := make(chan *Window, 100)
	brightness := func(frame int) uint8 { return uint8(20 + frame%200) }
	for i := range frames {
		frame := facetest.Wall(200, 100)
		for k := range frame.Y {
			frame.Y[k] = brightness(i)
		}
		faces := []alignment.Face{upright(frame, 0, 50, 40, 20), upright(frame, 1, 150, 40, 20)}
		switch i {
		case 95: // missed
			faces[1].Crop = nil
		case 195: // gone
			faces = faces[:1]
		}
		for _, w := range c.Add(alignment.Frame{Index: i, Faces: faces}) {
			windows <- w
		}
	}
	for _, w := range c.End() {
		windows <- w
	}
	close(windows)
	if err := c.Score(t.Context(), windows, NewMFCC(check.Scratch(t))); err != nil {
		t.Fatal(err)
	}
	for track := range int32(2) {
		for i := range frames {
			want := float32(brightness(i))
			switch {
			case track == 1 && i == 95:
				want = float32(brightness(94)) // as it was seen last
			case track == 1 && i == 195:
				want = float32(brightness(196)) // it is gathered when the face is seen again
			}
			if got := c.score(track, i); got != want {
				t.Fatalf("track %d, frame %d: got %g, want %g", track, i, got, want)
			}
		}
		if before, after := c.score(track, -1), c.score(track, frames); before != unscored || after != unscored {
			t.Errorf("track %d: got %g before and %g after it is seen, want %d", track, before, after, unscored)
		}
	}
}

// TestLengths checks that the network runs on few lengths of windows, and that each tick gets its own
// score.
func TestLengths(t *testing.T) {
	network, _ := network(t, published())
	w, met := &Window{}, map[int]bool{}
	network.bindings = onnx.NewPool(1, func(ctx context.Context, length int) (*onnx.Binding, error) {
		met[length] = true
		return network.bind(ctx, length)
	})
	for n := 1; n <= windowTicks; n++ {
		c := new(crop)
		for i := range c {
			c[i] = uint8(n)
		}
		w.crops = append(w.crops, c)
		scores, err := network.score(t.Context(), w, NewMFCC(check.Scratch(t)))
		if err != nil || len(scores) != n {
			t.Fatalf("%d ticks: got %d scores, %v", n, len(scores), err)
		}
		for i, got := range scores {
			if got != float32(i+1) {
				t.Fatalf("%d ticks: got %g at %d, want %d", n, got, i, i+1)
			}
		}
	}
	if got, want := slices.Sorted(maps.Keys(met)), []int{25, 50, 100}; !slices.Equal(got, want) {
		t.Errorf("the network ran on windows of %v ticks, want %v", got, want)
	}
}

// TestOthers checks that only faces with another one in the frame are scored,
// and that a face that leaves is scored at once.
func TestOthers(t *testing.T) {
	frame := facetest.Wall(200, 100)
	one, other := upright(frame, 0, 50, 40, 20), upright(frame, 1, 150, 40, 20)
	c := New(25, &Network{})
	var got []int // tracks and lengths of windows
	add := func(n int, faces ...alignment.Face) {
		for range n {
			for _, w := range c.Add(alignment.Frame{Faces: faces}) {
				got = append(got, int(w.track), len(w.crops))
			}
		}
	}
	add(150, one)
	add(10, one, other)
	add(10, one)
	if want := []int{1, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	add(100, one)
	if want := []int{1, 10, 0, 100}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if left := c.End(); len(left) > 0 {
		t.Errorf("%d windows of a face without others", len(left))
	}
	if got := New(25, nil).Add(alignment.Frame{Faces: []alignment.Face{one, other}}); got != nil {
		t.Errorf("%d windows without a network", len(got))
	}
}

// TestSessions gives the network a session for each length of windows, which adds a number of its own to the scores: windows of a
// length must always run in the same session, since a GPU plans a session again when its shapes change.
func TestSessions(t *testing.T) {
	if got := Sessions(onnx.CPU); got != 1 {
		t.Errorf("on the CPU: %d sessions, want 1", got)
	}
	var sessions []*onnx.Session
	for i := range Sessions(onnx.CUDA) {
		g := published()
		g.Initializers = []onnxtest.Tensor{{Name: "own", Shape: []int{1}, Floats: []float32{float32(i)}}}
		g.Nodes[1] = onnxtest.Node{Op: "Add", Inputs: []string{"mean", "own"}, Outputs: []string{"scores"}}
		sessions = append(sessions, session(t, g))
	}
	n, err := NewNetwork(t.Context(), sessions, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for range 2 {
		for i, length := range lengths() {
			w := &Window{crops: slices.Repeat([]*crop{new(crop)}, length-1)}
			if scores, err := n.score(t.Context(), w, new(MFCC)); err != nil || scores[0] != float32(i) {
				t.Errorf("a window of %d ticks: got %v, %v, want the session %d", length-1, scores, err, i)
			}
		}
	}
}
