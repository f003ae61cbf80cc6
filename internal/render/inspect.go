package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
)

// Limits bound the media of a job.
type Limits struct {
	Duration      time.Duration // of the video and of the audio
	Width, Height int           // of the video as displayed, pixels
	FPS           float64
}

// DefaultLimits returns the limits that the service documents.
func DefaultLimits() Limits {
	return Limits{Duration: time.Hour, Width: lipsync.MostWidth, Height: 4096, FPS: lipsync.MostFPS}
}

// refuse returns the error of media that are at fault. If the cause is rather a fault of the
// machine, refuse returns the cause: a program found no space for its output, couldn't be run,
// was killed by the system, or got no processor time.
func refuse(f lipsync.Failure, cause error) error {
	if lipsync.IsHostFault(cause) || ffmpeg.OfMachine(cause) {
		return cause
	}
	return f.Because(cause)
}

// unsupported returns the error of a file that can't be decoded.
func unsupported(kind lipsync.MediaKind, cause error) error {
	return refuse(lipsync.Failure{Code: lipsync.MediaUnsupported, Details: lipsync.Details{Kind: kind}}, cause)
}

// inspect inspects both files at once. If both are at fault, the error is that of the video.
func (w *rendering) inspect(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	heard := make(chan error, 1)
	go func() { heard <- Guard(func() error { return w.inspectAudio(ctx) }) }()
	if err := w.inspectVideo(ctx); err != nil {
		stop()
		<-heard
		return err
	}
	return <-heard
}

func (w *rendering) inspectVideo(ctx context.Context) (err error) {
	if w.video, err = w.probe(ctx, lipsync.Video, w.job.Video); err != nil {
		return err
	}
	if err := w.Limits.check(w.video); err != nil {
		return err
	}
	if err := w.shape(); err != nil || w.video.Still {
		return err
	}
	w.video.Begin = w.length(int(math.Round(w.job.Options.Preview.Start.Seconds() * w.video.Video.Rate.Float())))
	if stated := w.video.Video.Stated; stated > 0 && w.video.Begin > stated+statedError {
		return afterEnd(lipsync.Video)
	}
	if stated := w.video.Video.Stated; stated > 0 {
		return w.checkSegments(stated + statedError)
	}
	return nil
}

// shape gives the video the size, the rate and the pixel format of the output. The decoder makes such frames, so everything
// that follows has them.
func (w *rendering) shape() error {
	v, o := w.video.Video, w.job.Options.Output
	w.given = *v
	v.Pixels = v.Keep(o)
	if fps := o.FPS.FPS(); fps > w.Limits.FPS {
		f := lipsync.Failure{Code: lipsync.OutputRateAbove}
		f.Limit.FPS, f.Value.FPS = w.Limits.FPS, fps
		return f.Because(nil)
	}
	if o.FPS > 0 {
		v.Rate, v.Resampled = ffmpeg.RateOf(int64(o.FPS)), true
	}
	if o.Width == 0 {
		return nil
	}
	width := int(o.Width) &^ 1
	if width > v.Width {
		f := lipsync.Failure{Code: lipsync.OutputTooWide}
		f.Limit.Width, f.Value.Width = v.Width, int(o.Width)
		return f.Because(nil)
	}
	v.Width, v.Height = width, max(2, 2*int(math.Round(float64(width*v.Height)/float64(2*v.Width))))
	return nil
}

// statedError is by how much a file may state too short a length.
const statedError = 2 * time.Second

// afterEnd returns the error of a medium that ends before the preview begins.
func afterEnd(kind lipsync.MediaKind) error {
	return lipsync.Failure{Code: lipsync.PreviewAfterEnd, Details: lipsync.Details{Kind: kind}}.Because(nil)
}

// inspectAudio also writes the files of the speech track.
func (w *rendering) inspectAudio(ctx context.Context) (err error) {
	path := w.job.Audio
	if len(w.job.Segments) > 0 {
		if path, err = w.assemble(ctx); err != nil {
			return err
		}
	}
	if w.audio, err = w.probeAudio(ctx, path); err != nil {
		return err
	}
	w.audio.Begin = w.job.Options.Preview.Start
	w.audio.Audio.Opus = w.job.Options.Output.Format == lipsync.WebM
	w.samples, err = w.transcode(ctx, w.audio)
	return err
}

