package mouth

import (
	"math"

	"lipsync/internal/signal/pixels"
)

// smoothstep returns 0 up to 0, 1 from 1 on, and between them a cubic that begins and ends level.
func smoothstep(x float32) float32 {
	x = pixels.Unit(x)
	return x * x * (3 - 2*x)
}

// floor, pow, sqrt and abs are those of package math for float32. pow is for an x of at least 0.
func floor(x float32) float32  { return float32(math.Floor(float64(x))) }
func pow(x, e float32) float32 { return float32(math.Exp(float64(e) * math.Log(float64(x)))) }
func sqrt(x float32) float32   { return float32(math.Sqrt(float64(x))) }
func abs(x float32) float32    { return float32(math.Abs(float64(x))) }

// along returns the value at a share of the way, 0 to 1, through two or more values at even steps.
func along(values []float32, share float32) float32 {
	at := share * float32(len(values)-1)
	i := min(int(at), len(values)-2)
	return values[i] + (values[i+1]-values[i])*(at-float32(i))
}

// square returns the square of x.
func square(x float32) float32 { return x * x }
