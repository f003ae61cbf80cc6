package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"lipsync/internal/lipsync"
)

// openOfAccount counts the open requests of an account, up to a limit.
const openOfAccount = `SELECT count(*) FROM (SELECT 1 FROM requests INDEXED BY requests_open_of_account
	WHERE account = ? AND ` + isOpen + ` LIMIT ?)`

// checkLimits returns OpenLimit or StorageLimit if the account has reached one of the limits.
func checkLimits(ctx context.Context, tx *sql.Tx, account string, now time.Time, limits lipsync.Limits) error {
	if limits.Open > 0 {
		var open int
		err := tx.QueryRowContext(ctx, openOfAccount, account, limits.Open).Scan(&open)
		if err != nil {
			return err
		}
		if open >= limits.Open {
			return refusal(lipsync.OpenLimit, "too many open requests")
		}
	}
	return checkStored(ctx, tx, account, now, 1, limits)
}

// checkStored returns StorageLimit if the account may not store the additional bytes.
func checkStored(ctx context.Context, tx *sql.Tx, account string, now time.Time, more int64, limits lipsync.Limits) error {
	if limits.Stored == 0 {
		return nil
	}
	var uploads, outputs int64
	err := tx.QueryRowContext(ctx, "SELECT size FROM uploaded WHERE account = ?", account).Scan(&uploads)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = tx.QueryRowContext(ctx, "SELECT ifnull(sum(size), 0) FROM days WHERE account = ? AND day > ?",
		account, now.Unix()/secondsOfDay-int64(limits.Keep.OutputDays())).Scan(&outputs)
	if err != nil {
		return err
	}
	if uploads+outputs+more > limits.Stored {
		return refusal(lipsync.StorageLimit, "too many bytes stored")
	}
	return nil
}
