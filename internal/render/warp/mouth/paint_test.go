package mouth

import (
	"image"
	"slices"
	"testing"

	"lipsync/internal/render/engine"
)

// TestBlend mixes two mouths that cover different places.
func TestBlend(t *testing.T) {
	area := image.Rect(0, 0, 4, 2)
	frame := image.NewYCbCr(area, image.YCbCrSubsampleRatio420)
	fill := func(luma uint8, alpha ...uint8) engine.Mouth {
		m := engine.Mouth{Image: image.NewYCbCr(area, image.YCbCrSubsampleRatio420), Mask: image.NewAlpha(area)}
		for i := range m.Image.Y {
			m.Image.Y[i], frame.Y[i] = luma, 40
		}
		copy(m.Mask.Pix, alpha)
		return m
	}
	m, other := fill(100, 255, 255, 0, 0), fill(200, 255, 0, 255, 0)
	blend(&m, other, frame, .25)
	if got, want := m.Image.Y[:3], []uint8{125, 85, 80}; !slices.Equal(got, want) {
		t.Errorf("got %d, want %d: both, the first, the second", got, want)
	}
	if got, want := m.Mask.Pix[:4], []uint8{255, 255, 255, 0}; !slices.Equal(got, want) {
		t.Errorf("mask %d, want %d", got, want)
	}
}
