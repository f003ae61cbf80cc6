package render

import (
	"context"
	"math"
	"os"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/geom"
)

// chosen returns a function that returns the track of the person whom the choice means in a source frame, -1 for none.
func (in input) chosen(f *people.Faces, choice order.Face) (func(source int) int, error) {
	var tracks []int
	var err error
	if choice.By == order.FaceInBoxes {
		tracks, err = f.InBoxes(in.boxOf)
	} else {
		tracks, err = in.personAt(f, choice)
	}
	return func(source int) int { return tracks[source] }, err
}

// personAt returns the tracks, in each frame, of the person at the point of the choice.
func (in input) personAt(f *people.Faces, choice order.Face) ([]int, error) {
	fault := func(code failure.Reason) error {
		return failure.Failure{Code: code, Details: failure.Details{Value: failure.Quantity{Frame: choice.Frame}}}.Because(nil)
	}
	v := in.video.Video
	at := float64(choice.Frame) / in.given.Rate.Float() * v.Rate.Float()
	frame := int(math.Round(at)) - in.video.First()
	if end := in.video.First() + f.Frames(); frame == f.Frames() && at < float64(end) {
		frame-- // the chosen frame comes shortly before the end, and is not among the frames of a lower rate
	}
	if frame < 0 || frame >= f.Frames() {
		return nil, fault(failure.FaceFrameUnused)
	}
	across, down := in.scale()
	tracks := f.PersonAt(frame, geom.Point{X: float32(choice.X) * across, Y: float32(choice.Y) * down})
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
func (in input) boxOf(source int) *people.Rect {
	n := in.fileFrame(source)
	if n >= len(in.boxes) || in.boxes[n] == nil {
		return nil
	}
	across, down := in.scale()
	return in.boxes[n].In(in.video.Video, across, down)
}

// readBoxes reads the file of boxes, if the option face has one.
func (in input) readBoxes(ctx context.Context) ([]*people.Rect, error) {
	if in.job.Options.Face.By != order.FaceInBoxes {
		return nil, nil
	}
	file, err := os.Open(in.job.Boxes)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return people.ParseBoxes(flow.NewReader(ctx, file), in.fileFrame(in.limit())+1)
}
