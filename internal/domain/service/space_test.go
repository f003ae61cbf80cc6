package service_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/test/check"
)

const noSpace = "the service has too little disk space; try again later"

// fullKeys and fullUploads are ports of a database on a full disk, which still reads.
type fullKeys struct{ lipsync.Keys }

func (fullKeys) Touch(context.Context, string, time.Time) error {
	return failure.ErrNoSpace(syscall.ENOSPC)
}

type fullUploads struct{ lipsync.Uploads }

func (fullUploads) Delete(context.Context, lipsync.Upload) error {
	return failure.ErrNoSpace(syscall.ENOSPC)
}

// TestTouchFails checks that a call succeeds even if the key's last use can't be stored.
func TestTouchFails(t *testing.T) {
	f := newFixture(t)
	var log strings.Builder
	f.Log = slog.New(slog.NewTextHandler(&log, nil))
	f.Store.Keys = fullKeys{f.Store.Keys}
	f.clock.Advance(time.Hour)
	got, err := f.Authenticate(t.Context(), f.token)
	check.Must(t, err)
	check.Want(t, "caller", got, f.caller)
	check.Want(t, "logged", strings.Contains(log.String(), "no space left on device"), true)
}

// TestSweepOfFull sweeps an expired upload while the database can't be written. The file is deleted
// at once, and the record as soon as possible.
func TestSweepOfFull(t *testing.T) {
	f := newFixture(t)
	u := f.upload(t, failure.Video, "fives")
	f.clock.Advance(26 * time.Hour)
	uploads := f.Store.Uploads
	f.Store.Uploads = fullUploads{uploads}
	check.Want(t, "code", failure.CodeOf(f.Sweep(t.Context())), failure.NoSpace)
	f.wantObject(t, u.Object, false)
	f.Store.Uploads = uploads
	check.Must(t, f.Sweep(t.Context()))
	_, err := uploads.ByID(t.Context(), u.ID)
	check.Want(t, "record", failure.CodeOf(err), failure.NotFound)
}

// TestRoom checks that new media are refused if the disk has no space, and that everything else
// goes on.
func TestRoom(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	stored := f.upload(t, failure.Video, "fives")
	running := f.generate(t, "")
	left := int64(4)
	f.Room = func(size int64) error {
		if size > left {
			return failure.ErrNoSpace(nil)
		}
		return nil
	}
	_, err := f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 5})
	check.Error(t, "upload that is too large", err, failure.NoSpace, noSpace)
	_, err = f.CreateUpload(t.Context(), f.caller, requests.UploadParams{Kind: failure.Video, Size: 4})
	check.Must(t, err)

	left = -1
	_, err = f.StoreMedia(t.Context(), "id", failure.Video, strings.NewReader("video"))
	check.Error(t, "form", err, failure.NoSpace, noSpace)
	_, err = f.Generate(t.Context(), f.caller, urls())
	check.Error(t, "URLs", err, failure.NoSpace, noSpace)
	_, err = f.Generate(t.Context(), f.caller, requests.Params{
		Video: requests.Source{URL: stored.Source}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a.wav"}}},
	})
	check.Error(t, "upload that is there", err, failure.NoSpace, noSpace)
	used := func() int64 {
		keys, err := f.Store.Keys.List(t.Context(), "a")
		check.Must(t, err)
		return keys[0].Used
	}
	check.Want(t, "uses of the key", used(), 1)
	_, err = f.Generate(t.Context(), f.caller, n)
	check.Must(t, err) // its media were stored while the disk had space
	f.complete(t, running)
	_, err = f.Cancel(t.Context(), f.caller, n.ID)
	check.Must(t, err)
}

// TestRoomWithinMedia checks that nothing is stored if the disk's space ends within a medium of
// unknown size.
func TestRoomWithinMedia(t *testing.T) {
	f := newFixture(t)
	read := &counter{r: bytes.NewReader(make([]byte, 64<<20))}
	f.Room = func(int64) error {
		if read.n >= 20<<20 {
			return failure.ErrNoSpace(nil)
		}
		return nil
	}
	_, err := f.StoreMedia(t.Context(), "id", failure.Video, read)
	check.Error(t, "store", err, failure.NoSpace, noSpace)
	if read.n > 40<<20 {
		t.Errorf("took %d bytes, want no more than a part after the room ended", read.n)
	}
	f.wantEmpty(t)
}

// counter counts the bytes that are read from r.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
