package lipsync

import (
	"io"
	"syscall"
	"time"
)

// spaceRetry is the time that a client must wait after NoSpace. The service can't know when the
// disk has space again.
const spaceRetry = time.Minute

// ErrNoSpace returns an error with the code NoSpace, which tells the client to try again later. The
// cause is for the logs and may be nil.
func ErrNoSpace(cause error) error {
	return &Error{Code: NoSpace, Message: "the service has too little disk space; try again later", Err: cause, RetryAfter: spaceRetry}
}

// DiskFull reports whether a full disk or a disk quota caused err.
func DiskFull(err error) bool {
	return CodeOf(err) == NoSpace || is(err, syscall.ENOSPC, syscall.EDQUOT)
}

// DiskFails reports whether a disk caused err that is full, that can't be read or written, or that
// the system made read-only after errors.
func DiskFails(err error) bool {
	return DiskFull(err) || is(err, syscall.EIO, syscall.EROFS)
}

// roomEvery is the number of bytes of new media between two checks of the disk's space.
const roomEvery = 16 << 20

// RoomReader reads new media from R while the disk has space. It checks the space again and again,
// since the size of a stream is not known before its end.
type RoomReader struct {
	R    io.Reader
	Room func(size int64) error // see Ports
	left int64                  // bytes until the next check
}

// Read implements io.Reader.
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
