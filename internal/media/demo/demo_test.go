package demo

import (
	"image"
	"image/color"
	"math"
	"testing"

	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
	"lipsync/internal/test/tracktest"
)

// TestFaceIsFound checks that the service's face detector finds the drawn face.
func TestFaceIsFound(t *testing.T) {
	detector, err := detection.New(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tracker := tracking.NewTracker(detector, 25)
	for i := range 12 {
		faces, cut, err := tracktest.Add(t.Context(), tracker, planes(frame(i, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if len(faces) != 1 || cut && i > 0 {
			t.Fatalf("frame %d: got %d faces, cut %t, want one face and no cut", i, len(faces), cut)
		}
		h := at(i)
		sin, cos := math.Sincos(h.tilt)
		for landmark, place := range map[int]struct{ u, v float64 }{
			detection.LeftPupil: {-.5, 0}, detection.RightPupil: {.5, 0},
			detection.LeftCorner: {-.44, 1.1}, detection.RightCorner: {.44, 1.1},
		} {
			got := faces[0].Landmarks[landmark]
			x, y := h.x+h.size*(place.u*cos-place.v*sin), h.y+h.size*(place.u*sin+place.v*cos)
			if d := math.Hypot(float64(got.X)-x, float64(got.Y)-y); d > .1*h.size {
				t.Errorf("frame %d, landmark %d: got %.0f, %.0f, want %.0f, %.0f", i, landmark, got.X, got.Y, x, y)
			}
		}
	}
}

// planes converts a picture to 4:2:0, with the chroma of every second pixel.
func planes(p *image.RGBA) *image.YCbCr {
	q := image.NewYCbCr(p.Bounds(), image.YCbCrSubsampleRatio420)
	for y := range p.Bounds().Dy() {
		for x := range p.Bounds().Dx() {
			c := p.RGBAAt(x, y)
			luma, cb, cr := color.RGBToYCbCr(c.R, c.G, c.B)
			q.Y[q.YOffset(x, y)] = luma
			q.Cb[q.COffset(x, y)], q.Cr[q.COffset(x, y)] = cb, cr
		}
	}
	return q
}