// probeAudio inspects a speech track.
func (w *rendering) probeAudio(ctx context.Context, path string) (*ffmpeg.Info, error) {
	info, err := w.probe(ctx, lipsync.Audio, path)
	if err == nil && info.Audio == nil {
		err = lipsync.Failure{Code: lipsync.NoSoundTrack}.Because(nil)
	}
	return info, err
}

// probe inspects the file of one kind.
func (w *rendering) probe(ctx context.Context, kind lipsync.MediaKind, path string) (*ffmpeg.Info, error) {
	info, err := w.Tools.Probe(ctx, path)
	switch {
	case errors.Is(err, ffmpeg.ErrPicture) && kind == lipsync.Video:
		return nil, refuse(lipsync.Failure{Code: lipsync.VideoIsPicture}, err)
	case errors.Is(err, ffmpeg.ErrUnsupported):
		return nil, unsupported(kind, err)
	case err == nil && kind == lipsync.Audio && info.Still:
		return nil, unsupported(kind, ffmpeg.ErrPicture)
	case err != nil:
		return nil, fmt.Errorf("probe %s: %w", kind, err)
	}
	return info, nil
}

// check returns an error if the video exceeds the limits. Its length is the one that the file
// states. If the video is longer than that, rendering.most bounds the frames that are
// decoded.
func (l Limits) check(in *ffmpeg.Info) error {
	v := in.Video
	switch {
	case v == nil:
		return lipsync.Failure{Code: lipsync.NoPicture}.Because(nil)
	case in.Duration > l.Duration:
		return l.tooLong(lipsync.Video, in.Duration)
	case v.Width > l.Width || v.Height > l.Height:
		return over(lipsync.PictureLargerThan,
			lipsync.Quantity{Width: l.Width, Height: l.Height}, lipsync.Quantity{Width: v.Width, Height: v.Height})
	case v.Rate.Float() > l.FPS:
		return over(lipsync.FrameRateAbove, lipsync.Quantity{FPS: l.FPS}, lipsync.Quantity{FPS: v.Rate.Float()})
	}
	return nil
}

// over returns the error of a video that exceeds a limit.
func over(code lipsync.FailureCode, limit, value lipsync.Quantity) error {
	return lipsync.Failure{Code: code, Details: lipsync.Details{Kind: lipsync.Video, Limit: limit, Value: value}}.Because(nil)
}

// tooLong returns the error of a file that is longer than the limit. claimed is the length that
// the file states. The failure names it only if it is over the limit, since the file may state a
// shorter one.
func (l Limits) tooLong(kind lipsync.MediaKind, claimed time.Duration) error {
	f := lipsync.Failure{Code: lipsync.MediaLongerThan}
	f.Kind, f.Limit.Seconds = kind, l.Duration.Seconds()
	if claimed > l.Duration {
		f.Value.Seconds = claimed.Seconds()
	}
	return f.Because(nil)
}

// transcode writes the two files of the speech track and returns its length in samples. That is
// the real length, and not the one that the file states.
func (w *rendering) transcode(ctx context.Context, audio *ffmpeg.Info) (int64, error) {
	pcm, err := os.Create(w.pcm)
	if err != nil {
		return 0, err
	}
	defer pcm.Close()
	most := w.Limits.Duration + time.Second
	limit := int64(w.Limits.Duration.Seconds() * ffmpeg.PCMRate)
	if audio.Duration > w.Limits.Duration { // count first: the stated length may be wrong, and to encode an hour takes long
		whole := *audio
		whole.Begin = 0
		if n, err := w.Tools.CountSamples(ctx, &whole, most); err == nil && n > limit {
			return 0, w.Limits.tooLong(lipsync.Audio, audio.Duration)
		}
	}
	if part := w.job.Options.Preview.Length; part > 0 {
		most = min(most, part)
	}
	samples, err := w.Tools.Transcode(ctx, audio, w.encoded, pcm, most)
	switch {
	case samples == 0 && err != nil && ctx.Err() == nil:
		return 0, unsupported(lipsync.Audio, err)
	case err != nil:
		return 0, fmt.Errorf("decode audio: %w", err)
	case samples == 0 && audio.Begin > 0:
		return 0, afterEnd(lipsync.Audio)
	case samples == 0:
		return 0, lipsync.Failure{Code: lipsync.NoSoundTrack}.Because(nil)
	case samples > limit:
		return 0, w.Limits.tooLong(lipsync.Audio, audio.Duration)
	}
	return samples, pcm.Close()
}

// reader reads until the context ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}
