// Package toy is the engine of docs/architecture.md, "A new engine". It draws a dark ellipse over
// the mouth of the person who speaks. The ellipse is as high as the lips are open.
package toy

import (
	"context"
	"image"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/engine"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
)

// Engine is an engine.Engine. It holds what all jobs share: here nothing.
type Engine struct{}

// Workers implements engine.Engine: how many frames of a job are painted at once.
func (Engine) Workers() int { return 2 }

// Articulates implements engine.Engine.
func (Engine) Articulates() bool { return true }

// Analyse implements engine.Engine. It is called once a job.
func (Engine) Analyse(engine.Video) (engine.Analyser, error) {
	return analyser{}, nil
}

// analyser holds what one job learns of its video: where each mouth lies, by track and frame.
type analyser map[place]geom.Similarity

// place is one face in one frame.
type place struct{ track, frame int }

// Add implements engine.Analyser. It sees each source frame once and in order.
func (a analyser) Add(f alignment.Frame) error {
	for i := range f.Faces {
		a[place{f.Faces[i].Track, f.Index}] = f.Faces[i].ToMouth()
	}
	return nil
}

// Plan implements engine.Analyser. All source frames were seen, and out says which of them lies
// under each output frame, who speaks in it, and what the speech asks of the lips.
func (a analyser) Plan(_ context.Context, out engine.Output) (engine.Painter, error) {
	p := make(painter, out.Frames)
	for i := range p {
		source := out.Source(i)
		to, ok := a[place{out.Speaker(source), source}]
		if ok {
			p[i] = &mouth{to, out.Spoken[i]}
		}
	}
	return p, nil
}

// painter has a mouth for each output frame, nil where nobody speaks. It isn't changed any more,
// since workers ask it for several frames at once.
type painter []*mouth

// mouth holds the place and the articulation of the mouth to draw.
type mouth struct {
	to     geom.Similarity // from canonical coordinates to pixels
	spoken speech.Articulation
}

// Paint implements engine.Painter.
func (p painter) Paint(_ context.Context, output int, frame *image.YCbCr) ([]engine.Mouth, error) {
	m := p[output]
	if m == nil {
		return nil, nil
	}
	drawn := m.draw(frame.Rect)
	if drawn.Mask.Rect.Empty() {
		return nil, nil
	}
	return []engine.Mouth{drawn}, nil
}

// centre, halfWide and halfHigh describe the ellipse of an open mouth, canonical: the pupils are 1 apart.
var centre = geom.Point{X: 1.2, Y: 1.55}

const halfWide, halfHigh = .4, .3

// draw returns the ellipse as far as it lies in a frame: pixels, and a mask of the same rectangle.
func (m *mouth) draw(frame image.Rectangle) engine.Mouth {
	at, unit := m.to.Apply(centre), m.to.Scale()
	r := int(halfWide*unit) + 1
	box := image.Rect(int(at.X)-r, int(at.Y)-r, int(at.X)+r, int(at.Y)+r)
	box = pixels.Even(box).Intersect(frame)
	picture, mask := image.NewYCbCr(box, image.YCbCrSubsampleRatio420), image.NewAlpha(box)
	for i := range picture.Y {
		picture.Y[i] = 30 // dark; limited range begins at 16
	}
	for i := range picture.Cb {
		picture.Cb[i], picture.Cr[i] = 120, 140 // a little red
	}
	back := m.to.Inverse()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			c := back.Apply(geom.Point{X: float32(x), Y: float32(y)})
			u, v := (c.X-centre.X)/halfWide, (c.Y-centre.Y)/halfHigh
			if u*u+v*v < m.spoken.Opening*m.spoken.Opening {
				mask.Pix[mask.PixOffset(x, y)] = 255 // all of the picture, none of the frame
			}
		}
	}
	return engine.Mouth{Image: picture, Mask: mask}
}
