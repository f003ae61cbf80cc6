package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
)

// MostFindings is the largest size of all findings on one machine, in bytes. Those of a video of a minute take about 10 MB.
const MostFindings = 4 << 30

// findings is the prefix of the keys of all findings.
const findings = "findings/"

// ownFindings returns the prefix of the keys of all findings of an account, that is, of what workers found out about its videos. So no
// account can use those of another, or learn that there are some. The prefix has a hash, since an account's name may have any characters.
func ownFindings(account string) string {
	sum := sha256.Sum256([]byte(account))
	return findings + hex.EncodeToString(sum[:16]) + "/"
}

// findingsOf returns the prefix of the keys of the findings about one video with the SHA-256.
func findingsOf(account string, video [sha256.Size]byte) string {
	return ownFindings(account) + hex.EncodeToString(video[:]) + "/"
}

// KeepsFindings reports whether findings are kept at all.
func (s *Service) KeepsFindings() bool { return s.Limits.Keep.Findings > 0 }

// KeepFindings keeps findings about the video of a claimed request under a name. It returns NoSpace if the disk has too little space, and
// Conflict if the worker has lost the request.
func (s *Service) KeepFindings(ctx context.Context, r lipsync.Request, video [sha256.Size]byte, name string, content io.Reader) error {
	if err := s.noteVideo(ctx, r, video); err != nil {
		return err
	}
	key := findingsOf(r.Account, video) + name
	counted := &countReader{r: &lipsync.RoomReader{R: content, Room: s.Room}}
	err := s.Objects.Put(ctx, key, counted, -1)
	// If the request was canceled meanwhile, its client may have deleted its media already.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), requests.FinishTime)
	defer cancel()
	if err = errors.Join(err, s.Held(late, r)); err != nil {
		return errors.Join(err, s.Objects.Delete(late, key))
	}
	return s.keep(ctx, &s.findings, counted.n, s.MaxFindings)
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
func (s *Service) OpenFindings(ctx context.Context, r lipsync.Request, video [sha256.Size]byte, name string) (io.ReadCloser, error) {
	content, _, err := s.Objects.Open(ctx, findingsOf(r.Account, video)+name)
	if err != nil {
		return nil, err
	}
	if err := s.noteVideo(ctx, r, video); err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return content, nil
}

// noteVideo records which video the request has, so that forgetFindings can find the findings about it at any time. It returns NotFound if
// an earlier attempt got another video from the same URL: a record has room for one.
func (s *Service) noteVideo(ctx context.Context, r lipsync.Request, video [sha256.Size]byte) error {
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
	return s.Objects.DeleteAll(ctx, findingsOf(r.Account, r.VideoSum))
}
