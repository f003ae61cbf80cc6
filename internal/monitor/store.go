package monitor

import (
	"context"
	"time"

	"lipsync/internal/lipsync"
)

// Store returns a store that measures what s does, operation by operation.
func (m *Monitor) Store(s lipsync.Store) lipsync.Store { return store{s, m} }

// store implements lipsync.Store.
type store struct {
	lipsync.Store
	m *Monitor
}

// observe notes an operation that began at the given time and ended with the
// error. What the port's comments name, and the caller's own end, is no failure.
func (s store) observe(ctx context.Context, operation string, began time.Time, err *error) {
	s.m.operations.WithLabelValues(operation).Observe(time.Since(began).Seconds())
	failures := s.m.failures.WithLabelValues(operation) // 0 is told too
	if lipsync.CodeOf(*err) == lipsync.Internal && ctx.Err() == nil {
		failures.Inc()
	}
}

// Create implements lipsync.Store.
func (s store) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	defer s.observe(ctx, "create", time.Now(), &err)
	return s.Store.Create(ctx, r, uploads, idem, limits)
}

// Get implements lipsync.Store.
func (s store) Get(ctx context.Context, id string) (_ lipsync.Request, err error) {
	defer s.observe(ctx, "get", time.Now(), &err)
	return s.Store.Get(ctx, id)
}

// Latest implements lipsync.Store.
func (s store) Latest(ctx context.Context, account, referenceID string) (_ lipsync.Request, err error) {
	defer s.observe(ctx, "latest", time.Now(), &err)
	return s.Store.Latest(ctx, account, referenceID)
}

// List implements lipsync.Store.
func (s store) List(ctx context.Context, account, referenceID string, offset int64, limit int) (_ []lipsync.Request, _ int64, err error) {
	defer s.observe(ctx, "list", time.Now(), &err)
	return s.Store.List(ctx, account, referenceID, offset, limit)
}

// ByStatus implements lipsync.Store.
func (s store) ByStatus(ctx context.Context, q lipsync.StatusQuery, limit int) (_ []lipsync.Request, err error) {
	defer s.observe(ctx, "by_status", time.Now(), &err)
	return s.Store.ByStatus(ctx, q, limit)
}

// CountByStatus implements lipsync.Store.
func (s store) CountByStatus(ctx context.Context, q lipsync.StatusQuery, limit int) (_ int, err error) {
	defer s.observe(ctx, "count_by_status", time.Now(), &err)
	return s.Store.CountByStatus(ctx, q, limit)
}

// Usage implements lipsync.Store.
func (s store) Usage(ctx context.Context, account string, now time.Time, days int) (_ []lipsync.Day, err error) {
	defer s.observe(ctx, "usage", time.Now(), &err)
	return s.Store.Usage(ctx, account, now, days)
}

// Replayed implements lipsync.Store.
func (s store) Replayed(ctx context.Context, account string, idem lipsync.Idempotency, now time.Time) (_ string, err error) {
	defer s.observe(ctx, "replayed", time.Now(), &err)
	return s.Store.Replayed(ctx, account, idem, now)
}

// Uses implements lipsync.Store.
func (s store) Uses(ctx context.Context, account, object string) (_ bool, err error) {
	defer s.observe(ctx, "uses", time.Now(), &err)
	return s.Store.Uses(ctx, account, object)
}

// ForgetMedia implements lipsync.Store.
func (s store) ForgetMedia(ctx context.Context, id string, now time.Time) (_ lipsync.Request, err error) {
	defer s.observe(ctx, "forget_media", time.Now(), &err)
	return s.Store.ForgetMedia(ctx, id, now)
}

// Claim implements lipsync.Store.
func (s store) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (_ lipsync.Request, err error) {
	defer s.observe(ctx, "claim", time.Now(), &err)
	return s.Store.Claim(ctx, id, token, now, lease)
}

// Renew implements lipsync.Store.
func (s store) Renew(ctx context.Context, id, token string, until time.Time) (err error) {
	defer s.observe(ctx, "renew", time.Now(), &err)
	return s.Store.Renew(ctx, id, token, until)
}

// Report implements lipsync.Store.
func (s store) Report(ctx context.Context, id, token string, p lipsync.Progress) (err error) {
	defer s.observe(ctx, "report", time.Now(), &err)
	return s.Store.Report(ctx, id, token, p)
}

// Release implements lipsync.Store.
func (s store) Release(ctx context.Context, id, token string) (err error) {
	defer s.observe(ctx, "release", time.Now(), &err)
	return s.Store.Release(ctx, id, token)
}

// Postpone implements lipsync.Store.
func (s store) Postpone(ctx context.Context, r lipsync.Request, until time.Time) (err error) {
	defer s.observe(ctx, "postpone", time.Now(), &err)
	return s.Store.Postpone(ctx, r, until)
}

