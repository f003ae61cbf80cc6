package detection

import (
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/signal/pixels"
)

// faceFile returns the file of the face cascade.
func faceFile(t *testing.T) []byte {
	t.Helper()
	file, err := cascadeFiles.ReadFile("pigo/facefinder")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestFaceCascadeIsReadWhole checks that only a file of exactly the size that its header
// tells is taken.
func TestFaceCascadeIsReadWhole(t *testing.T) {
	whole := faceFile(t)
	c, err := readFaceCascade(whole)
	if err != nil {
		t.Fatal(err)
	}
	if trees, leaves := len(c.least), 1<<c.depth; trees == 0 || len(c.nodes) != trees*leaves || len(c.scores) != trees*leaves {
		t.Errorf("got %d nodes and %d scores of %d trees of %d leaves", len(c.nodes), len(c.scores), trees, leaves)
	}
	for _, n := range []int{0, 1, 15, 16, 17, 1000, len(whole) - 1} {
		if _, err := readFaceCascade(whole[:n]); err == nil {
			t.Errorf("the first %d of %d bytes are taken", n, len(whole))
		}
	}
	if _, err := readFaceCascade(append(whole[:len(whole):len(whole)], 0)); err == nil {
		t.Error("a byte too many is taken")
	}
	for _, at := range []int{8, 12} { // depth, number of trees
		changed := slices.Clone(whole)
		changed[at+3] = 0xff
		if _, err := readFaceCascade(changed); err == nil {
			t.Errorf("0xff is taken at byte %d", at+3)
		}
	}
}

// TestFaceCascade compares the faces that are found with one window after the other through the trees, as
// the paper has it. All trees find nothing in noise, so there are fewer.
func TestFaceCascade(t *testing.T) {
	c, err := readFaceCascade(faceFile(t))
	if err != nil {
		t.Fatal(err)
	}
	c.least = c.least[:40]
	random := rand.New(rand.NewPCG(1, 2))
	p := pixels.Plane[uint8]{Pix: make([]uint8, 120*90), Width: 110, Height: 90, Stride: 120}
	for i := range p.Pix {
		p.Pix[i] = uint8(60*(i/9%3) + 60*(i/p.Stride/7%2) + random.IntN(40))
	}
	var want []square
	for _, side := range []int{20, 22, 24, 26, 28, 30} { // by a tenth, 2 at least
		for row := side/2 + 1; row <= p.Height-side/2-1; row += side / 8 {
			for col := side/2 + 1; col <= p.Width-side/2-1; col += side / 8 {
				if score, ok := c.score(p, row, col, side); ok {
					want = append(want, square{row, col, side, score})
				}
			}
		}
	}
	got := c.find(p, 20, 30, .125)
	if !slices.Equal(got, want) || len(want) < 5 {
		t.Errorf("got %d squares: %v\nwant %d, 5 at least: %v", len(got), got, len(want), want)
	}
}

// score takes one window through all trees.
func (c *faceCascade) score(p pixels.Plane[uint8], row, col, side int) (sum float32, ok bool) {
	for i, least := range c.least {
		k := 1
		for range c.depth {
			n := c.nodes[i<<c.depth+k]
			at := func(down, right int8) uint8 {
				return p.At((256*col+int(right)*side)>>8, (256*row+int(down)*side)>>8)
			}
			if k *= 2; at(n[0], n[1]) <= at(n[2], n[3]) {
				k++
			}
		}
		if sum += c.scores[i<<c.depth+k-1<<c.depth]; sum <= least {
			return 0, false
		}
	}
	return sum - c.least[len(c.least)-1], true
}

func TestMerge(t *testing.T) {
	for _, test := range []struct {
		name        string
		found, want []square
	}{
		{"nothing", nil, nil},
		{"one", []square{{10, 20, 8, 3}}, []square{{10, 20, 8, 3}}},
		{"two that overlap", []square{{10, 20, 8, 3}, {12, 22, 10, 5}}, []square{{11, 21, 9, 8}}},
		{"two that touch", []square{{10, 20, 8, 3}, {10, 28, 8, 5}}, []square{{10, 20, 8, 3}, {10, 28, 8, 5}}},
		{"the weakest come first", []square{{10, 20, 8, 3}, {50, 50, 8, 1}}, []square{{50, 50, 8, 1}, {10, 20, 8, 3}}},
		{"one side is shared by a fifth: no group", []square{{0, 0, 12, 1}, {0, 8, 12, 2}}, []square{{0, 0, 12, 1}, {0, 8, 12, 2}}},
	} {
		if got := merge(test.found); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}
