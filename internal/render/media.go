package render

import (
	"context"
	"io"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/recording"
)

// Media reads and writes files of pictures and sound. The values are those of packages ffmpeg and medium; ffmpeg.Tools does it by programs. One Media
// serves any number of jobs at once.
type Media interface {
	intake.Media
	footage.Media
	recording.Media

	// OpenSound decodes the sound of a file, in the format of speech.Read. Close tells whether all was well.
	OpenSound(ctx context.Context, in *medium.Info, most time.Duration) (io.ReadCloser, error)
	// Fit cuts a file that Samples wrote as sound to a length, or adds silence.
	Fit(sound string, length time.Duration) error
	// Mix writes a mix of two sounds, as a file that Encode takes. scratch is a path that it may use.
	Mix(ctx context.Context, m ffmpeg.Mix, scratch, sound string) error

	// CheckOutput returns ErrNoEncoder if outputs can't be encoded so.
	CheckOutput(ctx context.Context, o order.Output) error
	// Prove measures an output. The error is ErrUnproved if it is not what was to be made.
	Prove(ctx context.Context, v *medium.Video, o order.Output, want ffmpeg.Proof, path string) error

	// Encoding tells what decides how frames are encoded, as far as files of programs show it. It starts no program.
	Encoding(v *medium.Video, o order.Output) (string, error)
}
