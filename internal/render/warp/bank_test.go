package warp

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/check"
)

// flat returns a picture of one colour with the given Cr, and an observation of a mouth in it.
func flat(red uint8) (*pixels.Crop, *mouth.Observation) {
	f := image.NewYCbCr(image.Rect(0, 0, 60, 60), image.YCbCrSubsampleRatio420)
	for i := range f.Y {
		f.Y[i] = 100
	}
	for i := range f.Cr {
		f.Cr[i] = red // appearances leave out the mean of luma, but not redness
	}
	return pixels.NewCrop(f, f.Rect, 20), &mouth.Observation{To: geom.Similarity{A: 20, X: 5}, Lips: someLips(0)}
}

// fill adds mouths with the given Cr to a bank, as frames 0, 1, 2 and so on.
func fill(b *bank, reds ...uint8) {
	for i, red := range reds {
		crop, o := flat(red)
		b.add(nil, i, o, crop)
	}
}

func TestBankKeepsTheUnlike(t *testing.T) {
	for _, c := range []struct {
		name string
		reds []uint8 // Cr of the mouths of frames 0, 1, 2 and so on
		want []int   // frames that are kept, among others
	}{
		{name: "all while there is room", reds: []uint8{10, 10, 10}, want: []int{0, 1, 2}},
		{name: "a new one", reds: []uint8{10, 10, 10, 10, 200}, want: []int{4}},
		{name: "none like those that are there", reds: []uint8{10, 60, 120, 180, 60, 10, 180}, want: []int{0, 1, 2, 3}},
		{name: "one between the others", reds: []uint8{10, 11, 120, 180, 60}, want: []int{2, 3, 4}},
	} {
		b := bank{capacity: 4}
		fill(&b, c.reds...)
		var got []int
		for _, e := range b.examples {
			got = append(got, e.frame)
		}
		for _, frame := range c.want {
			if !slices.Contains(got, frame) {
				t.Errorf("%s: keeps frames %v, want %v among them", c.name, got, c.want)
			}
		}
	}
}

// TestBankTwins checks after each of many steps that each example knows the distance of its twin,
// and that the bank finds the two examples that are most alike.
func TestBankTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, capacity := range []int{1, 2, 3, 12} {
		b := bank{capacity: capacity}
		for i := range 80 {
			crop, o := flat(uint8(r.IntN(256)))
			if i%20 == 19 { // as if all banks together were too large
				b.capacity = max(b.capacity/2, 1)
				b.thin()
			} else {
				b.add(nil, i, o, crop)
			}
			checkTwins(t, &b)
			b.capacity = capacity
		}
	}
}

func checkTwins(t *testing.T, b *bank) {
	t.Helper()
	if len(b.examples) > b.capacity {
		t.Fatalf("%d examples, room for %d", len(b.examples), b.capacity)
	}
	closest := float32(math.MaxFloat32)
	for i, e := range b.examples {
		if len(e.Pixels.Y) == 0 {
			t.Fatalf("example %d has no pixels", i)
		}
		for k := range i {
			closest = min(closest, e.appearance.distance(&b.examples[k].appearance))
		}
		if e.twin < 0 {
			continue
		}
		if e.twin == i || e.twin >= len(b.examples) {
			t.Fatalf("example %d of %d has the twin %d", i, len(b.examples), e.twin)
		}
		if d := e.appearance.distance(&b.examples[e.twin].appearance); d != e.nearest {
			t.Fatalf("example %d: twin %d at %g, but it is at %g", i, e.twin, e.nearest, d)
		}
	}
	if len(b.examples) > 1 {
		if got := b.examples[b.commonest()].nearest; got != closest {
			t.Fatalf("the commonest is %g from its twin, but two are only %g apart", got, closest)
		}
	}
}

// TestBankBytes checks that the banks of several people together stay within bankBytes.
func TestBankBytes(t *testing.T) {
	s := newAnalyser(25, check.Scratch(t))
	luma := make([]uint8, 1500*1500)
	for range 3 {
		s.order = append(s.order, &person{bank: bank{capacity: bankSize}})
	}
	for i := range 120 {
		b := &s.order[i%3].bank
		// The large mouths share their pixels, since only the number of bytes counts here.
		b.examples = append(b.examples, example{frame: i, appearance: appearance{float32(i)}, twin: -1, nearest: math.MaxFloat32,
			Example: mouth.Example{Pixels: &image.YCbCr{Y: luma}}})
		b.bytes += b.examples[len(b.examples)-1].size()
		s.share()
		total := 0
		for _, p := range s.order {
			total += p.bank.bytes
		}
		if total > 100<<20 {
			t.Fatalf("%d MiB after %d examples", total>>20, i+1)
		}
	}
}
