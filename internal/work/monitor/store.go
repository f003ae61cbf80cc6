package monitor

import (
	"context"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// Store returns a store that measures each operation of s.
func (m *Monitor) Store(s lipsync.Store) lipsync.Store {
	return lipsync.Store{
		Requests: requests{s.Requests, m}, Leases: leases{s.Leases, m}, Keys: keys{s.Keys, m},
		Uploads: uploads{s.Uploads, m}, Rates: rates{s.Rates, m}, Webhooks: webhooks{s.Webhooks, m},
		Speeds: speeds{s.Speeds, m}, Batches: batches{s.Batches, m},
	}
}

// observe measures an operation that began at the given time and ended with the error. Errors that
// the port's contract names, and the caller's own cancellation, are not failures.
func (m *Monitor) observe(ctx context.Context, operation string, began time.Time, err *error) {
	m.operations.WithLabelValues(operation).Observe(time.Since(began).Seconds())
	failures := m.failures.WithLabelValues(operation) // creates the series with the value 0 too
	if failure.CodeOf(*err) == failure.Internal && ctx.Err() == nil {
		failures.Inc()
	}
}

// requests implements lipsync.Requests.
type requests struct {
	lipsync.Requests
	m *Monitor
}

var _ lipsync.Requests = (*requests)(nil)

func (s requests) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	defer s.m.observe(ctx, "create", time.Now(), &err)
	return s.Requests.Create(ctx, r, uploads, idem, limits)
}

func (s requests) ByID(ctx context.Context, id string) (_ lipsync.Request, err error) {
	defer s.m.observe(ctx, "get", time.Now(), &err)
	return s.Requests.ByID(ctx, id)
}

func (s requests) ByReference(ctx context.Context, account, referenceID string) (_ lipsync.Request, err error) {
	defer s.m.observe(ctx, "latest", time.Now(), &err)
	return s.Requests.ByReference(ctx, account, referenceID)
}

func (s requests) List(ctx context.Context, account, referenceID string, offset int64, limit int) (_ []lipsync.Request, _ int64, err error) {
	defer s.m.observe(ctx, "list", time.Now(), &err)
	return s.Requests.List(ctx, account, referenceID, offset, limit)
}

func (s requests) ListByStatus(ctx context.Context, q lipsync.StatusQuery) (_ []lipsync.Request, _ int, err error) {
	defer s.m.observe(ctx, "by_status", time.Now(), &err)
	return s.Requests.ListByStatus(ctx, q)
}

func (s requests) Usage(ctx context.Context, account string, now time.Time, days int) (_ []lipsync.Day, err error) {
	defer s.m.observe(ctx, "usage", time.Now(), &err)
	return s.Requests.Usage(ctx, account, now, days)
}

func (s requests) Stored(ctx context.Context, account string, now time.Time, keep lipsync.Retention) (_ int64, err error) {
	defer s.m.observe(ctx, "stored", time.Now(), &err)
	return s.Requests.Stored(ctx, account, now, keep)
}

func (s requests) Replayed(ctx context.Context, account string, idem lipsync.Idempotency, now time.Time) (_ string, err error) {
	defer s.m.observe(ctx, "replayed", time.Now(), &err)
	return s.Requests.Replayed(ctx, account, idem, now)
}

func (s requests) Uses(ctx context.Context, account, object string) (_ bool, err error) {
	defer s.m.observe(ctx, "uses", time.Now(), &err)
	return s.Requests.Uses(ctx, account, object)
}

func (s requests) Several(ctx context.Context, ids []string) (_ []lipsync.Request, err error) {
	defer s.m.observe(ctx, "several", time.Now(), &err)
	return s.Requests.Several(ctx, ids)
}

// leases implements lipsync.Leases.
type leases struct {
	lipsync.Leases
	m *Monitor
}

var _ lipsync.Leases = (*leases)(nil)

func (s leases) Claim(ctx context.Context, id, token string, now time.Time, lease time.Duration) (_ lipsync.Request, err error) {
	defer s.m.observe(ctx, "claim", time.Now(), &err)
	return s.Leases.Claim(ctx, id, token, now, lease)
}

func (s leases) Renew(ctx context.Context, id, token string, until time.Time) (err error) {
	defer s.m.observe(ctx, "renew", time.Now(), &err)
	return s.Leases.Renew(ctx, id, token, until)
}

func (s leases) Report(ctx context.Context, id, token string, p lipsync.Progress) (err error) {
	defer s.m.observe(ctx, "report", time.Now(), &err)
	return s.Leases.Report(ctx, id, token, p)
}

func (s leases) NoteVideo(ctx context.Context, id, token string, sum [32]byte) (err error) {
	defer s.m.observe(ctx, "note_video", time.Now(), &err)
	return s.Leases.NoteVideo(ctx, id, token, sum)
}

