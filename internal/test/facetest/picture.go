package facetest

import (
	"image"
	"math"

	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/pixels"
)

// Plain returns a grey picture of one luma, of 240 × 300 pixels.
func Plain(luma uint8) *image.YCbCr {
	f := image.NewYCbCr(image.Rect(0, 0, 240, 300), image.YCbCrSubsampleRatio420)
	for i := range f.Y {
		f.Y[i] = luma
	}
	for i := range f.Cb {
		f.Cb[i], f.Cr[i] = 128, 128
	}
	return f
}

// Blurred returns a frame after Gaussians along its rows and columns, with standard deviations in pixels.
func Blurred(f *image.YCbCr, along, across float64) *image.YCbCr {
	out := pixels.Copy(f, f.Rect)
	blue, red := pixels.Chroma(out)
	for i, p := range []pixels.Plane[uint8]{pixels.Luma(out), blue, red} {
		along, across := along, across
		if i > 0 {
			along, across = along/2, across/2
		}
		line := make([]float32, max(p.Width, p.Height))
		filter := func(n, stride int, sigma float64, from []uint8) {
			for k := range n {
				line[k] = float32(from[k*stride])
			}
			for k, v := range dsp.Gaussian(line[:n], sigma) {
				from[k*stride] = uint8(math.Round(float64(v)))
			}
		}
		for y := range p.Height {
			filter(p.Width, 1, along, p.Pix[y*p.Stride:])
		}
		for x := range p.Width {
			filter(p.Height, p.Stride, across, p.Pix[x:])
		}
	}
	return out
}
