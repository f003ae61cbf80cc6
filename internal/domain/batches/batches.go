// Package batches makes batches and the requests of their lines, as the limits of accounts allow.
package batches

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
)

const (
	// makeTime is the time after the beginning of a call after which it starts no new work on lines: no check, no request and no
	// cancel. Sweeps go on.
	makeTime = 10 * time.Second
	// batchTime is the time after which a call has ended that makes or cancels a batch. On AWS a call must end in 25 s.
	batchTime = 20 * time.Second
	// cancelTries is the number of times that a cancel of a batch is tried.
	cancelTries = 5
)

// Params are the parameters of a new batch.
type Params struct {
	Lines          []Variant
	WebhookURL     *string // URL of a webhook of the account, with any query, which gets the event of the batch; may be nil
	IdempotencyKey *string // may be nil
}

// LineProblem is the reason for which a line of a batch would be refused, or what its client should know of it.
type LineProblem struct {
	Line    int    `json:"line,omitzero"` // from 1; 0 for the call itself
	Message string `json:"message"`
}

// Service makes batches and their requests. It can make, read and cancel single requests too.
type Service struct{ *requests.Service }

// New returns a Service.
func New(s *requests.Service) *Service { return &Service{s} }

// CheckBatch returns the problems for which CreateBatch would refuse lines of the batch. It returns an error if CreateBatch would refuse
// the batch for another reason.
func (s *Service) CheckBatch(ctx context.Context, c lipsync.Caller, p Params) ([]LineProblem, error) {
	if _, err := encodeLines(p.Lines); err != nil {
		return nil, err
	}
	if _, err := s.batchTargets(ctx, c, p); err != nil {
		return nil, err
	}
	return s.checkLines(ctx, c, p.Lines, s.Now().Add(makeTime))
}

// CreateBatch makes a batch, and requests for its first lines. Sweeps make the others as the limits of the account allow. It checks all
// lines before it makes any request. For a repeated call with the same idempotency key, at any time, it returns the batch of the first call,
// and replayed is true.
func (s *Service) CreateBatch(ctx context.Context, c lipsync.Caller, p Params) (b lipsync.Batch, replayed bool, err error) {
	end := s.Now().Add(makeTime)
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	text, err := encodeLines(p.Lines)
	if err != nil {
		return lipsync.Batch{}, false, err
	}
	b = lipsync.Batch{
		Account: c.Account, KeyID: c.KeyID, CallID: c.CallID, Lines: waitingLines(len(p.Lines)), Fingerprint: p.fingerprint(text),
		CreatedAt: lipsync.StoredTime(s.Now()), Version: 1,
	}
	if b.ID = s.NewID(); p.IdempotencyKey != nil {
		if !order.ValidText(*p.IdempotencyKey) {
			return lipsync.Batch{}, false, failure.New(failure.Invalid, "Idempotency-Key must be 1 to 255 characters")
		}
		b.ID = uuid.NewSHA1(uuid.NameSpaceOID, []byte("lipsync batch\x00"+c.Account+"\x00"+*p.IdempotencyKey)).String()
		if earlier, err := s.replayedBatch(ctx, b); failure.CodeOf(err) != failure.NotFound {
			if err == nil && earlier.KeyID == c.KeyID { // the first call may have died. Another key's batch is left to the sweeps, since that key may be revoked
				s.makeFirst(ctx, &earlier, end)
			}
			return earlier, true, err
		}
	}
	if b.Targets, err = s.batchTargets(ctx, c, p); err != nil {
		return lipsync.Batch{}, false, err
	}
	problems, err := s.checkLines(ctx, c, p.Lines, end)
	if err == nil && len(problems) > 0 {
		err = failure.New(failure.Invalid, fmt.Sprintf("line %d: %s", problems[0].Line, problems[0].Message))
	}
	if err == nil {
		err = s.Room(0)
	}
	if err == nil {
		err = s.roomForBatch(ctx, c.Account)
	}
	if err != nil && p.IdempotencyKey != nil { // a call with the same key may have made the last batch meanwhile
		if earlier, replayErr := s.replayedBatch(ctx, b); failure.CodeOf(replayErr) != failure.NotFound {
			return earlier, true, replayErr
		}
	}
	if err != nil {
		return lipsync.Batch{}, false, err
	}
	return s.storeBatch(ctx, b, text, p.IdempotencyKey != nil, end)
}

