package dsp

import (
	"math"
	"slices"
)

// Gaussian returns x filtered by a Gaussian with a standard deviation of sigma samples. Beyond the ends of x its
// first and last values repeat.
func Gaussian(x []float32, sigma float64) []float32 { return GaussianOf(x, sigma, 0, len(x)) }

// GaussianOf returns the values in [from, to) of Gaussian.
func GaussianOf(x []float32, sigma float64, from, to int) []float32 {
	out := make([]float32, to-from)
	if len(out) == 0 || sigma <= 0 {
		copy(out, x[from:to])
		return out
	}
	kernel := gaussian(sigma)
	r := len(kernel) / 2
	for i := range out {
		var sum float32
		for k, w := range kernel {
			sum += w * x[min(max(from+i+k-r, 0), len(x)-1)]
		}
		out[i] = sum
	}
	return out
}

// GaussianMean returns for each value of x the mean of the values around it, by their weights and a Gaussian with a standard deviation of
// sigma samples. Nothing lies beyond the ends of x. A value without any weight around it stays.
func GaussianMean(x, weights []float32, sigma float64) []float32 {
	out := slices.Clone(x)
	if sigma <= 0 {
		return out
	}
	kernel := gaussian(sigma)
	r := len(kernel) / 2
	for i := range out {
		var sum, total float32
		for k := max(i-r, 0); k <= min(i+r, len(x)-1); k++ {
			w := weights[k] * kernel[k-i+r]
			sum, total = sum+w*x[k], total+w
		}
		if total > 0 {
			out[i] = sum / total
		}
	}
	return out
}

// Reach is the reach of the kernel of a Gaussian to each side, in standard deviations. Less than a
// ten-thousandth of the sum of a Gaussian lies beyond it.
const Reach = 4

// Radius returns the reach of the kernel of a Gaussian to each side, in values.
func Radius(sigma float64) int { return int(Reach*sigma + .5) }

// gaussian returns the kernel of a Gaussian, whose sum is 1.
func gaussian(sigma float64) []float32 {
	r := Radius(sigma)
	kernel := make([]float32, 2*r+1)
	bell := func(k int) float64 {
		d := float64(k-r) / sigma
		return math.Exp(-.5 * d * d)
	}
	var sum float64
	for k := range kernel {
		sum += bell(k)
	}
	for k := range kernel {
		kernel[k] = float32(bell(k) / sum)
	}
	return kernel
}

// Median returns x with each value replaced by the median of the n values around it. n is odd. Beyond the ends of
// x its first and last values repeat.
func Median(x []float32, n int) []float32 {
	out := make([]float32, len(x))
	window := make([]float32, n)
	for i := range x {
		for k := range window {
			window[k] = x[min(max(i+k-n/2, 0), len(x)-1)]
		}
		slices.Sort(window)
		out[i] = window[n/2]
	}
	return out
}

// Quantile returns the value below which the share q of the values of x lies, by linear interpolation. It is 0 if x
// is empty.
func Quantile(x []float32, q float64) float32 {
	if len(x) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(x))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	f := float32(at - float64(i))
	return s[i]*(1-f) + s[i+1]*f
}
