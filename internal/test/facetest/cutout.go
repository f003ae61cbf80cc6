package facetest

import (
	"image"

	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Cutout is a thing that is cut out of a frame, and held in front of a head in others.
type Cutout struct {
	frame *image.YCbCr
	mask  *image.Alpha // in the frame that it is cut out of
}

// edgeTaps × edgeTaps places of a pixel tell how much of it is inside an outline.
const edgeTaps = 4

// Cut cuts the inside of an outline out of a frame.
func Cut(frame *image.YCbCr, outline []geom.Point) *Cutout {
	var area image.Rectangle
	for _, p := range outline {
		area = area.Union(image.Rect(int(p.X), int(p.Y), int(p.X)+1, int(p.Y)+1))
	}
	c := &Cutout{frame: frame, mask: image.NewAlpha(area.Intersect(frame.Rect))}
	for y := c.mask.Rect.Min.Y; y < c.mask.Rect.Max.Y; y++ {
		for x := c.mask.Rect.Min.X; x < c.mask.Rect.Max.X; x++ {
			inside := 0
			for i := range edgeTaps * edgeTaps {
				q := geom.Point{X: float32(x) + (float32(i%edgeTaps)+.5)/edgeTaps - .5, Y: float32(y) + (float32(i/edgeTaps)+.5)/edgeTaps - .5}
				if within(outline, q) {
					inside++
				}
			}
			c.mask.Pix[c.mask.PixOffset(x, y)] = uint8(255 * inside / (edgeTaps * edgeTaps))
		}
	}
	return c
}

// within tells whether a place is inside an outline.
func within(outline []geom.Point, q geom.Point) (in bool) {
	p := outline[len(outline)-1]
	for _, n := range outline {
		if (p.Y > q.Y) != (n.Y > q.Y) && q.X < p.X+(q.Y-p.Y)*(n.X-p.X)/(n.Y-p.Y) {
			in = !in
		}
		p = n
	}
	return in
}

// Covers returns how much of a place of a frame the cutout hides, 0 to 1. to brings places of the frame that it was cut out of to that
// frame. With several of them it moves while the frame is exposed.
func (c *Cutout) Covers(q geom.Point, to ...geom.Similarity) (share float32) {
	for _, s := range to {
		share += c.opaque(s.Inverse().Apply(q)) / float32(len(to))
	}
	return share
}

func (c *Cutout) opaque(q geom.Point) float32 {
	plane := pixels.Plane[uint8]{Pix: c.mask.Pix, Width: c.mask.Rect.Dx(), Height: c.mask.Rect.Dy(), Stride: c.mask.Stride}
	if !image.Pt(int(q.X), int(q.Y)).In(c.mask.Rect) {
		return 0
	}
	return plane.Bilinear(q.X-float32(c.mask.Rect.Min.X), q.Y-float32(c.mask.Rect.Min.Y)) / 255
}

// Draw draws the cutout on a frame.
func (c *Cutout) Draw(f *image.YCbCr, to ...geom.Similarity) {
	from := make([]geom.Similarity, len(to))
	for i, s := range to {
		from[i] = s.Inverse()
	}
	area := c.area(to).Intersect(f.Rect)
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			s := c.spot(geom.Point{X: float32(x), Y: float32(y)}, from)
			if s.seen == 0 {
				continue
			}
			s.over(&f.Y[f.YOffset(x, y)], 0)
			if x%2 == 0 && y%2 == 0 {
				s.over(&f.Cb[f.COffset(x, y)], 1)
				s.over(&f.Cr[f.COffset(x, y)], 2)
			}
		}
	}
}

// area returns the part of a frame in which the cutout is.
func (c *Cutout) area(to []geom.Similarity) (all image.Rectangle) {
	for _, s := range to {
		for _, x := range []int{c.mask.Rect.Min.X, c.mask.Rect.Max.X} {
			for _, y := range []int{c.mask.Rect.Min.Y, c.mask.Rect.Max.Y} {
				q := s.Apply(geom.Point{X: float32(x), Y: float32(y)})
				all = all.Union(image.Rect(int(q.X)-1, int(q.Y)-1, int(q.X)+2, int(q.Y)+2))
			}
		}
	}
	return all
}

// spot returns the colour of the cutout at a place of a frame. from is the inverse of to.
func (c *Cutout) spot(q geom.Point, from []geom.Similarity) (s spot) {
	for _, f := range from {
		p := f.Apply(q)
		seen := float64(c.opaque(p))
		if seen == 0 {
			continue
		}
		cb, cr := pixels.ChromaAt(c.frame, p)
		for k, v := range [3]float32{pixels.LumaAt(c.frame, p), cb, cr} {
			s.colour[k] += seen * float64(v)
		}
		s.seen += seen
	}
	for k := range s.colour {
		s.colour[k] /= max(s.seen, 1e-9)
	}
	s.seen /= float64(len(from))
	return s
}
