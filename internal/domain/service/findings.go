package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/transfer"
)

// MostFindings is the largest size of all findings on one machine, in bytes. Those of a video of a minute take about 10 MB.
const MostFindings = 4 << 30

// KeepsFindings reports whether findings are kept at all.
func (w *Work) KeepsFindings() bool { return w.Limits.Keep.Findings > 0 }

// KeepFindings keeps findings about the video of a claimed request under a name. It returns NoSpace if the disk has too little space, and
// Conflict if the worker has lost the request.
func (w *Work) KeepFindings(ctx context.Context, r lipsync.Request, video [sha256.Size]byte, name string, content io.Reader) error {
	if err := w.NoteVideo(ctx, r, video); err != nil {
		return err
	}
	key := lipsync.FindingsOf(r.Account, video) + name
	counted := &countReader{r: &transfer.RoomReader{R: content, Room: w.Room}}
	err := w.Objects.Put(ctx, key, counted, -1)
	// If the request was canceled meanwhile, its client may have deleted its media already.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), requests.FinishTime)
	defer cancel()
	if err = errors.Join(err, w.Held(late, r)); err != nil {
		return errors.Join(err, w.Objects.Delete(late, key))
	}
	return w.keep(ctx, &w.findings, counted.n, w.MaxFindings)
}

// countReader counts the bytes that are read.
type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// OpenFindings opens findings that an earlier request of the same account kept about the same video. It returns NotFound if there are none,
// and Conflict if the worker has lost the request.
func (w *Work) OpenFindings(ctx context.Context, r lipsync.Request, video [sha256.Size]byte, name string) (io.ReadCloser, error) {
	content, _, err := w.Objects.Open(ctx, lipsync.FindingsOf(r.Account, video)+name)
	if err != nil {
		return nil, err
	}
	if err := w.NoteVideo(ctx, r, video); err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return content, nil
}

// NoteVideo records which video the request has, so that forgetFindings can find the findings about it at any time. It returns NotFound if
// an earlier attempt got another video from the same URL: a record has room for one.
func (s *Service) NoteVideo(ctx context.Context, r lipsync.Request, video [sha256.Size]byte) error {
	switch r.VideoSum {
	case video:
		return nil
	case [sha256.Size]byte{}:
		return s.Store.Leases.NoteVideo(ctx, r.ID, r.Lease, video)
	default:
		return failure.New(failure.NotFound, "an earlier attempt had another video")
	}
}

// forgetFindings deletes all findings about the video of a request.
func (s *Service) forgetFindings(ctx context.Context, r lipsync.Request) error {
	if r.VideoSum == [sha256.Size]byte{} { // it kept and used none
		return nil
	}
	return s.Objects.DeleteAll(ctx, lipsync.FindingsOf(r.Account, r.VideoSum))
}
