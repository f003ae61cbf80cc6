package tracking

import (
	"image"
	"math"
	"slices"
	"testing"
)

// TestCuts checks the frames with which new shots start, in sequences of drawn
// frames.
func TestCuts(t *testing.T) {
	const n = 30
	for _, c := range []struct {
		name  string
		frame func(i int) *image.YCbCr
		want  []int
	}{
		{"nothing moves", func(int) *image.YCbCr { return waves(0, 0, 1) }, nil},
		{"a hard cut", func(i int) *image.YCbCr { return waves(float64(i/12*40), 0, 1) }, []int{12, 24}},
		{"two shots in a row", func(i int) *image.YCbCr { return waves(float64(min(max(i, 9), 11)*40), 0, 1) }, []int{10, 11}},
		{"a cut to black and back", func(i int) *image.YCbCr {
			return waves(0, 0, map[bool]float64{true: 0, false: 1}[i >= 10 && i < 20])
		}, []int{10, 20}},
		{"a pan", func(i int) *image.YCbCr { return waves(float64(i), 0, 1) }, nil},
		{"a pan that speeds up", func(i int) *image.YCbCr { return waves(float64(i*i)/12, 0, 1) }, nil},
		{"a cut in a slow pan", func(i int) *image.YCbCr { return waves(float64(i)/4+float64(i/15*40), 0, 1) }, []int{15}},
		{"a fade out over a second", func(i int) *image.YCbCr { return waves(0, 0, 1-float64(i)/n) }, nil},
		{"a fade in over a third of a second", func(i int) *image.YCbCr { return waves(0, 0, min(float64(i)/10, 1)) }, nil},
		{"flicker", func(i int) *image.YCbCr { return waves(0, float64(i%2*10), 1) }, nil},
		{"a camera's flash ends the shot and so does its end", func(i int) *image.YCbCr {
			return waves(0, map[bool]float64{true: 80, false: 0}[i == 15], 1)
		}, []int{15, 16}},
	} {
		var cuts cutDetector
		var got []int
		for i := range n {
			view := thumbnailOf(c.frame(i))
			if cuts.add(&view) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: cuts at %v, want %v", c.name, got, c.want)
		}
	}
}

// waves draws a scene that is moved to the left, brightened and faded.
func waves(left, brighter, fade float64) *image.YCbCr {
	const width, height = 160, 90
	f := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for y := range height {
		for x := range width {
			wave := math.Sin((float64(x)+left)/13) + math.Sin((float64(x)+left)/29+float64(y)/17)
			f.Y[f.YOffset(x, y)] = uint8(min(max((120+45*wave+brighter)*fade, 0), 255))
		}
	}
	return f
}