// PutOff implements lipsync.Store.
func (s store) PutOff(ctx context.Context, after time.Time, limit int) (_ []lipsync.Request, err error) {
	defer s.observe(ctx, "put_off", time.Now(), &err)
	return s.Store.PutOff(ctx, after, limit)
}

// EndPause implements lipsync.Store.
func (s store) EndPause(ctx context.Context, r lipsync.Request, now time.Time) (err error) {
	defer s.observe(ctx, "end_pause", time.Now(), &err)
	return s.Store.EndPause(ctx, r, now)
}

// Finish implements lipsync.Store.
func (s store) Finish(ctx context.Context, id, token string, now time.Time, o lipsync.Outcome) (err error) {
	defer s.observe(ctx, "finish", time.Now(), &err)
	return s.Store.Finish(ctx, id, token, now, o)
}

// Cancel implements lipsync.Store.
func (s store) Cancel(ctx context.Context, id string, now time.Time, f lipsync.Failure) (_ lipsync.Request, err error) {
	defer s.observe(ctx, "cancel", time.Now(), &err)
	return s.Store.Cancel(ctx, id, now, f)
}

// Open implements lipsync.Store.
func (s store) Open(ctx context.Context, now time.Time, limit int) (_ []lipsync.Request, err error) {
	defer s.observe(ctx, "open", time.Now(), &err)
	return s.Store.Open(ctx, now, limit)
}

// Upkeep implements lipsync.Store.
func (s store) Upkeep(ctx context.Context, now time.Time) (err error) {
	defer s.observe(ctx, "upkeep", time.Now(), &err)
	return s.Store.Upkeep(ctx, now)
}

// CreateKey implements lipsync.Store.
func (s store) CreateKey(ctx context.Context, k lipsync.Key) (err error) {
	defer s.observe(ctx, "create_key", time.Now(), &err)
	return s.Store.CreateKey(ctx, k)
}

// KeyByHash implements lipsync.Store.
func (s store) KeyByHash(ctx context.Context, hash [32]byte) (_ lipsync.Key, err error) {
	defer s.observe(ctx, "key_by_hash", time.Now(), &err)
	return s.Store.KeyByHash(ctx, hash)
}

// TouchKey implements lipsync.Store.
func (s store) TouchKey(ctx context.Context, id string, at time.Time) (err error) {
	defer s.observe(ctx, "touch_key", time.Now(), &err)
	return s.Store.TouchKey(ctx, id, at)
}

// ListKeys implements lipsync.Store.
func (s store) ListKeys(ctx context.Context, account string) (_ []lipsync.Key, err error) {
	defer s.observe(ctx, "list_keys", time.Now(), &err)
	return s.Store.ListKeys(ctx, account)
}

// RevokeKey implements lipsync.Store.
func (s store) RevokeKey(ctx context.Context, account, id string, at time.Time) (err error) {
	defer s.observe(ctx, "revoke_key", time.Now(), &err)
	return s.Store.RevokeKey(ctx, account, id, at)
}

// CreateUpload implements lipsync.Store.
func (s store) CreateUpload(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) (err error) {
	defer s.observe(ctx, "create_upload", time.Now(), &err)
	return s.Store.CreateUpload(ctx, u, limits)
}

// GetUpload implements lipsync.Store.
func (s store) GetUpload(ctx context.Context, id string) (_ lipsync.Upload, err error) {
	defer s.observe(ctx, "get_upload", time.Now(), &err)
	return s.Store.GetUpload(ctx, id)
}

// ExpiredUploads implements lipsync.Store.
func (s store) ExpiredUploads(ctx context.Context, now time.Time, after lipsync.Upload, limit int) (_ []lipsync.Upload, err error) {
	defer s.observe(ctx, "expired_uploads", time.Now(), &err)
	return s.Store.ExpiredUploads(ctx, now, after, limit)
}

// DropUpload implements lipsync.Store.
func (s store) DropUpload(ctx context.Context, u lipsync.Upload, expires time.Time) (err error) {
	defer s.observe(ctx, "drop_upload", time.Now(), &err)
	return s.Store.DropUpload(ctx, u, expires)
}

// DeleteUpload implements lipsync.Store.
func (s store) DeleteUpload(ctx context.Context, u lipsync.Upload) (err error) {
	defer s.observe(ctx, "delete_upload", time.Now(), &err)
	return s.Store.DeleteUpload(ctx, u)
}

// Take implements lipsync.Store.
func (s store) Take(ctx context.Context, name string, limit int, now time.Time) (_ time.Duration, err error) {
	defer s.observe(ctx, "take", time.Now(), &err)
	return s.Store.Take(ctx, name, limit, now)
}
