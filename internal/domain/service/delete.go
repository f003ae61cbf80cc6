package service

import (
	"context"
	"errors"
	"slices"
	"strings"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// DeleteMedia deletes the stored media of the caller's request: inputs, output, unfinished
// outputs and pieces of them. It also deletes what workers found out about the video. The record stays. DeleteMedia deletes nothing and returns Unfinished if the request is
// not final, or if an open request uses one of its uploads, or a line of a batch waits to use it. It may be repeated: after an error it
// continues, and after success it returns the same answer.
func (s *Service) DeleteMedia(ctx context.Context, c lipsync.Caller, idOrReference string) (lipsync.Request, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return lipsync.Request{}, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	return s.deleteMedia(ctx, r)
}

// deleteMedia does what DeleteMedia does.
func (s *Service) deleteMedia(ctx context.Context, r lipsync.Request) (lipsync.Request, error) {
	if !r.Status.Final() {
		return lipsync.Request{}, failure.New(failure.Unfinished, "lipsync request is not finished; cancel it first, or wait for its end")
	}
	uploaded, err := s.ownUploads(ctx, r)
	if err != nil {
		return lipsync.Request{}, err
	}
	// Delete the objects first, so that no record says that they are deleted while they exist.
	// Continue if the client hangs up.
	ctx = context.WithoutCancel(ctx)
	for _, u := range uploaded {
		if err := s.deleteUpload(ctx, u); err != nil {
			return lipsync.Request{}, err
		}
	}
	return s.forget(ctx, r)
}

// forget deletes all objects of a final request, and records that they are deleted.
func (s *Service) forget(ctx context.Context, r lipsync.Request) (lipsync.Request, error) {
	err := errors.Join(s.Objects.DeleteAll(ctx, lipsync.InputKeys+r.ID+"/"), s.Objects.DeleteAll(ctx, lipsync.OutputKeys+r.ID+"/"), s.Objects.DeleteAll(ctx, r.Pieces()),
		s.forgetFindings(ctx, r), s.dropLate(ctx, r))
	if err != nil {
		return lipsync.Request{}, err
	}
	now := s.Now()
	return s.Store.Leases.Change(ctx, r.ID, func(stored lipsync.Request) (lipsync.Request, error) { return stored.WithoutMedia(now) })
}

// dropLate makes Sweep delete the outputs of the last claims once more. It creates dropped uploads
// for them. A worker that lost the request may still store its output, and may be killed before it
// learns that it must delete the output.
func (s *Service) dropLate(ctx context.Context, r lipsync.Request) (err error) {
	if !r.MediaDeletedAt.IsZero() {
		return nil // the first call did this
	}
	now := s.Now()
	for claim := max(1, r.Claims-lipsync.MaxAttempts+1); claim <= r.Claims; claim++ {
		err = errors.Join(err, s.Store.Uploads.Create(ctx, lipsync.Upload{
			ID: s.NewID(), Account: r.Account, Kind: failure.Video, Object: r.OutputKey(claim),
			CreatedAt: now, ExpiresAt: now, Dropped: true,
		}, lipsync.Limits{}))
	}
	return err
}

// ownUploads returns the uploads that the final request names. If the record of an upload is
// deleted, only Object is set. ownUploads returns Unfinished if an open request uses one of the
// uploads, or a line of a batch waits to use it.
func (s *Service) ownUploads(ctx context.Context, r lipsync.Request) (all []lipsync.Upload, err error) {
	var lines *batches.Awaited
	for _, in := range r.Inputs() {
		id, ok := strings.CutPrefix(in.Object, lipsync.UploadKeys)
		if !ok || slices.ContainsFunc(all, func(u lipsync.Upload) bool { return u.Object == in.Object }) {
			continue
		}
		u, err := s.Store.Uploads.ByID(ctx, id)
		switch failure.CodeOf(err) {
		case "":
			if lines == nil {
				lines, err = s.AwaitedOf(ctx, r.Account)
			}
			if err == nil {
				err = s.unused(ctx, u, lines)
			}
		case failure.NotFound:
			u, err = lipsync.Upload{Object: in.Object}, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// unused returns Unfinished if an open request uses the upload, or a line waits to use it.
func (s *Service) unused(ctx context.Context, u lipsync.Upload, lines *batches.Awaited) error {
	used, err := s.inUse(ctx, u)
	if err == nil && used {
		return errShared()
	}
	if err == nil && !u.Dropped {
		used, err = lines.Need(ctx, u)
	}
	if err == nil && used {
		err = failure.New(failure.Unfinished, "a line of a batch waits to use the same upload; cancel the batch first, or wait for its end")
	}
	return err
}

func errShared() error {
	return failure.New(failure.Unfinished, "another lipsync request that is not finished uses the same upload; cancel it first, or wait for its end")
}

// deleteUpload deletes the upload's object. It also deletes the record, unless the signed URL for
// the file is still valid. In that case the bytes still count, and Sweep deletes the file and the
// record after the URL has expired.
func (s *Service) deleteUpload(ctx context.Context, u lipsync.Upload) error {
	sendable := u.SendableUntil()
	if u.ID != "" {
		err := s.Store.Uploads.Drop(ctx, u, sendable)
		if failure.CodeOf(err) == failure.Conflict {
			err = errShared() // a request that was made just now uses it
		}
		if err != nil {
			return err
		}
	}
	if err := s.Objects.Delete(ctx, u.Object); err != nil || u.ID == "" || s.Now().Before(sendable) {
		return err
	}
	return s.Store.Uploads.Delete(ctx, u)
}
