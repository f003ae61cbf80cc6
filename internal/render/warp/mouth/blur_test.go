package mouth

import (
	"fmt"
	"image"
	"math"
	"testing"

	"lipsync/internal/signal/geom"
	"lipsync/internal/test/facetest"
)

// TestReadsBlur reads the blur of drawn heads, upright and turned, that are blurred by known Gaussians.
func TestReadsBlur(t *testing.T) {
	const width, height = 320, 300
	for _, turn := range []float64{0, math.Pi / 2} {
		for _, c := range []blur{{}, {.03, .03}, {.05, .05}, {.1, .1}, {.1, 0}, {0, .1}} {
			t.Run(fmt.Sprintf("%.1f/%.2f,%.2f", turn, c.along, c.across), func(t *testing.T) {
				h := facetest.Head{X: 160, Y: 150, Eyes: 60, Turn: turn}
				sin, cos := math.Sincos(turn)
				to := geom.Similarity{A: float32(h.Eyes * cos), B: float32(h.Eyes * sin)}
				x, y := h.At(-.7-.5, -.45)
				to.X, to.Y = float32(x), float32(y)
				columns, rows := float64(c.along)*h.Eyes, float64(c.across)*h.Eyes
				if turn != 0 {
					columns, rows = rows, columns
				}
				got := lookOf(facetest.Blurred(facetest.Frame(width, height, h), columns, rows), to).blur
				for _, v := range [][2]float32{{got.along, c.along}, {got.across, c.across}} {
					if least, most := .6*v[1], 1.4*v[1]+blurUnseen; v[0] < least || v[0] > most {
						t.Errorf("got %v: %.3f isn't in [%.3f, %.3f]", got, v[0], least, most)
					}
				}
			})
		}
	}
	if got := lookOf(image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420), geom.Similarity{A: 60, X: 100, Y: 100}).blur; got != (blur{}) {
		t.Errorf("of a black picture: got %v", got)
	}
}
