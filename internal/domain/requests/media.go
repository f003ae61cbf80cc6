package requests

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/transfer"
)

func inputKey(requestID, name string) string { return lipsync.InputKeys + requestID + "/" + name }

func uploadKey(id string) string { return lipsync.UploadKeys + id }

// NewRequestID returns an id for StoreMedia and Generate.
func (s *Service) NewRequestID() string { return s.NewID() }

// StoreMedia stores a video or a speech track before its request is created. It returns TooLarge if
// the medium is larger than its kind may be, and NoSpace if the disk has too little space. After
// any error, nothing is stored.
func (s *Service) StoreMedia(ctx context.Context, requestID string, kind failure.MediaKind, r io.Reader) (Source, error) {
	return s.storeMedia(ctx, inputKey(requestID, string(kind)), kind, r)
}

// StoreTrack stores a speech track beside the one of StoreMedia, as StoreMedia does. n differs for each track
// of the request.
func (s *Service) StoreTrack(ctx context.Context, requestID string, n int, r io.Reader) (Source, error) {
	return s.storeMedia(ctx, inputKey(requestID, fmt.Sprintf("%s-%d", failure.Audio, n)), failure.Audio, r)
}

func (s *Service) storeMedia(ctx context.Context, key string, kind failure.MediaKind, r io.Reader) (Source, error) {
	sum := sha256.New()
	limit := s.MaxSize(kind)
	limited := &limitReader{r: r, left: limit, err: failure.New(failure.TooLarge, failure.LargerThan(string(kind), limit))}
	src := Source{Object: key}
	media := io.TeeReader(&transfer.RoomReader{R: limited, Room: s.Room}, sum)
	if err := s.Objects.Put(ctx, src.Object, media, -1); err != nil {
		return Source{}, err
	}
	sum.Sum(src.SHA256[:0])
	src.Size = limit - limited.left
	return src, nil
}

// DiscardMedia deletes the stored media of a request that was not created.
func (s *Service) DiscardMedia(ctx context.Context, p Params) error {
	_, err := s.Store.Requests.ByID(ctx, p.ID)
	if failure.CodeOf(err) != failure.NotFound {
		return err
	}
	err = nil
	for _, source := range p.sources() {
		if source.Object != "" {
			err = errors.Join(err, s.Objects.Delete(ctx, source.Object))
		}
	}
	return err
}

// limitReader reads r and fails with err after more than left bytes.
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

// CheckStored returns StorageLimit if an account may not store so many bytes, those that are arriving included.
func (s *Service) CheckStored(bytes int64) error {
	if l := s.Limits; bytes > l.Stored {
		return l.Explain(failure.New(failure.StorageLimit, "too many bytes are stored and arrive"))
	}
	return nil
}
