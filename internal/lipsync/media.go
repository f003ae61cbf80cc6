package lipsync

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Where objects lie: under one of three prefixes, then the id of the record
// that names them.
const (
	inputs  = "inputs/"
	uploads = "uploads/"
	outputs = "outputs/"
)

func inputKey(requestID string, kind MediaKind) string {
	return inputs + requestID + "/" + string(kind)
}

func uploadKey(id string) string { return uploads + id }

// outputKey holds the number of the claim, so that a worker that lost a request
// can't overwrite what another made of it.
func outputKey(requestID string, claim int) string {
	return fmt.Sprintf("%s%s/%d.mp4", outputs, requestID, claim)
}

// posterKey is where the picture of the output lies.
func posterKey(outputKey string) string { return strings.TrimSuffix(outputKey, ".mp4") + ".jpg" }

// deleteOutput deletes an output with its poster, of which either may be missing.
func (s *Service) deleteOutput(ctx context.Context, key string) error {
	return errors.Join(s.Objects.Delete(ctx, key), s.Objects.Delete(ctx, posterKey(key)))
}

// NewRequestID returns an id to store media under before Generate.
func (s *Service) NewRequestID() string { return s.NewID() }

// StoreMedia stores one medium of a request to come. TooLarge if there is more
// of it than its kind may have, NoSpace if there is no room for it; then and after
// any error nothing is kept.
func (s *Service) StoreMedia(ctx context.Context, requestID string, kind MediaKind, r io.Reader) (Source, error) {
	sum := sha256.New()
	limit := s.MaxSize(kind)
	limited := &limitReader{r: r, left: limit, err: newError(TooLarge, LargerThan(string(kind), limit))}
	src := Source{Object: inputKey(requestID, kind)}
	media := io.TeeReader(&RoomReader{R: limited, Room: s.room}, sum)
	if err := s.Objects.Put(ctx, src.Object, media, -1); err != nil {
		return Source{}, err
	}
	sum.Sum(src.SHA256[:0])
	return src, nil
}

// DiscardMedia deletes what was stored for a request that never came to be.
func (s *Service) DiscardMedia(ctx context.Context, requestID string) error {
	switch _, err := s.Requests.ByID(ctx, requestID); CodeOf(err) {
	case NotFound:
		return s.deleteInputs(ctx, requestID)
	default:
		return err
	}
}

func (s *Service) deleteInputs(ctx context.Context, requestID string) error {
	return errors.Join(
		s.Objects.Delete(ctx, inputKey(requestID, Video)),
		s.Objects.Delete(ctx, inputKey(requestID, Audio)))
}

// limitReader reads r, and fails with err once more than left bytes came.
type limitReader struct {
	r    io.Reader
	left int64
	err  error
}

func (l *limitReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, l.err
	}
	return n, err
}
