package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/network/onnx"
)

// partSize is the size in bytes of the parts of a file that are fetched by themselves. One connection
// to S3 delivers some 80 MB/s, and machines take ten times as much.
var partSize int64 = 32 << 20

const partsAtOnce = 8

// These are the folders in the folder of models that are being fetched: that of the files, and that
// of their marks, which are files with the same names. The marks of a file list its parts that are whole.
const (
	filesFolder = "files"
	marksFolder = "marks"
)

// fetchFile copies an object to a file, several parts at once. If an earlier job ended before it had
// all parts, fetchFile copies those that lack marks. The caller must check the digest: the object may have
// changed meanwhile.
func fetchFile(ctx context.Context, objects lipsync.Objects, key, path, marks string) error {
	size, err := objects.Size(ctx, key)
	if err != nil {
		return err
	}
	size = min(size, onnx.MaxModel+1) // then its digest is another one
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	have, err := readMarks(file, marks, size)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(marks, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	var logging sync.Mutex
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(partsAtOnce)
	for offset := int64(0); offset < size; offset += partSize {
		if have[offset] {
			continue
		}
		parts.Go(func() error {
			if err := fetchPart(ctx, objects, key, file, offset, min(partSize, size-offset)); err != nil {
				return err
			}
			logging.Lock()
			defer logging.Unlock()
			_, err := fmt.Fprintln(log, offset)
			return err
		})
	}
	return errors.Join(parts.Wait(), file.Close())
}

// fetchPart copies a part of an object to its place in a file.
func fetchPart(ctx context.Context, objects lipsync.Objects, key string, file *os.File, offset, size int64) error {
	part, err := objects.OpenPart(ctx, key, offset, size)
	if err != nil {
		return err
	}
	defer part.Close()
	n, err := io.Copy(io.NewOffsetWriter(file, offset), part)
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// readMarks returns the offsets of parts that a file has. A file of another size is of another
// object, and has none.
func readMarks(file *os.File, marks string, size int64) (map[int64]bool, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	have := map[int64]bool{}
	if info.Size() != size {
		if err := os.Remove(marks); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		return have, file.Truncate(size)
	}
	list, err := os.ReadFile(marks)
	for line := range strings.Lines(string(list)) {
		var offset int64
		if _, err := fmt.Sscanf(line, "%d\n", &offset); err == nil { // else a job ended while it wrote the line
			have[offset] = true
		}
	}
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return have, err
}

// lock waits until no other job of this machine fetches models to the folder, and returns a
// function that lets others go on.
func lock(ctx context.Context, folder string) (unlock func(), err error) {
	for {
		unlock, err := tryLock(folder)
		if unlock != nil || err != nil {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// tryLock is like lock, but it doesn't wait: it returns nil if another job fetches models.
func tryLock(folder string) (unlock func(), err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return func() { _ = f.Close() }, nil
	}
	if err == unix.EWOULDBLOCK || err == unix.EINTR {
		return nil, f.Close()
	}
	return nil, errors.Join(fmt.Errorf("lock the folder of models: %w", err), f.Close())
}
