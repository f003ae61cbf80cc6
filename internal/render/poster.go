package render

import (
	"bytes"
	"image"
	"image/jpeg"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// posterSide is the longer side of a poster, in pixels.
const posterSide = 480

// posterOf returns a small picture, as a JPEG, of a frame as engines see it: of a standard range, in which the colours of a high dynamic range are paler.
func posterOf(frame *image.YCbCr) ([]byte, error) {
	size := frame.Rect.Size()
	scale := max(1, float32(max(size.X, size.Y))/posterSide)
	small := image.NewRGBA(image.Rect(0, 0, max(1, int(float32(size.X)/scale+.5)), max(1, int(float32(size.Y)/scale+.5))))
	s := pixels.NewSampler(frame, scale)
	for y := range small.Rect.Max.Y {
		for x := range small.Rect.Max.X {
			small.SetRGBA(x, y, pixels.Colour(s.RGB(geom.Point{X: (float32(x)+.5)*scale - .5, Y: (float32(y)+.5)*scale - .5})))
		}
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, small, nil)
	return b.Bytes(), err
}
