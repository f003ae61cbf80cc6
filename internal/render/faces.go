package render

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"sync"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/serial"
)

// faces holds the faces of each source frame, for the option face and for the score. They are in a file.
type faces struct {
	ends []int32 // for each frame the number of faces in all frames up to it
	rows *serial.Records[seen]

	mu  sync.Mutex
	err error // of the file; the faces that couldn't be read are left out
}

// newFaces returns no faces. The file is open as long as they are used.
func newFaces(file *os.File) *faces {
	return &faces{rows: serial.NewRecords(file, 0, func(c *serial.Coder, s *seen) { s.code(c) })}
}

// seen is a face in a frame.
type seen struct {
	track, person int32
	box           detection.Box
	toMouth       geom.Similarity // see alignment.Face.ToMouth
	gap           float32         // between the lips, as it is read
}

// sizeOfSeen returns the bytes that a face in a frame takes in the file.
func sizeOfSeen() int64 { return int64(serial.Size(func(c *serial.Coder, s *seen) { s.code(c) })) }

func (s *seen) code(c *serial.Coder) {
	c.Int32(&s.track)
	c.Int32(&s.person)
	c.Floats(&s.box.X, &s.box.Y, &s.box.Size)
	c.Floats(&s.toMouth.A, &s.toMouth.B, &s.toMouth.X, &s.toMouth.Y, &s.gap)
}

// add adds the faces of the next frame.
func (f *faces) add(frame alignment.Frame) error {
	var all []seen
	for i := range frame.Faces {
		face := &frame.Faces[i]
		all = append(all, seen{int32(face.Track), int32(face.Person), face.Box, face.ToMouth(), alignment.GapOf(&face.Lips)})
	}
	return f.append(all)
}

func (f *faces) append(all []seen) error {
	for i := range all {
		if _, err := f.rows.Add(&all[i]); err != nil {
			return err
		}
	}
	f.ends = append(f.ends, int32(f.rows.Len()))
	return nil
}

// any tells whether there is a face in the first frames.
func (f *faces) any(frames int) bool { return frames > 0 && f.ends[frames-1] > 0 }

// frames returns the number of source frames.
func (f *faces) frames() int { return len(f.ends) }

// count returns the number of faces in a source frame.
func (f *faces) count(source int) int { return int(f.ends[source]) - f.first(source) }

// first returns the row of the first face of a source frame, if it has any.
func (f *faces) first(source int) int {
	if source == 0 {
		return 0
	}
	return int(f.ends[source-1])
}

// at returns the faces in a source frame.
func (f *faces) at(source int) []seen {
	all := make([]seen, f.count(source))
	for i := range all {
		if err := f.rows.Get(f.first(source)+i, &all[i]); err != nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.err = err
			return nil
		}
	}
	return all
}

// failed returns the error of the file, nil if all faces were read.
func (f *faces) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// of returns the face of a track in a source frame, nil if it isn't there.
func (f *faces) of(track, source int) *seen {
	all := f.at(source)
	for i := range all {
		if int(all[i].track) == track {
			return &all[i]
		}
	}
	return nil
}

// restGaps returns what the lips of each person that touch are read apart.
func (f *faces) restGaps() map[int32]float32 {
	gaps, rests := map[int32][]float32{}, map[int32]float32{}
	for i := range f.frames() {
		for _, s := range f.at(i) {
			gaps[s.person] = append(gaps[s.person], s.gap)
		}
	}
	for person, all := range gaps {
		rests[person] = alignment.RestGap(all)
	}
	return rests
}

// chosen returns a function that returns the track of the person whom the choice means in a source frame, -1 for none.
func (in input) chosen(f *faces, choice order.Face) (func(source int) int, error) {
	var tracks []int
	var err error
	if choice.By == order.FaceInBoxes {
		tracks, err = f.inBoxes(in.boxOf)
	} else {
		tracks, err = in.personAt(f, choice)
	}
	return func(source int) int { return tracks[source] }, err
}

// personAt returns the tracks, in each frame, of the person at the point of the choice.
func (in input) personAt(f *faces, choice order.Face) ([]int, error) {
	fault := func(code failure.Reason) error {
		return failure.Failure{Code: code, Details: failure.Details{Value: failure.Quantity{Frame: choice.Frame}}}.Because(nil)
	}
	v := in.video.Video
	at := float64(choice.Frame) / in.given.Rate.Float() * v.Rate.Float()
	frame := int(math.Round(at)) - in.video.First()
	if end := in.video.First() + f.frames(); frame == f.frames() && at < float64(end) {
		frame-- // the chosen frame comes shortly before the end, and is not among the frames of a lower rate
	}
	if frame < 0 || frame >= f.frames() {
		return nil, fault(failure.FaceFrameUnused)
	}
	across, down := in.scale()
	tracks := f.personAt(frame, geom.Point{X: float32(choice.X) * across, Y: float32(choice.Y) * down})
	if tracks == nil {
		return nil, fault(failure.FaceNotThere)
	}
	return tracks, nil
}

// scale returns the width and height of a pixel of the file, in pixels of the frames.
func (in input) scale() (across, down float32) {
	v := in.video.Video
	return float32(v.Width) / float32(in.given.Width), float32(v.Height) / float32(in.given.Height)
}

// fileFrame returns the number of the file's frame that a source frame shows: the last whose time, rounded to source frames, has come.
func (in input) fileFrame(source int) int {
	const exact = 1e-6 // less than that is an error of floating point
	return int(math.Ceil((float64(in.video.First()+source)+.5)/in.video.Video.Rate.Float()*in.given.Rate.Float()-exact)) - 1
}

