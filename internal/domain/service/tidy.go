package service

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// tidyStep and tidyRest bound the reads and deletions of Tidy: it rests after so many objects. So it looks at no more than
// 1000 a second, and calls and workers hardly notice it.
const (
	tidyStep = 100
	tidyRest = 100 * time.Millisecond
)

// Tidy deletes the inputs and pieces of final requests, expired outputs, and objects without a record that are
// at least age old. If age is 0, it deletes objects without a record of any age, even if the clock
// was set back. It also deletes old findings, and the records of requests, batches and calls whose time is over. Tidy checks every object, and logs what it did. While the clock isn't Trusted, it
// deletes nothing. Call it once an hour, with OrphanAge.
func (s *Service) Tidy(ctx context.Context, age time.Duration) error {
	if !s.Trusted() {
		s.Log.WarnContext(ctx, "tidy: nothing is deleted while the clock is doubted")
		return nil
	}
	t := tidying{Service: s, age: age}
	findings, err := s.shrink(ctx, &s.findings, s.MaxFindings, func() bool { return false })
	errs := []error{err}
	for _, prefix := range []string{lipsync.InputKeys, lipsync.UploadKeys, lipsync.OutputKeys, lipsync.PieceKeys, lipsync.BatchKeys} {
		errs = append(errs, s.Objects.List(ctx, prefix, func(key string, modified time.Time) error { return t.look(ctx, key, modified) }))
	}
	old := s.Now().Add(-s.Limits.Keep.RecordLife())
	requests, err := s.Store.Requests.Expire(ctx, old)
	batches, batchErr := s.Store.Batches.Expire(ctx, old)
	errs = append(errs, err, batchErr, s.Store.Calls.Expire(ctx, s.Now().Add(-lipsync.CallLife)))
	s.Log.InfoContext(ctx, "tidy", "checked", t.checked, "deleted_final_or_expired", t.spent, "deleted_without_record", t.orphans, "deleted_findings", findings, "deleted_records", requests+batches)
	return errors.Join(errs...)
}

// tidying is one run of Tidy.
type tidying struct {
	*Service
	age                     time.Duration
	checked, spent, orphans int // objects
}

// look deletes an object, if no record needs it.
func (t *tidying) look(ctx context.Context, key string, modified time.Time) error {
	if t.checked++; t.checked%tidyStep == 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(tidyRest):
		}
	}
	v, err := t.judge(ctx, key)
	if err != nil || v == needed || v == orphan && t.age > 0 && t.Now().Sub(modified) < t.age {
		return err
	}
	if err := t.Objects.Delete(ctx, key); err != nil {
		return err
	}
	if v == orphan {
		t.orphans++
	} else {
		t.spent++
	}
	return nil
}

// Needs reports whether a record still needs the object.
func (s *Service) Needs(ctx context.Context, key string) (bool, error) {
	v, err := s.judge(ctx, key)
	return v == needed && err == nil, err
}

// verdict says whether an object is kept or deleted.
type verdict int

const (
	needed verdict = iota
	spent          // its record no longer needs it
	orphan         // no record names it, perhaps only until now
)

// judge returns the verdict on the object with the key, which has the id of its record.
func (s *Service) judge(ctx context.Context, key string) (verdict, error) {
	prefix, rest, _ := strings.Cut(key, "/")
	id, _, _ := strings.Cut(rest, "/")
	var v verdict
	var err error
	switch prefix + "/" {
	case lipsync.UploadKeys:
		_, err = s.Store.Uploads.ByID(ctx, id)
	case lipsync.BatchKeys:
		var b lipsync.Batch
		if b, err = s.Store.Batches.ByID(ctx, id); !b.FinishedAt.IsZero() {
			v = spent
		} else if key != b.Object() {
			v = orphan
		}
	default:
		var r lipsync.Request
		r, err = s.Store.Requests.ByID(ctx, id)
		v = s.judgeMedia(r, key)
	}
	if failure.CodeOf(err) == failure.NotFound {
		return orphan, nil
	}
	return v, err
}

// judgeMedia returns the verdict on an input, an output or a piece of the request. An output and its poster are
// kept a little longer than they are shown, for the last signed URLs.
func (s *Service) judgeMedia(r lipsync.Request, key string) verdict {
	switch {
	case slices.ContainsFunc(r.Inputs(), func(in lipsync.Input) bool { return in.Object == key }):
		if r.Status.Final() {
			return spent
		}
		return needed
	case key == r.Output, key == r.PosterKey():
		if s.Now().After(s.OutputExpires(r).Add(lipsync.LinkLife)) {
			return spent
		}
		return needed
	case strings.HasPrefix(key, r.Pieces()):
		if r.Status.Final() {
			return spent
		}
		return needed
	default:
		return orphan
	}
}
