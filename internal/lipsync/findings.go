package lipsync

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
)

// MostFindings is the largest size of all findings on one machine, in bytes. Those of a video of a minute take about 10 MB.
const MostFindings = 4 << 30

// ownFindings returns the prefix of the keys of all findings of an account, that is, of what workers found out about its videos. So no
// account can use those of another, or learn that there are some. The prefix has a hash, since an account's name may have any characters.
func ownFindings(account string) string {
	sum := sha256.Sum256([]byte(account))
	return findings + hex.EncodeToString(sum[:16]) + "/"
}

// findingsOf returns the prefix of the keys of the findings about one video, whose SHA-256 is written in hexadecimal.
func findingsOf(account, video string) string { return ownFindings(account) + video + "/" }

// usedFindings returns the key of an object with the SHA-256 of the video whose findings the request kept or used.
func usedFindings(r Request) string { return ownFindings(r.Owner()) + "of/" + r.ID }

// KeepsFindings reports whether findings are kept at all.
func (s *Service) KeepsFindings() bool { return s.Limits.Keep.Findings > 0 }

// KeepFindings keeps findings about the video of a claimed request under a name. It returns NoSpace if the disk has too little space.
func (s *Service) KeepFindings(ctx context.Context, r Request, video [sha256.Size]byte, name string, content io.Reader) error {
	if err := s.noteFindings(ctx, r, video); err != nil {
		return err
	}
	err := s.Objects.Put(ctx, findingsOf(r.Owner(), hex.EncodeToString(video[:]))+name, &RoomReader{R: content, Room: s.room}, -1)
	if err == nil && s.MaxFindings > 0 {
		err = s.tidyFindings(ctx)
	}
	return err
}

// OpenFindings opens findings that an earlier request of the same account kept about the same video. It returns NotFound if there are none.
func (s *Service) OpenFindings(ctx context.Context, r Request, video [sha256.Size]byte, name string) (io.ReadCloser, error) {
	content, _, err := s.Objects.Open(ctx, findingsOf(r.Owner(), hex.EncodeToString(video[:]))+name)
	if err != nil {
		return nil, err
	}
	if err := s.noteFindings(ctx, r, video); err != nil {
		return nil, errors.Join(err, content.Close())
	}
	return content, nil
}

// noteFindings records which video the request has, so that forgetFindings can find the findings about it.
func (s *Service) noteFindings(ctx context.Context, r Request, video [sha256.Size]byte) error {
	text := hex.EncodeToString(video[:])
	return s.Objects.Put(ctx, usedFindings(r), strings.NewReader(text), int64(len(text)))
}

// forgetFindings deletes all findings about the video of a request.
func (s *Service) forgetFindings(ctx context.Context, r Request) error {
	note, _, err := s.Objects.Open(ctx, usedFindings(r))
	if CodeOf(err) == NotFound {
		return nil
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(note, 2*sha256.Size))
	if err := errors.Join(err, note.Close()); err != nil {
		return err
	}
	if video, err := hex.DecodeString(string(text)); err == nil && len(video) == sha256.Size {
		if err := s.Objects.DeleteAll(ctx, findingsOf(r.Owner(), string(text))); err != nil {
			return err
		}
	}
	return s.Objects.Delete(ctx, usedFindings(r))
}

// tidyFindings deletes the findings that are too old, and the oldest of the others as long as all together are larger than MaxFindings.
func (s *Service) tidyFindings(ctx context.Context) error {
	type object struct {
		key      string
		modified time.Time
	}
	var all []object
	err := s.Objects.List(ctx, findings, func(key string, modified time.Time) error {
		all = append(all, object{key, modified})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.key, b.key)) })
	var total int64
	var errs []error
	for _, o := range all {
		size, err := s.Objects.Size(ctx, o.key)
		if CodeOf(err) == NotFound {
			continue
		}
		errs = append(errs, err)
		total += size
		if s.Now().Sub(o.modified) >= s.Limits.Keep.Findings || s.MaxFindings > 0 && total > s.MaxFindings {
			errs = append(errs, s.Objects.Delete(ctx, o.key))
		}
	}
	return errors.Join(errs...)
}
