package ffmpeg

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"lipsync/internal/media/sandbox"
)

// Assembly is a WAV file that is assembled from pieces of sound: 16-bit stereo at mixRate. It is silent
// where it has no piece.
type Assembly struct{ file *os.File }

// Piece is a part of a sound in an Assembly.
type Piece struct {
	Sound  *Info         // from Sound.Begin on
	At     time.Duration // in the Assembly
	Length time.Duration // at most
}

// frameBytes is the size of a sample of both channels of an Assembly.
const frameBytes = 4

// NewAssembly creates the file with silence of a length.
func NewAssembly(path string, length time.Duration) (*Assembly, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	size := frameBytes * samplesIn(length)
	if size > math.MaxUint32-wavHeaderBytes {
		file.Close()
		return nil, fmt.Errorf("a WAV of %v has too many bytes", length)
	}
	if _, err = file.Write(wavHeader(2, mixRate, uint32(size))); err == nil {
		err = file.Truncate(wavHeaderBytes + size) // appends zeros
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Assembly{file}, nil
}

// Close closes the file.
func (a *Assembly) Close() error { return a.file.Close() }

// samplesIn returns the number of samples at mixRate in a length.
func samplesIn(length time.Duration) int64 { return int64(length.Seconds()*mixRate + .5) }

// Place adds a piece, and returns its length. That is 0 if the sound ends before the piece begins.
func (t *Tools) Place(ctx context.Context, a *Assembly, p Piece) (time.Duration, error) {
	at := samplesIn(p.At)
	to := &limitedWriter{io.NewOffsetWriter(a.file, wavHeaderBytes+frameBytes*at), frameBytes * (samplesIn(p.At+p.Length) - at)}
	n, err := t.pipeSound(ctx, pieceArgs(p), sandbox.Files{Read: []string{p.Sound.Path}}, to)
	return time.Duration(n/frameBytes) * time.Second / mixRate, err
}

// limitedWriter drops the bytes after the first left ones.
type limitedWriter struct {
	io.Writer
	left int64
}

func (w *limitedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b[:min(int64(len(b)), w.left)])
	w.left -= int64(n)
	if err != nil {
		return n, err
	}
	return len(b), nil
}

// fadeSeconds is the length of a fade where a sound is cut, or its gain changes. Without it one would hear a click. By ear.
const fadeSeconds = .01

// pieceArgs returns the arguments that write the samples of a piece to the pipe.
func pieceArgs(p Piece) []string {
	filter := fmt.Sprintf("%s,atrim=end=%s,%s", p.Sound.gapless("STARTPTS"), seconds(p.Length), (&Audio{Channels: 2}).layout(p.Sound.Audio.Channels))
	if end := p.Length.Seconds() - fadeSeconds; end > fadeSeconds {
		filter += fmt.Sprintf(",afade=d=%g,afade=t=out:st=%g:d=%[1]g", fadeSeconds, end)
	}
	args := append(soundInput(p.Sound), "-map", "0:"+strconv.Itoa(p.Sound.Audio.index), "-af", filter)
	return append(args, "-ac", "2", "-ar", strconv.Itoa(mixRate), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1")
}
