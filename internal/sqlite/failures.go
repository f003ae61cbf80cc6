package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"lipsync/internal/lipsync"
)

// addFailures begins version 7. failure_details are JSON.
const addFailures = `ALTER TABLE requests ADD COLUMN failure TEXT NOT NULL DEFAULT '';
	ALTER TABLE requests ADD COLUMN failure_details TEXT NOT NULL DEFAULT '';
	ALTER TABLE requests ADD COLUMN delays INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE requests ADD COLUMN delayed_since INTEGER NOT NULL DEFAULT 0`

// splitDelays makes version 9: before it all kinds of delays had one beginning.
const splitDelays = `ALTER TABLE requests RENAME COLUMN delayed_since TO unreachable_since;
	ALTER TABLE requests ADD COLUMN missing_since INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE requests ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE requests ADD COLUMN fetching INTEGER NOT NULL DEFAULT 0`

// codeFailures makes version 7: before it there were only sentences, and no delays.
func codeFailures(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, addFailures); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT n, error FROM requests WHERE status = 'failed'")
	type failed struct {
		n        int64
		sentence string
	}
	all, err := collect(rows, err, func(columns row) (f failed, err error) {
		err = columns.Scan(&f.n, &f.sentence)
		return f, err
	})
	if err != nil {
		return err
	}
	for _, r := range all {
		f := lipsync.ParseFailure(r.sentence)
		_, err := tx.ExecContext(ctx, "UPDATE requests SET failure = ?, failure_details = ? WHERE n = ?", f.Code, f.Text(), r.n)
		if err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "ALTER TABLE requests DROP COLUMN error")
	return err
}

// details scans a column of a failure's details.
type details struct{ d *lipsync.Details }

func (d details) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of a failure's details holds %T", src)
	}
	*d.d, err = lipsync.ParseDetails(text)
	return err
}
