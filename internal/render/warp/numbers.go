package warp

import "math"

// clamp returns x, or the nearer of 0 and 1 if it is outside of them.
func clamp(x float32) float32 { return min(max(x, 0), 1) }

// sqrt and abs are those of package math for float32.
func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
func abs(x float32) float32  { return max(x, -x) }

// square returns the square of x.
func square(x float32) float32 { return x * x }
