package render

import (
	"context"
	"io"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/recording"
)

// Media reads and writes files of pictures and sound. The values are those of packages ffmpeg and medium; ffmpeg.Tools does it by programs. One Media
// serves any number of jobs at once.
type Media interface {
	footage.Media
	recording.Media

	// Probe inspects a file. ErrUnsupported and ErrPicture are the fault of the file.
	Probe(ctx context.Context, path string) (*medium.Info, error)
	// OpenSound decodes the sound of a file, in the format of speech.Read. Close tells whether all was well.
	OpenSound(ctx context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error)
	// Samples writes the samples of the sound to pcm, at most those of a time. It returns their number, also with an error.
	Samples(ctx context.Context, in *medium.Info, pcm io.Writer, most time.Duration) (int64, error)
	// Transcode encodes the sound of a file to another, at most for a time. ErrUnsupported is the fault of the file.
	Transcode(ctx context.Context, in *medium.Info, encoded string, most time.Duration) error
	// TranscodeTo is Transcode to an exact length: it cuts the sound, or adds silence.
	TranscodeTo(ctx context.Context, in *medium.Info, encoded string, length time.Duration) error
	// Place decodes a piece of sound to its place in an assembly. It returns the length of the sound.
	Place(ctx context.Context, a *ffmpeg.Assembly, p ffmpeg.Piece) (time.Duration, error)
	// Mix encodes a mix of two sounds. scratch is a path that it may use.
	Mix(ctx context.Context, m ffmpeg.Mix, scratch, encoded string) error

	// CheckOutput returns ErrNoEncoder if outputs can't be encoded so.
	CheckOutput(ctx context.Context, o order.Output) error
	// Prove measures an output. The error is ErrUnproved if it is not what was to be made.
	Prove(ctx context.Context, v *medium.Video, o order.Output, want ffmpeg.Proof, path string) error
	// Poster returns a small picture of a video at a time, as a JPEG.
	Poster(ctx context.Context, v *medium.Video, path string, at time.Duration) ([]byte, error)

	// Encoding tells all that decides how frames are encoded. It starts no program.
	Encoding(v *medium.Video, o order.Output) (string, error)
}
