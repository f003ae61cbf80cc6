package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Check makes a video of one black frame and a tenth of a second of silence in the folder dir,
// with the programs and steps of a job, and deletes it. It returns an error if a step fails.
func (t *Tools) Check(ctx context.Context, dir string) (err error) {
	folder, err := os.MkdirTemp(dir, "check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	wav := filepath.Join(folder, "silence.wav")
	if err := os.WriteFile(wav, silence(PCMRate/10), 0o600); err != nil {
		return err
	}
	info, err := t.Probe(ctx, wav)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if _, err := t.Samples(ctx, info, io.Discard, io.Discard, time.Second); err != nil {
		return fmt.Errorf("decode sound: %w", err)
	}
	if err := t.encodeBlack(ctx, 64, wav, filepath.Join(folder, "black.mp4")); err != nil {
		return fmt.Errorf("encode a picture and sound: %w", err)
	}
	return nil
}

// ErrNoEncoder means that ffmpeg was built without an encoder.
var ErrNoEncoder = errors.New("ffmpeg doesn't have the encoder")

// CheckOutput returns ErrNoEncoder if ffmpeg can't encode pictures or sound as o has them.
func (t *Tools) CheckOutput(ctx context.Context, o order.Output) error {
	p, err := t.startReader(ctx, t.FFmpeg, []string{"-v", "error", "-encoders"}, sandbox.Files{}, memorySize)
	if err != nil {
		return err
	}
	list, err := p.readAll(reportSize)
	if err != nil {
		return fmt.Errorf("list encoders: %w", err)
	}
	sound := &medium.Audio{Opus: o.Format == order.WebM}
	for _, args := range [][]string{t.EncoderArgs(&medium.Video{}, o), SoundArgs(sound)} {
		// A line has flags, the name and a description.
		if encoder := args[1]; !slices.Contains(strings.Fields(string(list)), encoder) {
			return fmt.Errorf("%w %s", ErrNoEncoder, encoder)
		}
	}
	return nil
}

// encodeBlack encodes one black frame, with the sound of another file unless sound is "".
func (t *Tools) encodeBlack(ctx context.Context, side int, sound, output string) error {
	v := &medium.Video{Width: side, Height: side, Rate: medium.Rate{Num: 25, Den: 1}}
	e, err := t.Encode(ctx, v, order.Output{}, sound, output)
	if err != nil {
		return err
	}
	if err := e.Write(v.NewFrame()); err != nil {
		e.Abort()
		return err
	}
	return e.Finish()
}

// silence returns a mono WAV file of 16-bit samples at PCMRate, which are all 0.
func silence(samples uint32) []byte {
	return append(speech.header(2*samples), make([]byte, 2*samples)...)
}
