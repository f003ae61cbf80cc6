package detection

import (
	"encoding/binary"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// TestPointCascadeIsReadWhole checks that only a file of exactly the size that
// its header tells is taken.
func TestPointCascadeIsReadWhole(t *testing.T) {
	for _, name := range []string{"puploc", "lp312", "lp38", "lp46", "lp81", "lp82", "lp84", "lp93"} {
		whole, err := cascadeFiles.ReadFile("pigo/" + name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := readPointCascade(whole)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		trees := c.stages * c.trees
		if got, want := len(c.nodes), trees*(1<<c.depth-1); got != want || got == 0 {
			t.Errorf("%s: %d nodes, want %d", name, got, want)
		}
		if got, want := len(c.steps), trees<<c.depth; got != want {
			t.Errorf("%s: %d steps, want %d", name, got, want)
		}
	}
	whole, _ := cascadeFiles.ReadFile("pigo/lp38")
	for _, n := range []int{0, 1, 15, 16, 17, 1000, len(whole) - 1} {
		if _, err := readPointCascade(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are taken", n, len(whole))
		}
	}
	if _, err := readPointCascade(append(whole[:len(whole):len(whole)], 0)); err == nil {
		t.Error("a byte too many is taken")
	}
}

func TestPointCascadeSizes(t *testing.T) {
	for _, c := range []struct {
		name                 string
		stages, trees, depth uint32
		bytes                int // after the header
		ok                   bool
	}{
		{"one stump", 1, 1, 1, 4 + 16, true},
		{"two stages of three trees", 2, 3, 2, 6 * (12 + 32), true},
		{"no nodes", 1, 1, 1, 0, false},
		{"a leaf is missing", 1, 1, 1, 4 + 8, false},
		{"too deep for a word", 1, 1, 64, 0, false},
		{"negative if signed", 1, 1, 1 << 31, 0, false},
		{"all that a word holds", 1<<32 - 1, 1<<32 - 1, 1<<32 - 1, 100, false},
		{"sizes whose product overflows to nothing", 1 << 31, 1 << 31, 64, 0, false},
	} {
		b := binary.LittleEndian.AppendUint32(nil, c.stages)
		b = binary.LittleEndian.AppendUint32(b, 0x3f000000) // a half
		b = binary.LittleEndian.AppendUint32(b, c.trees)
		b = binary.LittleEndian.AppendUint32(b, c.depth)
		if _, err := readPointCascade(append(b, make([]byte, c.bytes)...)); (err == nil) != c.ok {
			t.Errorf("%s: got error %v, want none: %t", c.name, err, c.ok)
		}
	}
}

// TestPointCascadeDescends checks a cascade of one stump by hand: right of
// the edge it goes left, and left of it right.
func TestPointCascadeDescends(t *testing.T) {
	// The pixel at the place against the one .25 of the scale to its right.
	file := []byte{1, 0, 0, 0, 0, 0, 0, 0x3f, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 64}
	c, err := readPointCascade(append(file, bytesOf(.1, -.5, 0, .5)...)) // y and x if the first isn't brighter; if it is
	if err != nil {
		t.Fatal(err)
	}
	p := pixels.NewPlane[uint8](100, 100)
	for i := range p.Pix {
		if i%100 < 50 {
			p.Pix[i] = 200
		}
	}
	for _, v := range []struct {
		name     string
		x        float32
		mirrored bool
		want     geom.Point
	}{
		{"over the edge", 45, false, geom.Point{X: 55, Y: 40}},
		{"beside it", 20, false, geom.Point{X: 10, Y: 42}},
		{"mirrored, beside it", 45, true, geom.Point{X: 55, Y: 42}},
		{"mirrored, over the edge: not brighter", 55, true, geom.Point{X: 65, Y: 42}},
		{"outside", 500, false, geom.Point{X: 490, Y: 42}},
	} {
		descents := []descent{{at: geom.Point{X: v.x, Y: 40}, scale: 20}, {at: geom.Point{X: 500, Y: 40}, scale: 20}}
		c.descend(p, descents, v.mirrored)
		if got := descents[0].at; geom.Distance(got, v.want) > 1e-3 {
			t.Errorf("%s: got %v, want %v", v.name, got, v.want)
		}
	}
}

func TestTrimmedMean(t *testing.T) {
	for _, c := range []struct {
		x    []float32
		want float32
	}{
		{[]float32{3}, 3},
		{[]float32{1, 2}, 1.5},
		{[]float32{1000, 1, 2, -1000}, 1.5},
		{[]float32{9, 9, 1, 2, 3, -9, -9, 0}, 1.5},
	} {
		if got := trimmedMean(c.x); got != c.want {
			t.Errorf("got %g, want %g, of %v", got, c.want, c.x)
		}
	}
}