// boxOf returns the box of a source frame, nil if it has none.
func (in input) boxOf(source int) *rect {
	n := in.fileFrame(source)
	if n >= len(in.boxes) || in.boxes[n] == nil {
		return nil
	}
	across, down := in.scale()
	return in.boxes[n].in(in.video.Video, across, down)
}

// readBoxes reads the file of boxes, if the option face has one.
func (in input) readBoxes(ctx context.Context) ([]*rect, error) {
	if in.job.Options.Face.By != order.FaceInBoxes {
		return nil, nil
	}
	file, err := os.Open(in.job.Boxes)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return parseBoxes(newReader(ctx, file), in.fileFrame(in.limit())+1)
}

// largest returns a function that returns the track of the largest face in a source frame, -1 for none.
func (f *faces) largest() func(source int) int {
	tracks := f.tracks(func(_ int, s seen) float32 { return s.box.Size })
	return func(source int) int { return tracks[source] }
}

// personAt returns the tracks, in each frame, of the person at a point of a frame. It returns nil if nobody is there.
func (f *faces) personAt(frame int, point geom.Point) []int {
	person, nearest := int32(-1), float32(math.Inf(1))
	for _, s := range f.at(frame) {
		if d := geom.Distance(point, s.box.Centre()); s.box.Contains(point) && d < nearest {
			person, nearest = s.person, d
		}
	}
	if person < 0 {
		return nil
	}
	return f.tracks(func(_ int, s seen) float32 {
		if s.person == person {
			return s.box.Size
		}
		return 0
	})
}

// inBoxes returns the tracks of the faces in boxes, one for each frame. boxOf returns the box of a frame, nil if it has none.
func (f *faces) inBoxes(boxOf func(frame int) *rect) ([]int, error) {
	tracks := f.tracks(func(frame int, s seen) float32 {
		box := boxOf(frame)
		if box == nil || !box.contains(s.box.Centre()) {
			return 0
		}
		return box.iou(s.box)
	})
	for _, t := range tracks {
		if t >= 0 {
			return tracks, nil
		}
	}
	return nil, failure.Failure{Code: failure.BoxesWithoutFace}.Because(nil)
}

// tracks returns, for each frame, the track of the face with the largest weight, or -1 if none has a weight above 0.
func (f *faces) tracks(weight func(frame int, s seen) float32) []int {
	tracks := make([]int, f.frames())
	for i := range tracks {
		tracks[i] = -1
		var most float32
		for _, s := range f.at(i) {
			if by := weight(i, s); by > most {
				tracks[i], most = int(s.track), by
			}
		}
	}
	return tracks
}

// rect is a rectangle that a client sent, in pixels.
type rect struct{ left, top, right, bottom float32 }

// in returns the rectangle in the frames of a video, whose pixels of the file are across wide and down high. What is outside the frame would only
// make the IoU smaller.
func (r *rect) in(v *ffmpeg.Video, across, down float32) *rect {
	return &rect{max(r.left*across, 0), max(r.top*down, 0), min(r.right*across, float32(v.Width)), min(r.bottom*down, float32(v.Height))}
}

func (r *rect) contains(p geom.Point) bool {
	return p.X >= r.left && p.X < r.right && p.Y >= r.top && p.Y < r.bottom
}

// iou returns the IoU with a box.
func (r *rect) iou(b detection.Box) float32 {
	half := b.Size / 2
	width := min(r.right, b.X+half) - max(r.left, b.X-half)
	height := min(r.bottom, b.Y+half) - max(r.top, b.Y-half)
	common := max(width, 0) * max(height, 0)
	return common / ((r.right-r.left)*(r.bottom-r.top) + b.Size*b.Size - common)
}

// boxText is the largest size of a box in a file of boxes, in bytes.
const boxText = 256

// parseBoxes reads the boxes of at most n frames from a JSON list with a box [left, top, right, bottom] or null for each frame of a
// video, in pixels. A frame without a box gets nil.
func parseBoxes(r io.Reader, n int) (boxes []*rect, err error) {
	d := json.NewDecoder(r)
	frame := 0
	invalid := func(cause error) error {
		return ffmpeg.Refuse(failure.Failure{Code: failure.BoxInvalid, Details: failure.Details{Value: failure.Quantity{Frame: frame}}}, cause)
	}
	if start, err := d.Token(); start != json.Delim('[') {
		return nil, invalid(err)
	}
	for ; d.More(); frame++ {
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, invalid(err)
		}
		box, err := parseBox(text)
		if err != nil {
			return nil, invalid(err)
		}
		if frame < n {
			boxes = append(boxes, box)
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, invalid(err)
	}
	return boxes, nil
}

// parseBox parses a box of a file of boxes. It returns nil for null.
func parseBox(text json.RawMessage) (*rect, error) {
	if len(text) > boxText {
		return nil, errors.New("the text of a box is too long")
	}
	var sides []*float32
	if err := json.Unmarshal(text, &sides); err != nil || sides == nil {
		return nil, err
	}
	for _, side := range sides {
		if side == nil {
			return nil, errors.New("a side of a box is null")
		}
	}
	if len(sides) != 4 || *sides[0] >= *sides[2] || *sides[1] >= *sides[3] {
		return nil, errors.New("a box must have left < right and top < bottom")
	}
	return &rect{*sides[0], *sides[1], *sides[2], *sides[3]}, nil
}
