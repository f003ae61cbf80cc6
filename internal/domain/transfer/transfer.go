// Package transfer bounds what is read and written: by the space of the disk, and by its speed.
package transfer

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
	Room func(size int64) error // see base.Ports
	passed
}

var _ io.Reader = (*RoomReader)(nil)

func (r *RoomReader) Read(p []byte) (int, error) { return r.pass(r.Room, r.R.Read, p) }

// RoomWriter writes the files of a request to W while the disk has space, as RoomReader reads them.
type RoomWriter struct {
	W    io.Writer
	Room func(size int64) error
	passed
}

var _ io.Writer = (*RoomWriter)(nil)

func (w *RoomWriter) Write(p []byte) (int, error) { return w.pass(w.Room, w.W.Write, p) }

// passed counts bytes that are read or written.
type passed struct {
	left int64 // bytes until the next check
}

// pass checks the space if a check is due, and then reads or writes p.
func (c *passed) pass(room func(int64) error, do func([]byte) (int, error), p []byte) (int, error) {
	if c.left <= 0 {
		if err := room(0); err != nil {
			return 0, err
		}
		c.left = roomEvery
	}
	n, err := do(p)
	c.left -= int64(n)
	return n, err
}

// TooSmall is the error of a disk that has too little space for some files even when it is empty.
type TooSmall struct {
	Bytes int64 // that it has room for when it is empty
}

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