// roomForBatch returns BatchLimit or StorageLimit if the account may have no other batch. Then no lines are stored, since those of calls with an
// idempotency key may have to stay.
func (s *Service) roomForBatch(ctx context.Context, account string) error {
	limits := s.Limits
	n, err := s.Store.Batches.Count(ctx, account)
	if err == nil && n >= limits.Batches {
		err = limits.Explain(failure.New(failure.BatchLimit, "too many unfinished batches"))
	}
	if err == nil {
		var stored int64
		if stored, err = s.Store.Requests.Stored(ctx, account, s.Now(), limits.Keep); err == nil {
			err = s.CheckStored(stored + 1)
		}
	}
	return err
}

// storeBatch stores a new batch, and makes its first requests until the time end. shared says that a call with the same idempotency key may store
// the same batch now.
func (s *Service) storeBatch(ctx context.Context, b lipsync.Batch, lines []byte, shared bool, end time.Time) (_ lipsync.Batch, replayed bool, _ error) {
	if err := s.Objects.Put(ctx, b.Object(), bytes.NewReader(lines), int64(len(lines))); err != nil {
		return lipsync.Batch{}, false, err
	}
	limits := s.Limits
	switch err := s.Store.Batches.Create(ctx, b, limits); failure.CodeOf(err) {
	case "":
	case failure.BatchLimit:
		if !shared { // no orphan stays, since such calls cost the account nothing
			err = errors.Join(err, s.Objects.Delete(ctx, b.Object()))
		}
		return lipsync.Batch{}, false, limits.Explain(err)
	case failure.Conflict: // a call with the same idempotency key was faster
		b, err := s.replayedBatch(ctx, b)
		return b, true, err
	default:
		return lipsync.Batch{}, false, err // if it is not stored, its object is an orphan
	}
	s.makeFirst(ctx, &b, end)
	return b, false, nil
}

// makeFirst makes requests of a batch in the call that makes the batch, until the time end. After an error, which it logs, sweeps make them.
func (s *Service) makeFirst(ctx context.Context, b *lipsync.Batch, end time.Time) {
	if _, err := s.makeLines(ctx, b, end); err != nil {
		s.Log.WarnContext(ctx, "requests of a batch", "batch", b.ID, "error", err)
	}
}

// replayedBatch returns the stored batch with the id of b, Reused if another call made it, or NotFound.
func (s *Service) replayedBatch(ctx context.Context, b lipsync.Batch) (lipsync.Batch, error) {
	earlier, err := s.Store.Batches.ByID(ctx, b.ID)
	if err == nil && earlier.Fingerprint != b.Fingerprint {
		return lipsync.Batch{}, requests.ExplainReplay(failure.New(failure.Reused, "another batch"))
	}
	return earlier, err
}

// fingerprint returns a SHA-256 of the lines, as encodeLines returns them, and of the webhook.
func (p Params) fingerprint(lines []byte) [32]byte {
	text := lines
	if p.WebhookURL != nil {
		text = append(append(bytes.Clone(lines), '\n'), *p.WebhookURL...)
	}
	return sha256.Sum256(text)
}

// batchTargets checks the webhook of a new batch, and returns the webhooks that get its event.
func (s *Service) batchTargets(ctx context.Context, c lipsync.Caller, p Params) (lipsync.Targets, error) {
	named := ""
	if p.WebhookURL != nil {
		if named = *p.WebhookURL; !order.ValidURL(named) {
			return nil, failure.New(failure.Invalid, order.URLRule("webhook_url", *p.WebhookURL))
		}
	}
	webhooks, err := s.Store.Webhooks.Of(ctx, c.Account)
	if err != nil {
		return nil, err
	}
	targets, err := lipsync.NewTargets(named).Resolve(webhooks)
	return targets, s.Limits.Explain(requests.ExplainTargets(err))
}

