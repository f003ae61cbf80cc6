package ffmpeg

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
)

// Assembly is a WAV file that is assembled from pieces of sound: 16-bit stereo at mixRate. It is silent
// where it has no piece.
type Assembly struct{ file *os.File }

// Piece is a part of a sound in an Assembly.
type Piece struct {
	Sound  *medium.Info  // from Sound.Begin on
	At     time.Duration // in the Assembly
	Length time.Duration // at most
}

// NewAssembly creates the file with silence of a length.
func NewAssembly(path string, length time.Duration) (*Assembly, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	size := AssemblyBytes(length)
	if size > math.MaxUint32-container.WAVHeaderBytes {
		file.Close()
		return nil, fmt.Errorf("a WAV of %v has too many bytes", length)
	}
	if _, err = file.Write(assembled.header(uint32(size))); err == nil {
		err = file.Truncate(container.WAVHeaderBytes + size) // appends zeros
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Assembly{file}, nil
}

// Close closes the file.
func (a *Assembly) Close() error { return a.file.Close() }

// assembled is the form of an Assembly.
var assembled = form{rate: mixRate, channels: 2}

// AssemblyBytes returns the bytes of an Assembly of a length.
func AssemblyBytes(length time.Duration) int64 { return assembled.bytes(length) }

// Place adds a piece, and returns its length. That is 0 if the sound ends before the piece begins.
func (t *Tools) Place(ctx context.Context, a *Assembly, p Piece) (time.Duration, error) {
	at, size := assembled.count(p.At), int64(assembled.size())
	n, err := t.decode(ctx, p.Sound, p.Length, take{assembled, &fader{
		Writer: io.NewOffsetWriter(a.file, container.WAVHeaderBytes+size*at), length: assembled.count(p.At+p.Length) - at}})
	return time.Duration(n) * time.Second / mixRate, err
}

// fadeSeconds is the length of a fade where a sound is cut, or its gain changes. Without it one would hear a click. By ear.
const fadeSeconds = .01

// fader fades the samples of a piece in, and out at its end. It drops those after the end.
type fader struct {
	io.Writer
	length int64  // in samples
	next   int64  // the next sample
	rest   []byte // of a sample that is not complete
}

func (f *fader) Write(b []byte) (int, error) {
	const fade = int64(fadeSeconds * mixRate)
	faded, size := append(f.rest, b...), assembled.size()
	whole := len(faded) / size * size
	f.rest = append([]byte(nil), faded[whole:]...)
	faded = faded[:min(int64(whole), (f.length-f.next)*int64(size))]
	for at := 0; at < len(faded); at += 2 {
		n := f.next + int64(at/size)
		if near := min(n, f.length-1-n); near < fade && f.length > 2*fade {
			value := int64(int16(binary.LittleEndian.Uint16(faded[at:])))
			binary.LittleEndian.PutUint16(faded[at:], uint16(int16(value*near/fade)))
		}
	}
	f.next += int64(len(faded) / size)
	if _, err := f.Writer.Write(faded); err != nil {
		return 0, err
	}
	return len(b), nil
}