func (s leases) Change(ctx context.Context, id string, t lipsync.Transition) (_ lipsync.Request, err error) {
	defer s.m.observe(ctx, "change", time.Now(), &err)
	return s.Leases.Change(ctx, id, t)
}

func (s leases) Postponed(ctx context.Context, after time.Time, limit int) (_ []lipsync.Request, err error) {
	defer s.m.observe(ctx, "put_off", time.Now(), &err)
	return s.Leases.Postponed(ctx, after, limit)
}

func (s leases) Open(ctx context.Context, now time.Time, limit int) (_ []lipsync.Request, err error) {
	defer s.m.observe(ctx, "open", time.Now(), &err)
	return s.Leases.Open(ctx, now, limit)
}

func (s leases) Line(ctx context.Context, r lipsync.Request, now time.Time, limit int) (_ lipsync.Line, err error) {
	defer s.m.observe(ctx, "line", time.Now(), &err)
	return s.Leases.Line(ctx, r, now, limit)
}

func (s leases) Upkeep(ctx context.Context, now time.Time) (err error) {
	defer s.m.observe(ctx, "upkeep", time.Now(), &err)
	return s.Leases.Upkeep(ctx, now)
}

// keys implements lipsync.Keys.
type keys struct {
	lipsync.Keys
	m *Monitor
}

var _ lipsync.Keys = (*keys)(nil)

func (s keys) Create(ctx context.Context, k lipsync.Key) (err error) {
	defer s.m.observe(ctx, "create_key", time.Now(), &err)
	return s.Keys.Create(ctx, k)
}

func (s keys) ByHash(ctx context.Context, hash [32]byte) (_ lipsync.Key, err error) {
	defer s.m.observe(ctx, "key_by_hash", time.Now(), &err)
	return s.Keys.ByHash(ctx, hash)
}

func (s keys) Touch(ctx context.Context, id string, at time.Time) (err error) {
	defer s.m.observe(ctx, "touch_key", time.Now(), &err)
	return s.Keys.Touch(ctx, id, at)
}

func (s keys) List(ctx context.Context, account string) (_ []lipsync.Key, err error) {
	defer s.m.observe(ctx, "list_keys", time.Now(), &err)
	return s.Keys.List(ctx, account)
}

func (s keys) Revoke(ctx context.Context, account, id string, at time.Time) (err error) {
	defer s.m.observe(ctx, "revoke_key", time.Now(), &err)
	return s.Keys.Revoke(ctx, account, id, at)
}

// uploads implements lipsync.Uploads.
type uploads struct {
	lipsync.Uploads
	m *Monitor
}

var _ lipsync.Uploads = (*uploads)(nil)

func (s uploads) Create(ctx context.Context, u lipsync.Upload, limits lipsync.Limits) (err error) {
	defer s.m.observe(ctx, "create_upload", time.Now(), &err)
	return s.Uploads.Create(ctx, u, limits)
}

func (s uploads) ByID(ctx context.Context, id string) (_ lipsync.Upload, err error) {
	defer s.m.observe(ctx, "get_upload", time.Now(), &err)
	return s.Uploads.ByID(ctx, id)
}

func (s uploads) Expired(ctx context.Context, now time.Time, after lipsync.Upload, limit int) (_ []lipsync.Upload, err error) {
	defer s.m.observe(ctx, "expired_uploads", time.Now(), &err)
	return s.Uploads.Expired(ctx, now, after, limit)
}

func (s uploads) Drop(ctx context.Context, u lipsync.Upload, expires time.Time) (err error) {
	defer s.m.observe(ctx, "drop_upload", time.Now(), &err)
	return s.Uploads.Drop(ctx, u, expires)
}

func (s uploads) Delete(ctx context.Context, u lipsync.Upload) (err error) {
	defer s.m.observe(ctx, "delete_upload", time.Now(), &err)
	return s.Uploads.Delete(ctx, u)
}

// rates implements lipsync.Rates.
type rates struct {
	lipsync.Rates
	m *Monitor
}

var _ lipsync.Rates = (*rates)(nil)

func (s rates) Take(ctx context.Context, name string, limit int, now time.Time) (_ time.Duration, err error) {
	defer s.m.observe(ctx, "take", time.Now(), &err)
	return s.Rates.Take(ctx, name, limit, now)
}

// speeds implements lipsync.Speeds.
type speeds struct {
	lipsync.Speeds
	m *Monitor
}

var _ lipsync.Speeds = (*speeds)(nil)

func (s speeds) Note(ctx context.Context, engine string, n lipsync.Speed) (err error) {
	defer s.m.observe(ctx, "note_speed", time.Now(), &err)
	return s.Speeds.Note(ctx, engine, n)
}

func (s speeds) All(ctx context.Context) (_ map[string]lipsync.Speed, err error) {
	defer s.m.observe(ctx, "speeds", time.Now(), &err)
	return s.Speeds.All(ctx)
}
