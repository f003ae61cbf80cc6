package face

import (
	"context"
	"image"
)

const (
	searchSide    = 480 // longest side of the picture that is searched, pixels
	surelyQuality = 12  // of a sighting that Find returns
	stillQuality  = 2   // of one that Locate goes on with
	landmarkScale = 180 // side of a face where its landmarks are searched, pixels
)

// Find implements Finder.
func (d *detector) Find(_ context.Context, frame *image.YCbCr) (found []Box, err error) {
	bounds := frame.Bounds()
	factor := max(1, max(bounds.Dx(), bounds.Dy())/searchSide)
	p := shrink(frame, bounds, factor)
	smallest := smallestFace * float64(min(p.width, p.height))
	for _, s := range d.find(p, int(smallest), max(p.width, p.height), .1) {
		if s.quality >= surelyQuality {
			found = append(found, s.box.scale(float32(factor), Point{}))
		}
	}
	return found, nil
}

// Locate implements Finder.
func (d *detector) Locate(_ context.Context, frame *image.YCbCr, near Face) (f Face, ok bool, err error) {
	box := near.Box
	factor := max(1, int(box.Size/landmarkScale+.5))
	half := int(.8 * box.Size)
	area := image.Rect(int(box.X)-half, int(box.Y)-half, int(box.X)+half, int(box.Y)+half).Intersect(frame.Bounds())
	if area.Dx() < 2*factor || area.Dy() < 2*factor {
		return Face{}, false, nil
	}
	p := shrink(frame, area, factor)
	origin := Point{float32(area.Min.X), float32(area.Min.Y)}
	size := box.Size / float32(factor)
	var best sighting
	for _, s := range d.find(p, int(.85*size), int(1.2*size), .08) {
		b := s.box.scale(float32(factor), origin)
		if s.quality > best.quality && Distance(b.centre(), box.centre()) < .4*box.Size {
			best = s
		}
	}
	if best.quality < stillQuality {
		return Face{}, false, nil
	}
	f.Points, ok = d.landmarks(p, best.box)
	for i, q := range f.Points {
		f.Points[i] = q.scale(float32(factor), origin)
	}
	f.Box = best.box.scale(float32(factor), origin)
	return f, ok, nil
}

// Close implements Finder.
func (d *detector) Close() error { return nil }

// scale maps a point of a picture shrunk by the factor to the frame that it was
// cut from at the origin.
func (q Point) scale(factor float32, origin Point) Point {
	return Point{origin.X + (q.X+.5)*factor - .5, origin.Y + (q.Y+.5)*factor - .5}
}

func (b Box) scale(factor float32, origin Point) Box {
	q := Point{b.X, b.Y}.scale(factor, origin)
	return Box{q.X, q.Y, b.Size * factor}
}

// shrink returns the luma of an area of the frame, each pixel the mean of factor
// by factor.
func shrink(frame *image.YCbCr, area image.Rectangle, factor int) plane {
	p := plane{width: area.Dx() / factor, height: area.Dy() / factor}
	p.stride = p.width
	if factor == 1 {
		p.pix, p.stride = frame.Y[frame.YOffset(area.Min.X, area.Min.Y):], frame.YStride
		return p
	}
	p.pix = make([]uint8, p.width*p.height)
	sums := make([]int, p.width)
	for y := range p.height {
		clear(sums)
		for dy := range factor {
			row := frame.Y[frame.YOffset(area.Min.X, area.Min.Y+y*factor+dy):]
			for x := range sums {
				for _, v := range row[x*factor : (x+1)*factor] {
					sums[x] += int(v)
				}
			}
		}
		for x, s := range sums {
			p.pix[y*p.width+x] = uint8(s / (factor * factor))
		}
	}
	return p
}
