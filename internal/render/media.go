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
	// Samples writes the sound of a file, at most that of a time: to pcm in the format of speech.Read, and to sound as a file that Encode takes. It
	// returns the number of samples of pcm, also with an error. ErrUnsupported is the fault of the file.
	Samples(ctx context.Context, in *medium.Info, pcm, sound io.Writer, most time.Duration) (int64, error)
	// Fit cuts a file that Samples wrote as sound to a length, or adds silence.
	Fit(sound string, length time.Duration) error
	// Place decodes a piece of sound to its place in an assembly. It returns the length of the sound.
	Place(ctx context.Context, a *ffmpeg.Assembly, p ffmpeg.Piece) (time.Duration, error)
	// Mix writes a mix of two sounds, as a file that Encode takes. scratch is a path that it may use.
	Mix(ctx context.Context, m ffmpeg.Mix, scratch, sound string) error

	// CheckOutput returns ErrNoEncoder if outputs can't be encoded so.
	CheckOutput(ctx context.Context, o order.Output) error
	// Prove measures an output. The error is ErrUnproved if it is not what was to be made.
	Prove(ctx context.Context, v *medium.Video, o order.Output, want ffmpeg.Proof, path string) error

	// Encoding tells what decides how frames are encoded, as far as files of programs show it. It starts no program.
	Encoding(v *medium.Video, o order.Output) (string, error)
}
