// Package people finds the faces of a video's frames, keeps them for a job, and tells who is chosen and who is in the video.
package people

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"sync"

	"lipsync/internal/domain/failure"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/detection"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/signal/geom"
	"lipsync/internal/signal/serial"
)

// Faces holds the faces of each source frame, for the option face and for the score. They are in a file.
type Faces struct {
	ends []int32 // for each frame the number of faces in all frames up to it
	rows *serial.Records[Seen]

	mu  sync.Mutex
	err error // of the file; the faces that couldn't be read are left out
}

// NewFaces returns no faces. The file is open as long as they are used.
func NewFaces(file *os.File) *Faces {
	return &Faces{rows: serial.NewRecords(file, 0, func(c *serial.Coder, s *Seen) { s.code(c) })}
}

// Seen is a face in a frame.
type Seen struct {
	track, Person int32
	Box           detection.Box
	ToMouth       geom.Similarity // see alignment.Face.ToMouth
	gap           float32         // between the lips, as it is read
}

// SizeOfSeen returns the bytes that a face in a frame takes in the file.
func SizeOfSeen() int64 { return int64(serial.Size(func(c *serial.Coder, s *Seen) { s.code(c) })) }

func (s *Seen) code(c *serial.Coder) {
	c.Int32(&s.track)
	c.Int32(&s.Person)
	c.Floats(&s.Box.X, &s.Box.Y, &s.Box.Size)
	c.Floats(&s.ToMouth.A, &s.ToMouth.B, &s.ToMouth.X, &s.ToMouth.Y, &s.gap)
}

// Add adds the faces of the next frame.
func (f *Faces) Add(frame alignment.Frame) error {
	var all []Seen
	for i := range frame.Faces {
		face := &frame.Faces[i]
		all = append(all, Seen{int32(face.Track), int32(face.Person), face.Box, face.ToMouth(), alignment.GapOf(&face.Lips)})
	}
	return f.append(all)
}

func (f *Faces) append(all []Seen) error {
	for i := range all {
		if _, err := f.rows.Add(&all[i]); err != nil {
			return err
		}
	}
	f.ends = append(f.ends, int32(f.rows.Len()))
	return nil
}

// Any tells whether there is a face in the first frames.
func (f *Faces) Any(frames int) bool { return frames > 0 && f.ends[frames-1] > 0 }

// Frames returns the number of source frames.
func (f *Faces) Frames() int { return len(f.ends) }

// Count returns the number of faces in a source frame.
func (f *Faces) Count(source int) int { return int(f.ends[source]) - f.first(source) }

// first returns the row of the first face of a source frame, if it has any.
func (f *Faces) first(source int) int {
	if source == 0 {
		return 0
	}
	return int(f.ends[source-1])
}

// at returns the faces in a source frame.
func (f *Faces) at(source int) []Seen {
	all := make([]Seen, f.Count(source))
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

// Failed returns the error of the file, nil if all faces were read.
func (f *Faces) Failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// Of returns the face of a track in a source frame, nil if it isn't there.
func (f *Faces) Of(track, source int) *Seen {
	all := f.at(source)
	for i := range all {
		if int(all[i].track) == track {
			return &all[i]
		}
	}
	return nil
}

// RestGaps returns what the lips of each person that touch are read apart.
func (f *Faces) RestGaps() map[int32]float32 {
	gaps, rests := map[int32][]float32{}, map[int32]float32{}
	for i := range f.Frames() {
		for _, s := range f.at(i) {
			gaps[s.Person] = append(gaps[s.Person], s.gap)
		}
	}
	for person, all := range gaps {
		rests[person] = alignment.RestGap(all)
	}
	return rests
}

// Largest returns a function that returns the track of the largest face in a source frame, -1 for none.
func (f *Faces) Largest() func(source int) int {
	tracks := f.tracks(func(_ int, s Seen) float32 { return s.Box.Size })
	return func(source int) int { return tracks[source] }
}

// PersonAt returns the tracks, in each frame, of the person at a point of a frame. It returns nil if nobody is there.
func (f *Faces) PersonAt(frame int, point geom.Point) []int {
	person, nearest := int32(-1), float32(math.Inf(1))
	for _, s := range f.at(frame) {
		if d := geom.Distance(point, s.Box.Centre()); s.Box.Contains(point) && d < nearest {
			person, nearest = s.Person, d
		}
	}
	if person < 0 {
		return nil
	}
	return f.tracks(func(_ int, s Seen) float32 {
		if s.Person == person {
			return s.Box.Size
		}
		return 0
	})
}

// InBoxes returns the tracks of the faces in boxes, one for each frame. boxOf returns the box of a frame, nil if it has none.
func (f *Faces) InBoxes(boxOf func(frame int) *Rect) ([]int, error) {
	tracks := f.tracks(func(frame int, s Seen) float32 {
		box := boxOf(frame)
		if box == nil || !box.contains(s.Box.Centre()) {
			return 0
		}
		return box.iou(s.Box)
	})
	for _, t := range tracks {
		if t >= 0 {
			return tracks, nil
		}
	}
	return nil, failure.Failure{Code: failure.BoxesWithoutFace}.Because(nil)
}

// tracks returns, for each frame, the track of the face with the largest weight, or -1 if none has a weight above 0.
func (f *Faces) tracks(weight func(frame int, s Seen) float32) []int {
	tracks := make([]int, f.Frames())
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

// Rect is a rectangle that a client sent, in pixels.
type Rect struct{ left, top, right, bottom float32 }

// In returns the rectangle in the frames of a video. across and down are the factors from the file's pixels to those of the frames. What is
// outside the frame is left out: it would only make the IoU smaller.
func (r *Rect) In(v *medium.Video, across, down float32) *Rect {
	return &Rect{max(r.left*across, 0), max(r.top*down, 0), min(r.right*across, float32(v.Width)), min(r.bottom*down, float32(v.Height))}
}

func (r *Rect) contains(p geom.Point) bool {
	return p.X >= r.left && p.X < r.right && p.Y >= r.top && p.Y < r.bottom
}

// iou returns the IoU with a box.
func (r *Rect) iou(b detection.Box) float32 {
	half := b.Size / 2
	width := min(r.right, b.X+half) - max(r.left, b.X-half)
	height := min(r.bottom, b.Y+half) - max(r.top, b.Y-half)
	common := max(width, 0) * max(height, 0)
	return common / ((r.right-r.left)*(r.bottom-r.top) + b.Size*b.Size - common)
}

// boxText is the largest size of a box in a file of boxes, in bytes.
const boxText = 256

// ParseBoxes reads the boxes of at most n frames from a JSON list with a box [left, top, right, bottom] or null for each frame of a
// video, in pixels. A frame without a box gets nil.
func ParseBoxes(r io.Reader, n int) (boxes []*Rect, err error) {
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
func parseBox(text json.RawMessage) (*Rect, error) {
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
	return &Rect{*sides[0], *sides[1], *sides[2], *sides[3]}, nil
}

// Code codes the faces of all frames.
func (f *Faces) Code(c *serial.Coder) {
	frames := f.Frames()
	c.Int(&frames)
	for i := 0; i < frames && !c.Failed(); i++ {
		var all []Seen
		if !c.Reading() {
			all = f.at(i)
			c.Fail(f.Failed())
		}
		if serial.Slice(c, &all, func(s *Seen) { s.code(c) }); c.Reading() && !c.Failed() {
			c.Fail(f.append(all))
		}
	}
	c.Check(f.Frames() == frames)
}
