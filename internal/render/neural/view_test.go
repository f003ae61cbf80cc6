package neural

import (
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/test/neuraltest"
)

// places returns a frame whose luma gives x, and whose chroma gives y.
func places(width, height int) *image.YCbCr {
	f := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for i := range f.Y {
		f.Y[i] = uint8(16 + i%width)
	}
	for i := range f.Cb {
		f.Cb[i], f.Cr[i] = uint8(16+i/(width/2)), uint8(16+i%(width/2))
	}
	return f
}

// TestCropGeometry checks the places that the crop's pixels come from: of faces that are
// upright, turned, and partly outside the frame.
func TestCropGeometry(t *testing.T) {
	const width, height = 220, 300
	frame := places(width, height)
	e := newTestEngine(t, 96, 1, neuraltest.AsItIs)
	for name, onto := range map[string]geom.Similarity{
		"upright":       {A: 60, B: 0, X: 30, Y: 60},
		"turned":        {A: 50, B: 20, X: 80, Y: 60},
		"small":         {A: 12, B: 1, X: 120, Y: 120},
		"at the corner": {A: 60, B: 0, X: -60, Y: -30},
	} {
		b := e.newBuffers()
		b.cut(frame, onto)
		for _, p := range []image.Point{{0, 0}, {95, 0}, {0, 95}, {95, 95}, {48, 48}, {20, 70}} {
			q := onto.Apply(geom.Point{
				X: .25 + (float32(p.X)+.5)/96*(2.13-.25),
				Y: -.7 + (float32(p.Y)+.5)/96*(2.25+.7),
			})
			q.X, q.Y = min(max(q.X, 0), width-1), min(max(q.Y, 0), height-1)
			k := p.Y*96 + p.X
			got := [3]float32{b.seen[0][k], b.seen[1][k], b.seen[2][k]}
			want := [3]float32{16 + q.X, 16 + max(q.Y-.5, 0)/2, 16 + max(q.X-.5, 0)/2}
			for c := range got {
				if abs(got[c]-want[c]) > .3 {
					t.Errorf("%s: channel %d of pixel %v is %g, want %g", name, c, p, got[c], want[c])
				}
			}
		}
	}
}

// TestCropIsMean checks that a fine pattern becomes its mean and not a coarse
// one.
func TestCropIsMean(t *testing.T) {
	frame := places(1000, 1000)
	for i := range frame.Y {
		frame.Y[i] = uint8(80 + (i+i/1000)%2*80) // a chess board
	}
	b := newTestEngine(t, 96, 1, neuraltest.AsItIs).newBuffers()
	b.cut(frame, geom.Similarity{A: 260, B: 30, X: 150, Y: 250})
	for i, v := range b.seen[0] {
		if abs(v-120) > 8 {
			t.Fatalf("pixel %d is %g, want about 120", i, v)
		}
	}
}

// TestChannels checks the published input: B, G and R with the lower half zero,
// then B, G and R.
func TestChannels(t *testing.T) {
	const size, n = 96, 96 * 96
	frame := places(200, 200)
	for i := range frame.Cb {
		frame.Cb[i], frame.Cr[i] = 90, 240
	}
	for i := range frame.Y {
		frame.Y[i] = 81
	}
	b := newTestEngine(t, size, 1, neuraltest.AsItIs).newBuffers()
	b.cut(frame, geom.Similarity{A: 50, B: 0, X: 40, Y: 50})
	red := [3]float32{0, 0, .9998} // of BT.601: Y 81, Cb 90, Cr 240 is B 0, G 0, R 255
	for c := range 6 {
		for i := range n {
			want := red[c%3]
			if c < 3 && i >= n/2 {
				want = 0
			}
			if got := b.pictures[c*n+i]; math.Abs(float64(got-want)) > 5e-3 {
				t.Fatalf("channel %d, row %d: %g, want %g", c, i/size, got, want)
			}
		}
	}
}

// TestSharp compares both ways to enlarge a face with what it is of: a wave of light and dark.
func TestSharp(t *testing.T) {
	wave := func(x float32) float64 { return 128 + 80*math.Sin(float64(x)*2*math.Pi/6) }
	frame := places(200, 200)
	for i := range frame.Y {
		frame.Y[i] = uint8(wave(float32(i%200)) + .5)
	}
	onto := geom.Similarity{A: 60, X: 30, Y: 60}
	var off [2]float64
	for k := range off {
		v := tall
		v.Size, v.Sharp = 256, k == 1
		b := startTest(t, Network{View: v}, 1, neuraltest.AsItIs).newBuffers()
		b.cut(frame, onto)
		for x := 50; x < 200; x++ {
			off[k] += math.Abs(float64(b.seen[0][128*256+x]) - wave(onto.Apply(v.place(float32(x)+.5, 128)).X))
		}
	}
	if !(off[1] < .6*off[0]) {
		t.Errorf("sharp, levels differ by %.1f of those that differ otherwise, want at most .6", off[1]/off[0])
	}
}

// TestHidden checks what is hidden, and its value, in red, green and blue.
func TestHidden(t *testing.T) {
	v := tall
	v.Size = 96
	b := startTest(t, Network{View: v, Black: -1}, 1, neuraltest.AsItIs).newBuffers()
	frame := places(200, 200)
	b.cut(frame, geom.Similarity{A: 50, B: 0, X: 40, Y: 50})
	const n = 96 * 96
	for i := range n {
		red, green, blue := b.pictures[3*n+i], b.pictures[4*n+i], b.pictures[5*n+i]
		y, _, _ := pixels.FromRGB((red+1)/2, (green+1)/2, (blue+1)/2)
		if inside := red > -1 && red < 1 && green > -1 && green < 1 && blue > -1 && blue < 1; inside && abs(y-b.seen[0][i]) > .1 {
			t.Fatalf("pixel %d: luma %g, want %g", i, y, b.seen[0][i])
		}
		for c := range 3 {
			want := b.pictures[(3+c)*n+i]
			if i >= n/2 {
				want = -1
			}
			if got := b.pictures[c*n+i]; got != want {
				t.Fatalf("pixel %d, channel %d: %g in the hidden picture, want %g", i, c, got, want)
			}
		}
	}
}