// Batch returns the caller's batch with the id, with the present states of its lines.
func (s *Service) Batch(ctx context.Context, c lipsync.Caller, id string) (lipsync.Batch, error) {
	b, err := s.findBatch(ctx, c, id)
	if err == nil && b.FinishedAt.IsZero() {
		_, err = s.follow(ctx, &b, linesIn(b.Lines, lipsync.LineQueued, lipsync.LineProcessing))
	}
	return b, err
}

func (s *Service) findBatch(ctx context.Context, c lipsync.Caller, id string) (lipsync.Batch, error) {
	missing := failure.New(failure.NotFound, "batch not found")
	id, ok := lipsync.ParseID(id)
	if !ok {
		return lipsync.Batch{}, missing
	}
	b, err := s.Store.Batches.ByID(ctx, id)
	if failure.CodeOf(err) == failure.NotFound || err == nil && b.Account != c.Account {
		return lipsync.Batch{}, missing
	}
	return b, err
}

// Batches returns up to limit of the caller's batches, newest first: those that are older than the batch with the id before, or all if before
// is "". The states of their lines are those of the last sweep.
func (s *Service) Batches(ctx context.Context, c lipsync.Caller, before string, limit int) ([]lipsync.Batch, error) {
	var from lipsync.Batch
	if before != "" {
		var err error
		if from, err = s.findBatch(ctx, c, before); err != nil {
			return nil, failure.Restate(err, failure.NotFound, "batch not found")
		}
	}
	return s.Store.Batches.List(ctx, c.Account, from, limit)
}

// LineQuery selects lines of a batch.
type LineQuery struct {
	State         string // name of a LineState, "" for any
	Offset, Limit int
}

// Lines returns the lines that the query selects, with their records, and the number of lines on all pages.
func (s *Service) Lines(ctx context.Context, b lipsync.Batch, q LineQuery) (lines []lipsync.LineView, total int, err error) {
	var ids []string
	for n := range len(b.Lines) {
		if q.State != "" && b.State(n).String() != q.State {
			continue
		}
		if total++; total > q.Offset && len(lines) < q.Limit {
			lines = append(lines, b.View(n))
		}
	}
	places := make(map[string]int)
	for i, l := range lines {
		if l.Request != "" {
			places[l.Request], ids = i, append(ids, l.Request)
		}
	}
	if len(ids) == 0 {
		return lines, total, nil
	}
	records, err := s.Store.Requests.Several(ctx, ids)
	for _, r := range records {
		l := &lines[places[r.ID]]
		l.Record, l.Problem = r, r.Failure.Sentence()
	}
	return lines, total, err
}

// CancelBatch cancels the caller's batch: no more requests are made, and those that aren't final are canceled, by sweeps if there are
// many. It returns Finished if all lines are final already, unless the batch was canceled before.
func (s *Service) CancelBatch(ctx context.Context, c lipsync.Caller, id string) (lipsync.Batch, error) {
	end := s.Now().Add(makeTime)
	ctx, cancel := context.WithTimeout(ctx, batchTime)
	defer cancel()
	for range cancelTries {
		b, err := s.Batch(ctx, c, id)
		switch {
		case err != nil:
			return lipsync.Batch{}, err
		case b.CanceledAt.IsZero() && b.Final():
			return lipsync.Batch{}, failure.New(failure.Finished, "batch is already finished")
		case !b.CanceledAt.IsZero():
			return b, nil
		}
		b.CanceledAt = lipsync.StoredTime(s.Now())
		switch err := s.swapBatch(ctx, &b); failure.CodeOf(err) {
		case "":
			if err := s.closeLines(ctx, &b, end); err != nil { // sweeps go on
				s.Log.WarnContext(ctx, "cancel requests of a batch", "batch", b.ID, "error", err)
			}
			return b, nil
		case failure.Conflict: // a sweep was faster
		default:
			return lipsync.Batch{}, err
		}
	}
	return lipsync.Batch{}, failure.RateLimit(0, errors.New("the batch changes all the time"))
}

// swapBatch stores the batch, unless another process has changed it.
func (s *Service) swapBatch(ctx context.Context, b *lipsync.Batch) error {
	if err := s.Store.Batches.Swap(ctx, *b); err != nil {
		return err
	}
	b.Version++
	return nil
}
