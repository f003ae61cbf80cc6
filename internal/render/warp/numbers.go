package warp

import "math"

// sqrt and abs are those of package math for float32.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
func abs(x float32) float32  { return max(x, -x) }

// square returns the square of x.
func square(x float32) float32 { return x * x }
