package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// noteEvery is the time after which calls are written together, so that no call waits for the disk.
const noteEvery = time.Second

// mostPending is the largest number of calls that wait to be written. Later ones are lost.
const mostPending = 10_000

// calls keeps calls in memory until they are written together.
type calls struct {
	*Store
	writing sync.Mutex // is held while some are written, so that their order stays

	mu      sync.Mutex
	pending []notedCall
}

// notedCall is a call that isn't written yet.
type notedCall struct {
	account string
	lipsync.Call
}

func (s *calls) Note(_ context.Context, account string, c lipsync.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		time.AfterFunc(noteEvery, func() { _ = s.flush(context.Background()) }) // the observer learns of the error; the calls are lost
	}
	if len(s.pending) < mostPending {
		s.pending = append(s.pending, notedCall{account, c})
	}
	return nil
}

// flush writes the calls that wait, and removes those before the last lipsync.MostCalls of their accounts.
func (s *calls) flush(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	all := s.pending
	s.pending = nil
	s.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	return s.update(ctx, "note_calls", func(ctx context.Context, tx *sql.Tx) error {
		accounts := map[string]bool{}
		for _, c := range all {
			if _, err := tx.ExecContext(ctx, "INSERT INTO calls (account, at, id, method, route, status, code, key_id, request) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
				c.account, micros(c.At), c.ID, c.Method, c.Route, c.Status, c.Code, c.KeyID, c.RequestID); err != nil {
				return err
			}
			accounts[c.account] = true
		}
		for _, account := range slices.Sorted(maps.Keys(accounts)) {
			if _, err := tx.ExecContext(ctx, "DELETE FROM calls WHERE account = ?1 AND n <= (SELECT n FROM calls WHERE account = ?1 ORDER BY n DESC LIMIT 1 OFFSET ?2)",
				account, lipsync.MostCalls); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *calls) List(ctx context.Context, account string, now time.Time) ([]lipsync.Call, error) {
	_ = s.flush(ctx) // the others are shown, even if the disk is full
	return many(ctx, s.Store, "calls", func(columns row) (c lipsync.Call, err error) {
		err = columns.Scan(instant{&c.At}, &c.ID, &c.Method, &c.Route, &c.Status, &c.Code, &c.KeyID, &c.RequestID)
		return c, err
	}, "SELECT at, id, method, route, status, code, key_id, request FROM calls WHERE account = ? AND at > ? ORDER BY n DESC LIMIT ?",
		account, micros(now.Add(-lipsync.CallLife)), lipsync.MostCalls)
}

func (s *calls) Erase(ctx context.Context, account string) (more bool, err error) {
	if err := s.flush(ctx); err != nil {
		return true, err
	}
	return false, s.changeRow(ctx, "erase_calls", nil, "DELETE FROM calls WHERE account = ?", account)
}

func (s *calls) Expire(ctx context.Context, before time.Time) error {
	n, err := one(ctx, s.Store, "expire_calls", scanValue[int], "SELECT count(*) FROM calls WHERE at < ?", micros(before))
	if err != nil || n == 0 { // no write without need: the disk may be full
		return err
	}
	return s.changeRow(ctx, "expire_calls", nil, "DELETE FROM calls WHERE at < ?", micros(before))
}
