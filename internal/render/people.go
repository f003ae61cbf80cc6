package render

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"maps"
	"math"
	"slices"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/face/tracking"
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

// FindPeople analyses a video. o may be nil.
func (r *Renderer) FindPeople(ctx context.Context, video string, o Observer) (a order.Analysis, err error) {
	w := work{Renderer: r, by: observed(o)}
	err = failure.Guard(func() error {
		// With Pad, the first pass decodes the whole video.
		in, err := w.inspectVideo(ctx, Job{Video: video, Options: order.Options{SyncMode: order.Pad}})
		if err != nil {
			return err
		}
		if err := in.checkSize(in.expected(), 0); err != nil {
			return err
		}
		w.by.Measured(in.video.Duration, 0, in.size(in.expected(), 0))
		a, err = w.people(ctx, in)
		return err
	})
	if ctx.Err() != nil {
		return a, context.Cause(ctx) // other errors only follow from it
	}
	return a, err
}

// people finds the people of the video.
func (w work) people(ctx context.Context, in input) (a order.Analysis, err error) {
	v := in.video.Video
	fps := v.Rate.Float()
	s := w.source(in)
	s.crowded, s.output = true, nil // there is no second pass, so no frame is kept or encoded
	found := newPeople(max(1, int(math.Round(fps))))

	g, ctx := newGroup(ctx)
	var f footage
	aligned := w.aligned(ctx, g, s, &f, new([]tracking.Lost))
	g.Go(func() error {
		progress := w.progress(order.Analyzing, in.expected())
		for f := range aligned {
			found.add(f)
			progress.done(f.Index + 1)
		}
		return nil
	})
	if err := g.Wait(); err != nil {
		return a, err
	}
	if f.frames > in.mostOutput() {
		return a, in.limits.tooLong(failure.Video, in.video.Duration)
	}
	if err := in.checkSize(f.frames, 0); err != nil {
		return a, err
	}
	a.Video = order.AnalyzedVideo{Seconds: order.Rounded(in.length(f.frames).Seconds()), FPS: order.Rounded(fps), Width: v.Width, Height: v.Height, Frames: f.frames}
	a.Faces, err = found.found(f.frames, in.length)
	return a, err
}

// people gathers the people of a video.
type people struct {
	byPerson map[int]*person
	every    int // number of frames from one box of a person to the next
}

func newPeople(every int) *people { return &people{byPerson: map[int]*person{}, every: every} }

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

// add adds the faces of the next frame.
func (p *people) add(f alignment.Frame) {
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
func (p *people) forget() {
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

// faces returns the people in order of appearance. frames is the number of frames of the video.
func (p *people) found(frames int, length func(frames int) time.Duration) ([]order.AnalyzedFace, error) {
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
			r, g, b := pixels.ToRGB(float32(luma.Row(y)[x]), cb, cr)
			out.SetRGBA(x, y, color.RGBA{R: uint8(255*r + .5), G: uint8(255*g + .5), B: uint8(255*b + .5), A: 255})
		}
	}
	return out
}
