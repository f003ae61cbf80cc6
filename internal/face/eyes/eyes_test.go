package eyes_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lipsync/internal/face/eyes"
	"lipsync/internal/network/conv"
)

// ellipses are the drawn face of picture, each with its middle, its half axes and its colour.
var ellipses = []struct{ x, y, width, height, red, green, blue int }{
	{96, 100, 52, 70, 205, 165, 140},
	{74, 82, 11, 6, 250, 245, 240}, {118, 82, 11, 6, 250, 245, 240},
	{74, 82, 5, 5, 40, 30, 25}, {118, 82, 5, 5, 40, 30, 25},
	{74, 68, 14, 3, 70, 50, 40}, {118, 68, 14, 3, 70, 50, 40},
	{96, 108, 7, 12, 185, 140, 115},
	{96, 136, 22, 8, 160, 70, 70}, {96, 136, 18, 2, 60, 20, 20},
}

// picture draws the planes of a face, from low to 1. export/reference.py draws it too.
func picture(low float32) []float32 {
	const plane = eyes.Side * eyes.Side
	p := make([]float32, 3*plane)
	for y := range eyes.Side {
		for x := range eyes.Side {
			colour := [3]int{60, 70, 90}
			for _, e := range ellipses {
				dx, dy, r := (x-e.x)*e.height, (y-e.y)*e.width, e.width*e.height
				if dx*dx+dy*dy <= r*r {
					colour = [3]int{e.red, e.green, e.blue}
				}
			}
			for c, v := range colour {
				share := float32(float64(v+(7*x+13*y)%17/4) / 255)
				p[c*plane+y*eyes.Side+x] = (1-low)*share + low
			}
		}
	}
	return p
}

// run runs a network, twice, since the second run has memory with numbers in it.
func run(t testing.TB, n *conv.Network, input []float32) [][]float32 {
	t.Helper()
	size, sizes := n.Sizes()
	if size != len(input) {
		t.Fatalf("got an input of %d numbers, want %d", size, len(input))
	}
	var outputs [][]float32
	for _, size := range sizes {
		outputs = append(outputs, make([]float32, size))
	}
	n.Run(1, input, outputs...)
	n.Run(1, input, outputs...)
	return outputs
}

// reference reads what the published network answers.
func reference(t *testing.T, name string) []float32 {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	numbers := make([]float32, len(content)/4)
	for i := range numbers {
		numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(content[4*i:]))
	}
	return numbers
}

// compare checks that numbers differ from those of the published network by no more than a bound.
func compare(t *testing.T, of string, got, want []float32, most float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d numbers, want %d", of, len(got), len(want))
	}
	worst := float32(0)
	for i, w := range want {
		d := float32(math.Abs(float64(got[i] - w)))
		if !(d <= most) {
			t.Fatalf("%s: number %d is %v, want %v", of, i, got[i], w)
		}
		worst = max(worst, d)
	}
	t.Logf("%s: differs by %.2g", of, worst)
}

// The weights are those of the published networks to the bit, so only the order of sums differs. Bounds are about ten times what was
// measured.
const (
	mostShare  = 1e-5 // of the picture's side
	mostPixels = 5e-4
	mostScore  = 5e-4
)

// TestMesh compares the mesh of a drawn face with the published network's.
func TestMesh(t *testing.T) {
	got, want := run(t, eyes.Mesh(), picture(0)), reference(t, "mesh.bin")
	points, lips, flag := got[0], got[1], got[2]
	compare(t, "mesh", points, want[:3*468], mostShare)
	compare(t, "lips", lips, want[3*468:][:2*80], mostShare)
	compare(t, "flag", flag, want[3*468+2*80:], mostShare)
	if flag[0] < .99 {
		t.Errorf("got a face with probability %v", flag[0])
	}
	// The drawn mouth: the corners, the middle of the lower lip and of the upper one.
	for point, at := range map[int][2]float32{0: {74, 136}, 10: {118, 136}, 5: {96, 144}, 15: {96, 128}} {
		x, y := lips[2*point]*eyes.Side, lips[2*point+1]*eyes.Side
		if max(math.Abs(float64(x-at[0])), math.Abs(float64(y-at[1]))) > 4 {
			t.Errorf("point %d of the lips: got %.1f %.1f, want about %v", point, x, y, at)
		}
	}
}

// TestSearch compares the faces of a picture with those of the published network.
func TestSearch(t *testing.T) {
	got, want := run(t, eyes.Search(), picture(-1)), reference(t, "search.bin")
	boxes, scores := got[0], got[1]
	var some []float32
	for anchor := 0; anchor < len(scores); anchor += 36 {
		some = append(some, boxes[16*anchor:][:16]...)
	}
	compare(t, "boxes", some, want[:len(some)], mostPixels)
	compare(t, "scores", scores, want[len(some):], mostScore)
	best := 0
	for i, score := range scores {
		if score > scores[best] {
			best = i
		}
	}
	// The drawn face: the middle of the box, the eyes, the nose and the mouth.
	box := boxes[16*best:][:16]
	for number, at := range map[int][2]float32{0: {96, 104}, 4: {74, 82}, 6: {118, 82}, 8: {96, 110}, 10: {96, 136}} {
		x, y := (float32(best%48)+.5)*4+box[number], (float32(best/48)+.5)*4+box[number+1]
		if max(math.Abs(float64(x-at[0])), math.Abs(float64(y-at[1]))) > 8 {
			t.Errorf("numbers %d and %d: got %.1f %.1f, want about %v", number, number+1, x, y, at)
		}
	}
	if scores[best] < 0 || box[2] < 100 || box[2] > 130 {
		t.Errorf("got a score of %v and a width of %v", scores[best], box[2])
	}
}

// TestPlain runs the tests above without the kernels in assembly.
func TestPlain(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("only on amd64 the environment can switch the kernels off")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^(TestMesh|TestSearch)$", "-test.v")
	command.Env = append(os.Environ(), "GODEBUG=cpu.avx2=off")
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestSearch") {
		t.Errorf("%v\n%s", err, out)
	}
}

func BenchmarkMesh(b *testing.B) { bench(b, eyes.Mesh()) }

func BenchmarkSearch(b *testing.B) { bench(b, eyes.Search()) }

func bench(b *testing.B, n *conv.Network) {
	for _, cores := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("cores=%d", cores), func(b *testing.B) {
			input := picture(0)
			outputs := run(b, n, input)
			b.ReportAllocs()
			for b.Loop() {
				n.Run(cores, input, outputs...)
			}
		})
	}
}
