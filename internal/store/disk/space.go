package disk

import (
	"fmt"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/failure"
)

// Room returns NoSpace if size more bytes would leave less than the Reserve.
func (o *Objects) Room(size int64) error {
	if o.Reserve == 0 {
		return nil
	}
	free, err := Free(o.root.Name())
	if err != nil {
		return err
	}
	if size > free-o.Reserve {
		return failure.ErrNoSpace(fmt.Errorf("%d bytes are free, %d are to be", free, o.Reserve+size))
	}
	return nil
}

// Free returns the number of bytes that an ordinary user may still write to the disk of the folder.
func Free(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, fmt.Errorf("read free space: %w", err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}
