package warp

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"lipsync/internal/geom"
	"lipsync/internal/pixels"
)

// flat returns a picture of one grey, with a mouth that looks like it.
func flat(grey uint8) (*pixels.Crop, *observation) {
	f := image.NewYCbCr(image.Rect(0, 0, 60, 60), image.YCbCrSubsampleRatio420)
	for i := range f.Y {
		f.Y[i] = 100
	}
	for i := range f.Cr {
		f.Cr[i] = grey // appearances leave out the mean of luma, but not redness
	}
	return pixels.NewCrop(f, f.Rect, 20), &observation{to: geom.Similarity{A: 20, X: 5}, mouth: someMouth(0)}
}

// fill offers a bank mouths of given looks.
func fill(b *bank, looks ...uint8) {
	for i, v := range looks {
		p, l := flat(v)
		b.add(nil, i, l, p)
	}
}

func TestBankKeepsTheUnlike(t *testing.T) {
	for _, c := range []struct {
		name  string
		looks []uint8
		want  []int // frames that are kept, among others
	}{
		{"all while there is room", []uint8{10, 10, 10}, []int{0, 1, 2}},
		{"what is new", []uint8{10, 10, 10, 10, 200}, []int{4}},
		{"not what is there already", []uint8{10, 60, 120, 180, 60, 10, 180}, []int{0, 1, 2, 3}},
		{"what is between", []uint8{10, 11, 120, 180, 60}, []int{2, 3, 4}},
	} {
		b := bank{capacity: 4}
		fill(&b, c.looks...)
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

// TestBankTwins checks after each of many steps that twins are as far as they
// say, and that the two that are most alike are found.
func TestBankTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, capacity := range []int{1, 2, 3, 12} {
		b := bank{capacity: capacity}
		for i := range 80 {
			p, l := flat(uint8(r.IntN(256)))
			if i%20 == 19 { // the budget is short
				b.capacity = max(b.capacity/2, 1)
				b.thin()
			} else {
				b.add(nil, i, l, p)
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
		if len(e.pixels.Y) == 0 {
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

// TestBudget checks that many people's banks stay within it together.
func TestBudget(t *testing.T) {
	s := newAnalyser(25)
	frame := image.NewYCbCr(image.Rect(0, 0, 2000, 2000), image.YCbCrSubsampleRatio420)
	_, l := flat(0)
	for range 3 {
		s.order = append(s.order, &person{bank: bank{capacity: bankSize}})
	}
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 120 {
		for k := range frame.Cr[:1000*1000/2] {
			frame.Cr[k] = uint8(r.IntN(4)) + uint8(i)
		}
		l.to = geom.Similarity{A: 700, X: -100, Y: -100}
		b := &s.order[i%3].bank
		// Large mouths, without their pixels: only their number counts here.
		b.examples = append(b.examples, example{frame: i, appearance: appearance{float32(i)}, twin: -1, nearest: math.MaxFloat32,
			pixels: &image.YCbCr{Y: frame.Y[:1500*1500]}})
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
