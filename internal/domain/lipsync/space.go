package lipsync

import (
	"io"
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
