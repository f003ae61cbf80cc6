package disk

import (
	"fmt"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/transfer"
)

// Room returns NoSpace if size more bytes would leave less than the Reserve.
func (o *Objects) Room(size int64) error {
	if o.Reserve == 0 {
		return nil
	}
	return Room(o.root.Name(), o.Reserve, size)
}

// RoomToWork returns NoSpace if size more bytes would leave less than half of the Reserve, which requests that were accepted may use.
func (o *Objects) RoomToWork(size int64) error { return Room(o.root.Name(), o.Reserve/2, size) }

// Room returns NoSpace if size more bytes would leave less than the reserve free on the disk of the folder, with a transfer.TooSmall in its chain if they
// would on an empty disk.
func Room(dir string, reserve, size int64) error {
	all, free, err := sizeOf(dir)
	switch {
	case err != nil:
		return err
	case size > all-reserve:
		return failure.ErrNoSpace(&transfer.TooSmall{Bytes: max(0, all-reserve)})
	case size > free-reserve:
		return failure.ErrNoSpace(fmt.Errorf("%d bytes are free, %d are to be", free, reserve+size))
	}
	return nil
}

// Free returns the number of bytes that an ordinary user may still write to the disk of the folder.
func Free(dir string) (int64, error) {
	_, free, err := sizeOf(dir)
	return free, err
}

// sizeOf returns the size of the disk of the folder, and what of it is free, for an ordinary user.
func sizeOf(dir string) (all, free int64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, fmt.Errorf("read free space: %w", err)
	}
	return int64(s.Blocks-s.Bfree+s.Bavail) * s.Bsize, int64(s.Bavail) * s.Bsize, nil
}
