package render

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
)

// input is what is known of a job before a frame of its video is decoded.
type input struct {
	job    Job
	engine engine.Engine
	limits intake.Limits
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
			speech, err = w.inspectSpeech(ctx, job, filepath.Join(w.dir, "speech.wav"), job.Space)
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
		if err := job.Space.Take(in.space(source, line.Frames)); err != nil {
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
	info, err := w.files().Video(ctx, job.Video, int(job.Options.VideoTrack))
	if err != nil {
		return in, err
	}
	in = input{job: job, engine: w.engine, limits: w.Limits, video: info, given: *info.Video}
	if !info.Video.TooLarge() {
		err = shape(info.Video, job.Options.Output, w.Limits)
	}
	if err = errors.Join(w.Limits.Check(info, job.Options.Preview.Length > 0), err); err != nil || info.Still {
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
func shape(v *medium.Video, o order.Output, limits intake.Limits) error {
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
	if speech := in.speech.Info; speech.AudioTracks > 1 {
		all = all.With(order.TookAudio(speech.AudioTrack))
	}
	return all
}
