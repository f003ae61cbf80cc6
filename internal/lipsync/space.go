package lipsync

import (
	"io"
	"syscall"
	"time"
)

// spaceRetry is how long a client that was refused with NoSpace is asked to wait. Nobody knows when
// there will be space.
const spaceRetry = time.Minute

// ErrNoSpace returns the error of code NoSpace, which tells a client to come back
// later. The cause, for logs, may be nil.
func ErrNoSpace(cause error) error {
	return &Error{Code: NoSpace, Message: "the service has too little disk space; try again later", Err: cause, RetryAfter: spaceRetry}
}

// DiskFull reports whether err comes of a full disk, or of a quota on it.
func DiskFull(err error) bool {
	return CodeOf(err) == NoSpace || is(err, syscall.ENOSPC, syscall.EDQUOT)
}

// DiskFails reports whether err comes of a disk that is full, can't be read or written, or
// that the system lets nobody write any more since it had errors.
func DiskFails(err error) bool {
	return DiskFull(err) || is(err, syscall.EIO, syscall.EROFS)
}

// room returns NoSpace if new media of that many bytes have no room.
func (s *Service) room(size int64) error {
	if s.Room == nil {
		return nil
	}
	return s.Room(size)
}

// roomEvery is how many bytes of new media are taken between two looks whether
// there is room for more.
const roomEvery = 16 << 20

// RoomReader reads new media from R for as long as there is room for them: the size
// of a stream is not known before its end.
type RoomReader struct {
	R    io.Reader
	Room func(size int64) error // see Service.Room
	left int64                  // bytes until the next look
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
