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

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/network/onnx"
)

// partSize is the size in bytes of the parts of a file that are fetched by themselves. One connection
// to S3 delivers some 80 MB/s, and machines take ten times as much.
var partSize int64 = 32 << 20

const partsAtOnce = 8

// marksFolder is the folder, in a part, of the marks of its files. They are files with the same names.
// The marks of a file list its parts that are whole.
const marksFolder = "marks"

// fetchFile copies an object to a file, several parts at once. If an earlier job ended before it had
// all parts, fetchFile copies those that lack marks. If the object was replaced, or is meanwhile,
// fetchFile fetches all parts again. The caller must check the digest.
func fetchFile(ctx context.Context, objects lipsync.Objects, key, path, marks string) error {
	err := fetchVersion(ctx, objects, key, path, marks)
	if failure.CodeOf(err) == failure.Conflict {
		err = fetchVersion(ctx, objects, key, path, marks)
	}
	return err
}

// fetchVersion is like fetchFile, but it returns Conflict if the object is replaced meanwhile.
func fetchVersion(ctx context.Context, objects lipsync.Objects, key, path, marks string) error {
	version, size, err := objects.Version(ctx, key)
	if err != nil {
		return err
	}
	size = min(size, onnx.MaxModel+1) // then its digest is another one
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	log, have, err := openMarks(file, marks, size, fmt.Sprintf("%q %d %d\n", version, size, partSize))
	if err != nil {
		return err
	}
	defer log.Close()
	var logging sync.Mutex
	parts, ctx := errgroup.WithContext(ctx)
	parts.SetLimit(partsAtOnce)
	for offset := int64(0); offset < size; offset += partSize {
		mark := fmt.Sprintf("%016x\n", offset)
		if have[mark] {
			continue
		}
		parts.Go(func() error {
			if err := fetchPart(ctx, objects, key, version, file, offset, min(partSize, size-offset)); err != nil {
				return err
			}
			logging.Lock()
			defer logging.Unlock()
			_, err := log.WriteString(mark)
			return err
		})
	}
	return errors.Join(parts.Wait(), file.Close(), log.Close())
}

// errLonger means that the store ignores which part it was asked for.
var errLonger = errors.New("the store sent more than the part of the object")

// fetchPart copies a part of an object to its place in a file. It writes nothing else.
func fetchPart(ctx context.Context, objects lipsync.Objects, key, version string, file *os.File, offset, size int64) error {
	part, err := objects.OpenPart(ctx, key, version, offset, size)
	if err != nil {
		return err
	}
	defer part.Close()
	n, err := io.Copy(io.NewOffsetWriter(file, offset), io.LimitReader(part, size))
	if err == nil && n != size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	switch _, err := io.ReadFull(part, make([]byte, 1)); err {
	case io.EOF:
		return nil
	case nil:
		return errLonger
	default:
		return err
	}
}

// openMarks opens the marks of a file for more of them, and returns those that it has. The first line
// of the marks, head, says what object they are of. If they are of another one, or the file has
// another size, openMarks empties both. All marks have the same length and end with a newline, so a
// line that a job wrote in part is no mark.
func openMarks(file *os.File, path string, size int64, head string) (marks *os.File, have map[string]bool, err error) {
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	list, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, err
	}
	have = map[string]bool{}
	text, same := strings.CutPrefix(string(list), head)
	flags := os.O_CREATE | os.O_APPEND | os.O_WRONLY
	if same && info.Size() == size {
		for mark := range strings.Lines(text) {
			have[mark] = true
		}
		marks, err = os.OpenFile(path, flags, 0o600)
		return marks, have, err
	}
	if err := remove(path); err != nil {
		return nil, nil, err
	}
	if err := errors.Join(file.Truncate(0), file.Truncate(size)); err != nil {
		return nil, nil, err
	}
	if marks, err = os.OpenFile(path, flags, 0o600); err != nil {
		return nil, nil, err
	}
	if _, err := marks.WriteString(head); err != nil {
		return nil, nil, errors.Join(err, marks.Close())
	}
	return marks, have, nil
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
