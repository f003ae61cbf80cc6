package ffmpeg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// Check makes a video of one black frame and a tenth of a second of silence in the folder dir,
// with the programs and steps of a job, and deletes it. It returns an error if a step fails.
func (t *Tools) Check(ctx context.Context, dir string) (err error) {
	folder, err := os.MkdirTemp(dir, "check-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	wav, aac := filepath.Join(folder, "silence.wav"), filepath.Join(folder, "silence.m4a")
	if err := os.WriteFile(wav, silence(PCMRate/10), 0o600); err != nil {
		return err
	}
	info, err := t.Probe(ctx, wav)
	if err != nil {
		return fmt.Errorf("probe: %w", err)
	}
	if _, err := t.Transcode(ctx, info, aac, io.Discard, time.Second); err != nil {
		return fmt.Errorf("transcode sound: %w", err)
	}
	if err := t.encodeBlack(ctx, aac, filepath.Join(folder, "black.mp4")); err != nil {
		return fmt.Errorf("encode a picture: %w", err)
	}
	return nil
}

func (t *Tools) encodeBlack(ctx context.Context, aac, output string) error {
	v := &Video{Width: 64, Height: 64, Rate: Rate{25, 1}}
	e, err := t.Encode(ctx, v, aac, output)
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
	b := append([]byte(nil), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, 36+2*samples)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...) // 16 bytes: PCM, one channel
	b = binary.LittleEndian.AppendUint32(b, PCMRate)
	b = binary.LittleEndian.AppendUint32(b, 2*PCMRate) // bytes a second
	b = append(b, "\x02\x00\x10\x00data"...)           // bytes and bits of a sample
	b = binary.LittleEndian.AppendUint32(b, 2*samples)
	return append(b, make([]byte, 2*samples)...)
}
