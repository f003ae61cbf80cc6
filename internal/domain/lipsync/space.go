package lipsync

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// roomEvery is the number of bytes of new media between two checks of the disk's space.
const roomEvery = 16 << 20

// RoomReader reads new media from R while the disk has space. It checks the space again and again,
// since the size of a stream is not known before its end.
type RoomReader struct {
	R    io.Reader
	Room func(size int64) error // see Ports
	left int64                  // bytes until the next check
}

var _ io.Reader = (*RoomReader)(nil)

func (r *RoomReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		if err := r.Room(0); err != nil {
			return 0, err
		}
		r.left = roomEvery
	}
	n, err := r.R.Read(p)
	r.left -= int64(n)
	return n, err
}

// RoomWriter writes the files of a request to W while the disk has space, as RoomReader reads them.
type RoomWriter struct {
	W    io.Writer
	Room func(size int64) error
	left int64
}

var _ io.Writer = (*RoomWriter)(nil)

func (w *RoomWriter) Write(p []byte) (int, error) {
	if w.left <= 0 {
		if err := w.Room(0); err != nil {
			return 0, err
		}
		w.left = roomEvery
	}
	n, err := w.W.Write(p)
	w.left -= int64(n)
	return n, err
}

// TooSmall is the error of a disk that is too small for some files, also when it is empty: it has room for so many bytes.
type TooSmall struct{ Bytes int64 }

func (e *TooSmall) Error() string { return fmt.Sprintf("the disk has room for %d bytes", e.Bytes) }

// LeastSpeed is the number of bytes a second below which a medium comes too slowly, on average. A line of a village has twice as many.
const LeastSpeed = 64_000

// PacedReader reads from R what a client sends, which may take the time Patience and the time for its bytes at LeastSpeed. Otherwise a client could
// hold a connection, and the disk's space for what has come, as long as it likes.
type PacedReader struct {
	R        io.Reader
	Now      func() time.Time
	Patience time.Duration

	began time.Time
	n     int64
}

var _ io.Reader = (*PacedReader)(nil)

// SendPatience is the Patience with clients that send media.
const SendPatience = 15 * time.Minute

var errSlow = errors.New("it came too slowly")

func (r *PacedReader) Read(p []byte) (int, error) {
	if r.began.IsZero() {
		r.began = r.Now()
	}
	if r.Now().Sub(r.began) > r.Patience+time.Duration(r.n)*time.Second/LeastSpeed {
		return 0, errSlow
	}
	n, err := r.R.Read(p)
	r.n += int64(n)
	return n, err
}
