package disk

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// StampFile is the name of the file, in the folder, with the stamp by which its database knows it.
const StampFile = "database"

// Stamp returns the folder's stamp, or "" if it has none.
func (o *Objects) Stamp() (string, error) {
	text, err := o.root.ReadFile(StampFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

// PutStamp replaces the folder's stamp.
func (o *Objects) PutStamp(ctx context.Context, stamp string) error {
	temporary := path.Join(partial, randomName())
	err := o.write(ctx, temporary, strings.NewReader(stamp), int64(len(stamp)))
	if err == nil {
		err = o.root.Rename(temporary, StampFile)
	}
	if err != nil {
		return errors.Join(err, o.root.RemoveAll(temporary))
	}
	return o.sync(".")
}

// Empty reports whether there is no object.
func (o *Objects) Empty(ctx context.Context) (bool, error) {
	errFound := errors.New("found one")
	err := o.List(ctx, "", func(string, time.Time) error { return errFound })
	if errors.Is(err, errFound) {
		return false, nil
	}
	return err == nil, err
}
