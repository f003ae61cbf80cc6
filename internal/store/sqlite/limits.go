package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// openOfAccount counts the open requests of a kind of an account, up to a limit.
const openOfAccount = `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ? AND kind = ? AND ` + isOpen + ` LIMIT ?)`

// checkLimits returns OpenLimit or StorageLimit if the account of a new request has reached one of the limits.
func checkLimits(ctx context.Context, tx *sql.Tx, r lipsync.Request, limits lipsync.Limits) error {
	if limits.Open > 0 {
		var open int
		err := tx.QueryRowContext(ctx, openOfAccount, r.Account, r.Kind, limits.Open).Scan(&open)
		if err != nil {
			return err
		}
		if open >= limits.Open {
			return failure.New(failure.OpenLimit, "too many open requests")
		}
	}
	return checkStored(ctx, tx, r.Account, r.CreatedAt, 1, limits)
}

// checkStored returns StorageLimit if the account may not store the additional bytes.
func checkStored(ctx context.Context, tx *sql.Tx, account string, now time.Time, more int64, limits lipsync.Limits) error {
	if limits.Stored == 0 {
		return nil
	}
	var stored int64
	err := tx.QueryRowContext(ctx, storedBytes, account, firstStored(now, limits.Keep.OutputDays()), firstStored(now, limits.Keep.RecordDays())).Scan(&stored)
	if err != nil {
		return err
	}
	if stored+more > limits.Stored {
		return failure.New(failure.StorageLimit, "too many bytes stored")
	}
	return nil
}

// storedBytes adds up the bytes of the account ?1: of its uploads, of outputs from the day ?2 on, and of records from the earlier day ?3 on. It
// names the kinds, so that the index finds the days.
var storedBytes = `SELECT ifnull((SELECT size FROM uploaded WHERE account = ?1), 0) +
	(SELECT ifnull(sum(records + iif(day >= ?2, size, 0)), 0) FROM days WHERE account = ?1 AND kind IN (` + quotedKinds() + `) AND day >= ?3)`

func quotedKinds() string {
	var all []string
	for _, kind := range append(lipsync.Kinds(), batchKind) {
		all = append(all, "'"+string(kind)+"'")
	}
	return strings.Join(all, ", ")
}

// firstStored returns the first day of which something counts as stored at now that counts for some days.
func firstStored(now time.Time, days int) int64 {
	return now.Unix()/secondsOfDay - int64(days) + 1
}

func (s requests) Stored(ctx context.Context, account string, now time.Time, keep lipsync.Retention) (int64, error) {
	return one(ctx, s.Store, "stored", scanValue[int64], storedBytes, account, firstStored(now, keep.OutputDays()), firstStored(now, keep.RecordDays()))
}
