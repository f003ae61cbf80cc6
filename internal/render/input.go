package render

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/people"
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

// input is what is known of a job before a frame of its video is decoded.
type input struct {
	job    Job
	engine engine.Engine
	limits Limits
	video  *medium.Info // of the size, the rate and the pixel format of the output
	given  medium.Video // the video as it is in its file
	speech soundtrack
	boxes  []*people.Rect // of the option face, one for each frame of the file

	crowded bool // whether the disk has no space to keep the frames of the video
}

// inspect inspects both files at once. If both are at fault, the error is that of the video.
func (w work) inspect(ctx context.Context, job Job) (in input, err error) {
	if err := w.checkCodec(ctx, job); err != nil {
		return in, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var speech soundtrack
	heard := make(chan error, 1)
	go func() {
		heard <- failure.Guard(func() (err error) {
			speech, err = w.inspectSpeech(ctx, job, filepath.Join(w.dir, "speech.wav"))
			return err
		})
	}()
	if in, err = w.inspectVideo(ctx, job); err != nil {
		stop()
		<-heard
		return in, err
	}
	if err := <-heard; err != nil {
		return in, err
	}
	in.speech = speech
	source := 1 // if the file states no length
	if in.video.Duration > 0 {
		source = max(1, in.expected())
	}
	if line, wrong := in.timelineFor(source, nil); wrong == nil { // else the plan, which knows more, refuses it
		if err := in.checkSize(source, line.Frames); err != nil {
			return in, err
		}
		if err := in.takeRoom(source, line.Frames); err != nil {
			return in, err
		}
		in.crowded = in.crowds(source)
	}
	in.boxes, err = in.readBoxes(ctx)
	return in, err
}

// checkCodec returns an error if ffmpeg lacks an encoder that only some outputs need.
func (w work) checkCodec(ctx context.Context, job Job) error {
	o := job.Options.Output
	if o.VideoCodec() == order.H264 {
		return nil
	}
	err := w.Media.CheckOutput(ctx, o)
	if errors.Is(err, ffmpeg.ErrNoEncoder) {
		return failure.Failure{Code: failure.CodecNotInstalled, Details: failure.Details{Codec: o.VideoCodec().String()}}.Because(err)
	}
	return err
}

// inspectVideo returns the input without its speech.
func (w work) inspectVideo(ctx context.Context, job Job) (in input, err error) {
	info, err := w.probe(ctx, failure.Video, job.Video)
	if err != nil {
		return in, err
	}
	if info, err = take(info, failure.Video, int(job.Options.VideoTrack)); err != nil {
		return in, err
	}
	if info.Unusable != nil {
		return in, ffmpeg.Unsupported(failure.Video, info.Unusable)
	}
	if info.Video == nil {
		return in, failure.Failure{Code: failure.NoPicture}.Because(nil)
	}
	in = input{job: job, engine: w.engine, limits: w.Limits, video: info, given: *info.Video}
	if !info.Video.TooLarge() {
		err = shape(info.Video, job.Options.Output, w.Limits)
	}
	if err = errors.Join(w.Limits.check(in), err); err != nil || info.Still {
		return in, err
	}
	info.Begin = in.length(int(math.Round(job.Options.Preview.Start.Seconds() * info.Video.Rate.Float())))
	if stated := info.Video.Stated; stated > 0 && info.Begin > stated+statedError {
		return in, ffmpeg.AfterEnd(failure.Video)
	}
	if stated := info.Video.Stated; stated > 0 {
		return in, in.checkSegments(stated + statedError)
	}
	return in, nil
}

// shape gives the video the size, the rate and the pixel format of the output. The decoder makes such frames, so everything
// that follows has them.
func shape(v *medium.Video, o order.Output, limits Limits) error {
	v.Pixels = v.Keep(o)
	if fps := o.FPS.FPS(); fps > limits.FPS {
		f := failure.Failure{Code: failure.OutputRateAbove}
		f.Limit.FPS, f.Value.FPS = limits.FPS, fps
		return f.Because(nil)
	}
	if o.FPS > 0 {
		v.Rate, v.KeepsLast = medium.RateOf(int64(o.FPS)), true
	}
	if o.Width == 0 {
		return nil
	}
	width := int(o.Width) &^ 1
	if width > v.Width {
		f := failure.Failure{Code: failure.OutputTooWide}
		f.Limit.Width, f.Value.Width = v.Width, int(o.Width)
		return f.Because(nil)
	}
	v.Width, v.Height = width, max(2, 2*int(math.Round(float64(width*v.Height)/float64(2*v.Width))))
	return nil
}

// statedError is by how much a file may state too short a length.
const statedError = 2 * time.Second

// probe inspects the file of one kind.
func (w work) probe(ctx context.Context, kind failure.MediaKind, path string) (*medium.Info, error) {
	info, err := w.Media.Probe(ctx, path)
	switch {
	case errors.Is(err, medium.ErrPicture) && kind == failure.Video:
		return nil, ffmpeg.Refuse(failure.Failure{Code: failure.VideoIsPicture}, err)
	case errors.Is(err, medium.ErrUnsupported):
		return nil, ffmpeg.Unsupported(kind, err)
	case err == nil && kind == failure.Audio && info.Still:
		return nil, ffmpeg.Unsupported(kind, medium.ErrPicture)
	case err != nil:
		return nil, fmt.Errorf("probe %s: %w", kind, err)
	}
	return info, nil
}

// take returns a file with a track of a kind, 0 for the default one.
func take(info *medium.Info, kind failure.MediaKind, track int) (*medium.Info, error) {
	video, audio, tracks := track, 0, info.VideoTracks
	if kind == failure.Audio {
		video, audio, tracks = 0, track, info.AudioTracks
	}
	if tracks == 0 { // another failure says so
		return info, nil
	}
	taken, err := info.Take(video, audio)
	if errors.Is(err, medium.ErrNoVideoTrack) || errors.Is(err, medium.ErrNoAudioTrack) {
		f := failure.Failure{Code: failure.TrackMissing, Details: failure.Details{Kind: kind}}
		f.Limit.Tracks, f.Value.Tracks = tracks, track
		return nil, f.Because(err)
	}
	return taken, err
}

// check returns an error if what is asked of the video exceeds the limits: its size and rate in the output, and the length that the file
// states, unless only a part is rendered. If the video is longer than that, input.most bounds the frames that are decoded.
func (l Limits) check(in input) error {
	v := in.video.Video
	switch {
	case in.video.Duration > l.Duration && in.job.Options.Preview.Length == 0:
		return l.tooLong(failure.Video, in.video.Duration)
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

// tooLong returns the error of a file that is longer than the limit. claimed is the length that
// the file states. The failure names it only if it is over the limit, since the file may state a
// shorter one.
func (l Limits) tooLong(kind failure.MediaKind, claimed time.Duration) error {
	f := failure.Failure{Code: failure.MediaLongerThan}
	f.Kind, f.Limit.Seconds = kind, l.Duration.Seconds()
	if claimed > l.Duration {
		f.Value.Seconds = claimed.Seconds()
	}
	return f.Because(nil)
}

// warnings returns what the output loses of the video, and which of several tracks it has.
func (in input) warnings() (all order.Warnings) {
	v := in.video.Video
	if v.LosesHDR() {
		all = all.With(order.ConvertedHDR)
	}
	if v.LosesAlpha() {
		all = all.With(order.LostAlpha)
	}
	if in.video.VideoTracks > 1 {
		all = all.With(order.TookVideo(in.video.VideoTrack))
	}
	if speech := in.speech.info; speech.AudioTracks > 1 {
		all = all.With(order.TookAudio(speech.AudioTrack))
	}
	return all
}
