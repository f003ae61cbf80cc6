// Package intake reads the files of a job: it inspects them, refuses what can't be used, and decodes the speech.
package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// Media inspects files and decodes their sound.
type Media interface {
	// Probe inspects a file. ErrUnsupported and ErrPicture are the fault of the file.
	Probe(ctx context.Context, path string) (*medium.Info, error)
	// Samples writes the sound of a file, at most that of a time: to pcm in the format of speech.Read, and to sound as a file that Encode takes. It
	// returns the number of samples of pcm, also with an error. ErrUnsupported is the fault of the file.
	Samples(ctx context.Context, in *medium.Info, pcm, sound io.Writer, most time.Duration) (int64, error)
	// Place decodes a piece of sound to its place in an assembly. It returns the length of the sound.
	Place(ctx context.Context, a *ffmpeg.Assembly, p ffmpeg.Piece) (time.Duration, error)
}

// Files reads the files of one job.
type Files struct {
	Media  Media
	Limits Limits
	Dir    string // for temporary files
}

// Video inspects a video. track is the number of a track in its file, 0 for the default one.
func (f Files) Video(ctx context.Context, path string, track int) (*medium.Info, error) {
	info, err := f.probe(ctx, failure.Video, path)
	if err != nil {
		return nil, err
	}
	if info, err = take(info, failure.Video, track); err != nil {
		return nil, err
	}
	if info.Unusable != nil {
		return nil, ffmpeg.Unsupported(failure.Video, info.Unusable)
	}
	if info.Video == nil {
		return nil, failure.Failure{Code: failure.NoPicture}.Because(nil)
	}
	return info, nil
}

// audio inspects a file with speech.
func (f Files) audio(ctx context.Context, path string) (*medium.Info, error) {
	info, err := f.probe(ctx, failure.Audio, path)
	if err == nil && info.Audio == nil {
		err = failure.Failure{Code: failure.NoSoundTrack}.Because(nil)
	}
	return info, err
}

// probe inspects the file of one kind.
func (f Files) probe(ctx context.Context, kind failure.MediaKind, path string) (*medium.Info, error) {
	info, err := f.Media.Probe(ctx, path)
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
