package render

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// Limits bound the media of a job.
type Limits struct {
	Duration      time.Duration // of the video and of the audio
	Width, Height int           // of the video as displayed, pixels
	FPS           float64
}

// DefaultLimits returns the limits that the service documents.
func DefaultLimits() Limits {
	return Limits{Duration: time.Hour, Width: 4096, Height: 4096, FPS: 120}
}

// invalid is an error that the job's media are at fault for.
func invalid(message string, cause error) error {
	return &lipsync.Error{Code: lipsync.Invalid, Message: message, Err: cause}
}

// inspect looks at both files at once. Where both are at fault, it is the video
// that the error names.
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
	if w.video, err = w.probe(ctx, "video", w.job.Video); err != nil {
		return err
	}
	return w.Limits.check(w.video)
}

// inspectAudio also makes the speech track ready.
func (w *rendering) inspectAudio(ctx context.Context) error {
	audio, err := w.probe(ctx, "audio", w.job.Audio)
	if err != nil {
		return err
	}
	if audio.Audio == nil {
		return invalid("audio has no sound track", nil)
	}
	w.samples, err = w.transcode(ctx, audio)
	return err
}

// probe looks at the file of one kind, "video" or "audio".
func (w *rendering) probe(ctx context.Context, kind, path string) (*ffmpeg.Info, error) {
	info, err := w.Tools.Probe(ctx, path)
	if errors.Is(err, ffmpeg.ErrUnsupported) {
		return nil, invalid(kind+" is not a supported format", err)
	}
	if err != nil {
		return nil, fmt.Errorf("probe %s: %w", kind, err)
	}
	return info, nil
}

// check returns an error if the video exceeds the limits. Its length is the one that the
// file states: of a longer video the output shows only as much as the speech is long.
func (l Limits) check(in *ffmpeg.Info) error {
	v := in.Video
	switch {
	case v == nil:
		return invalid("video has no picture", nil)
	case in.Duration > l.Duration:
		return l.tooLong("video", in.Duration)
	case v.Width > l.Width || v.Height > l.Height:
		return invalid(fmt.Sprintf("video is larger than %d × %d pixels: %d × %d pixels", l.Width, l.Height, v.Width, v.Height), nil)
	case v.Rate.Float() > l.FPS:
		return invalid(fmt.Sprintf("video has more than %.4g frames per second: %.4g", l.FPS, v.Rate.Float()), nil)
	}
	return nil
}

// tooLong returns the error of a file that is longer than the limit. claimed is the length
// that the file states. The message has it only if it is over the limit, too.
func (l Limits) tooLong(kind string, claimed time.Duration) error {
	message := kind + " is longer than " + minutes(l.Duration)
	if claimed > l.Duration {
		message += ": " + minutes(claimed)
	}
	return invalid(message, nil)
}

// transcode writes the speech track's two files and returns its length in
// samples, as it is and not as the file says.
func (w *rendering) transcode(ctx context.Context, audio *ffmpeg.Info) (int64, error) {
	pcm, err := os.Create(w.pcm)
	if err != nil {
		return 0, err
	}
	defer pcm.Close()
	most := w.Limits.Duration + time.Second
	samples, err := w.Tools.Transcode(ctx, audio, w.aac, pcm, most)
	switch {
	case samples == 0 && err != nil && ctx.Err() == nil:
		return 0, invalid("audio is not a supported format", err)
	case err != nil:
		return 0, fmt.Errorf("decode audio: %w", err)
	case samples == 0:
		return 0, invalid("audio has no sound track", nil)
	case samples > int64(w.Limits.Duration.Seconds()*ffmpeg.PCMRate):
		return 0, w.Limits.tooLong("audio", audio.Duration)
	}
	return samples, pcm.Close()
}

func minutes(d time.Duration) string {
	return strconv.FormatFloat(d.Round(6*time.Second).Minutes(), 'f', -1, 64) + " minutes"
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
