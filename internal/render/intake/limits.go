package intake

import (
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
)

// Limits bound the media of a job.
type Limits struct {
	Duration      time.Duration // of the video and of the audio
	Width, Height int           // of the video as displayed, pixels
	FPS           float64
	Gigapixels    float64 // of the frames of the video and of the output together, 10⁹ pixels
}

// DefaultLimits returns the limits that the service documents.
func DefaultLimits() Limits {
	return Limits{Duration: time.Hour, Width: order.MostWidth, Height: 4096, FPS: order.MostFPS, Gigapixels: 2000}
}

// Check returns an error if what is asked of a video exceeds the limits: its size and rate in the output, and the length that the file
// states, unless only a part is rendered. The file may state too short a length, so the number of decoded frames is bounded too.
func (l Limits) Check(info *medium.Info, part bool) error {
	v := info.Video
	switch {
	case info.Duration > l.Duration && !part:
		return l.TooLong(failure.Video, info.Duration)
	case v.Width > l.Width || v.Height > l.Height:
		return over(failure.PictureLargerThan,
			failure.Quantity{Width: l.Width, Height: l.Height}, failure.Quantity{Width: v.Width, Height: v.Height})
	case v.Rate.Float() > l.FPS:
		return over(failure.FrameRateAbove, failure.Quantity{FPS: l.FPS}, failure.Quantity{FPS: v.Rate.Float()})
	}
	return nil
}

// over returns the error of a video that exceeds a limit.
func over(code failure.Reason, limit, value failure.Quantity) error {
	return failure.Failure{Code: code, Details: failure.Details{Kind: failure.Video, Limit: limit, Value: value}}.Because(nil)
}

// TooLong returns the error of a file that is longer than the limit. claimed is the length that
// the file states. The failure names it only if it is over the limit, since the file may state a
// shorter one.
func (l Limits) TooLong(kind failure.MediaKind, claimed time.Duration) error {
	f := failure.Failure{Code: failure.MediaLongerThan}
	f.Kind, f.Limit.Seconds = kind, l.Duration.Seconds()
	if claimed > l.Duration {
		f.Value.Seconds = claimed.Seconds()
	}
	return f.Because(nil)
}

// SegmentAfterEnd returns the error of a medium that ends before its part of a segment begins.
func SegmentAfterEnd(kind failure.MediaKind, start time.Duration) error {
	f := failure.Failure{Code: failure.SegmentAfterEnd, Details: failure.Details{Kind: kind}}
	f.Value.Seconds = start.Seconds()
	return f.Because(nil)
}
