package lipsync_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

const noSpace = "the service has too little disk space; try again later"

// fullKeys and fullUploads are ports of a database on a full disk, which still reads.
type fullKeys struct{ lipsync.Keys }

func (fullKeys) Touch(context.Context, string, time.Time) error {
	return lipsync.ErrNoSpace(syscall.ENOSPC)
}

type fullUploads struct{ lipsync.Uploads }

func (fullUploads) Delete(context.Context, lipsync.Upload) error {
	return lipsync.ErrNoSpace(syscall.ENOSPC)
}

// TestTouchFails checks that a call succeeds even if the key's last use can't be stored.
func TestTouchFails(t *testing.T) {
	f := newFixture(t)
	var log strings.Builder
	f.Log = slog.New(slog.NewTextHandler(&log, nil))
	f.Store.Keys = fullKeys{f.Store.Keys}
	f.clock.Advance(time.Hour)
	got, err := f.Authenticate(t.Context(), f.token)
	must(t, err)
	want(t, "caller", got, f.caller)
	want(t, "logged", strings.Contains(log.String(), "no space left on device"), true)
}

// TestSweepOfFull sweeps an expired upload while the database can't be written. The file is deleted
// at once, and the record as soon as possible.
func TestSweepOfFull(t *testing.T) {
	f := newFixture(t)
	u := f.upload(t, lipsync.Video, "fives")
	f.clock.Advance(26 * time.Hour)
	uploads := f.Store.Uploads
	f.Store.Uploads = fullUploads{uploads}
	want(t, "code", lipsync.CodeOf(f.Sweep(t.Context())), lipsync.NoSpace)
	f.wantObject(t, u.Object, false)
	f.Store.Uploads = uploads
	must(t, f.Sweep(t.Context()))
	_, err := uploads.ByID(t.Context(), u.ID)
	want(t, "record", lipsync.CodeOf(err), lipsync.NotFound)
}

// TestRoom checks that new media are refused if the disk has no space, and that everything else
// goes on.
func TestRoom(t *testing.T) {
	f := newFixture(t)
	n := f.media(t, "v", "a")
	stored := f.upload(t, lipsync.Video, "fives")
	running := f.generate(t, "")
	left := int64(4)
	f.Room = func(size int64) error {
		if size > left {
			return lipsync.ErrNoSpace(nil)
		}
		return nil
	}
	_, err := f.CreateUpload(t.Context(), f.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 5})
	wantError(t, "upload that is too large", err, lipsync.NoSpace, noSpace)
	_, err = f.CreateUpload(t.Context(), f.caller, lipsync.UploadParams{Kind: lipsync.Video, Size: 4})
	must(t, err)

	left = -1
	_, err = f.StoreMedia(t.Context(), "id", lipsync.Video, strings.NewReader("video"))
	wantError(t, "form", err, lipsync.NoSpace, noSpace)
	_, err = f.Generate(t.Context(), f.caller, urls())
	wantError(t, "URLs", err, lipsync.NoSpace, noSpace)
	_, err = f.Generate(t.Context(), f.caller, lipsync.RequestParams{
		Video: lipsync.Source{URL: stored.Source}, Audio: lipsync.Source{URL: "https://example.com/a.wav"},
	})
	wantError(t, "upload that is there", err, lipsync.NoSpace, noSpace)
	used := func() int64 {
		keys, err := f.Store.Keys.List(t.Context(), "a")
		must(t, err)
		return keys[0].Used
	}
	want(t, "uses of the key", used(), 1)
	_, err = f.Generate(t.Context(), f.caller, n)
	must(t, err) // its media were stored while the disk had space
	f.complete(t, running)
	_, err = f.Cancel(t.Context(), f.caller, n.ID)
	must(t, err)
}

// TestRoomWithinMedia checks that nothing is stored if the disk's space ends within a medium of
// unknown size.
func TestRoomWithinMedia(t *testing.T) {
	f := newFixture(t)
	read := &counter{r: bytes.NewReader(make([]byte, 64<<20))}
	f.Room = func(int64) error {
		if read.n >= 20<<20 {
			return lipsync.ErrNoSpace(nil)
		}
		return nil
	}
	_, err := f.StoreMedia(t.Context(), "id", lipsync.Video, read)
	wantError(t, "store", err, lipsync.NoSpace, noSpace)
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
