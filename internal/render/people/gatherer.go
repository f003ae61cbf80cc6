package people

import (
	"bytes"
	"cmp"
	"image"
	"image/jpeg"
	"maps"
	"math"
	"slices"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/pixels"
)

// Bounds of an analysis, so that its answer stays small.
const (
	mostPeople = 100    // those who are seen longest
	mostKnown  = 400    // people in memory, some 30 MB with their thumbnails
	mostBoxes  = 20_000 // of all people
	thumbSide  = 128    // longer side of a thumbnail, pixels
)

// Gatherer gathers the people of a video.
type Gatherer struct {
	byPerson map[int]*person
	every    int // number of frames from one box of a person to the next
}

// NewGatherer gathers nobody yet. It will note a box of each person each second.
func NewGatherer(fps float64) *Gatherer {
	return &Gatherer{byPerson: map[int]*person{}, every: max(1, int(math.Round(fps)))}
}

// person is one person of a video.
type person struct {
	first, last int // frames
	frames      int // in which the person is seen
	boxes       []order.FaceBox
	thumbnail   *image.RGBA
	side        float32 // of the box in the frame of the thumbnail
}

// thumbnailGain is the ratio of the sizes of a face from one thumbnail to a better one.
const thumbnailGain = 1.2

// Add adds the faces of the next frame.
func (p *Gatherer) Add(f alignment.Frame) {
	for i := range f.Faces {
		face := &f.Faces[i]
		q := p.byPerson[face.Person]
		if q == nil && face.Crop == nil {
			continue // nobody has seen this person yet
		}
		if q == nil {
			p.forget()
			q = &person{first: f.Index}
			p.byPerson[face.Person] = q
		}
		q.last = f.Index
		q.frames++
		if face.Crop == nil {
			continue // the place of the face was interpolated
		}
		if n := len(q.boxes); n == 0 || f.Index-q.boxes[n-1].Frame >= p.every {
			q.boxes = append(q.boxes, placeOf(f.Index, face.Box))
		}
		if face.Box.Size > thumbnailGain*q.side {
			q.thumbnail, q.side = thumbnailOf(face), face.Box.Size
		}
	}
}

// forget drops half of the people if there are mostKnown: those who were seen in the fewest frames, but first those who are not seen
// now.
func (p *Gatherer) forget() {
	if len(p.byPerson) < mostKnown {
		return
	}
	now := 0
	for _, q := range p.byPerson {
		now = max(now, q.last)
	}
	numbers := slices.Sorted(maps.Keys(p.byPerson))
	slices.SortStableFunc(numbers, func(i, k int) int {
		a, b := p.byPerson[i], p.byPerson[k]
		if (a.last == now) != (b.last == now) {
			return cmp.Compare(a.last, b.last)
		}
		return cmp.Compare(a.frames, b.frames)
	})
	for _, n := range numbers[:mostKnown/2] {
		delete(p.byPerson, n)
	}
}

// Faces returns the people in order of appearance. frames is the number of frames of the video.
func (p *Gatherer) Faces(frames int, length func(frames int) time.Duration) ([]order.AnalyzedFace, error) {
	var all []*person
	for _, number := range slices.Sorted(maps.Keys(p.byPerson)) {
		all = append(all, p.byPerson[number])
	}
	slices.SortStableFunc(all, func(a, b *person) int { return b.frames - a.frames })
	all = all[:min(len(all), mostPeople)]
	slices.SortStableFunc(all, func(a, b *person) int { return a.first - b.first })
	boxes := 0
	for _, q := range all {
		boxes += len(q.boxes)
	}
	step := (boxes + mostBoxes - 1) / mostBoxes
	faces := make([]order.AnalyzedFace, len(all))
	for i, q := range all {
		f := &faces[i]
		f.ID = faceAt(q.boxes[0]).String()
		f.First, f.Last = order.Rounded(length(q.first).Seconds()), order.Rounded(length(q.last+1).Seconds())
		f.Share = order.Rounded(float64(q.frames) / float64(frames))
		for k := 0; k < len(q.boxes); k += step {
			f.Boxes = append(f.Boxes, q.boxes[k])
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, q.thumbnail, nil); err != nil {
			return nil, err
		}
		f.JPEG = b.Bytes()
	}
	return faces, nil
}

// faceAt returns the choice of the person in the middle of a box.
func faceAt(b order.FaceBox) order.Face {
	return order.Face{By: order.FaceAt, Frame: b.Frame, X: max(0, (b.Box[0]+b.Box[2])/2), Y: max(0, (b.Box[1]+b.Box[3])/2)}
}

// placeOf returns the place of a face in a frame, rounded to pixels.
func placeOf(frame int, b detection.Box) order.FaceBox {
	half := b.Size / 2
	return order.FaceBox{Frame: frame, Box: [4]int{int(b.X - half), int(b.Y - half), int(b.X + half), int(b.Y + half)}}
}

// thumbnailOf returns a small picture of a face: its box, and a little more.
func thumbnailOf(f *alignment.Face) *image.RGBA {
	half := f.Box.Size * .6
	area := image.Rect(int(f.Box.X-half), int(f.Box.Y-half), int(f.Box.X+half), int(f.Box.Y+half)).Intersect(f.Crop.Rect)
	if area.Empty() {
		area = f.Crop.Rect
	}
	factor := (max(area.Dx(), area.Dy()) + thumbSide - 1) / thumbSide
	luma := pixels.Shrink(f.Crop.YCbCr, area, factor)
	out := image.NewRGBA(image.Rect(0, 0, luma.Width, luma.Height))
	middle := float32(factor-1) / 2
	for y := range luma.Height {
		for x := range luma.Width {
			at := geom.Point{X: float32(area.Min.X+x*factor) + middle, Y: float32(area.Min.Y+y*factor) + middle}
			cb, cr := pixels.ChromaAt(f.Crop.YCbCr, at)
			out.SetRGBA(x, y, pixels.Colour(pixels.ToRGB(float32(luma.Row(y)[x]), cb, cr)))
		}
	}
	return out
}
