package sqlite

import (
	"context"
	"database/sql"

	"lipsync/internal/domain/lipsync"
)

type speeds struct{ *Store }

func (s speeds) Note(ctx context.Context, engine string, c lipsync.Class, n lipsync.Speed) error {
	return s.update(ctx, "note_speed", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO speeds (engine, class, requests, size, took, inverse, pace) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, size = size + excluded.size, took = took + excluded.took,
				inverse = inverse + excluded.inverse, pace = pace + excluded.pace`,
			engine, c, n.Requests, n.Size, n.Took.Microseconds(), n.Inverse, n.Pace)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE speeds SET requests = requests - requests / 2, size = size - size / 2, took = took - took / 2,
				inverse = inverse - inverse / 2, pace = pace - pace / 2
			WHERE engine = ? AND class = ? AND requests > ?`, engine, c, lipsync.RecentWork)
		return err
	})
}

func (s speeds) All(ctx context.Context) (lipsync.Measured, error) {
	all := lipsync.Measured{}
	_, err := many(ctx, s.Store, "speeds", func(columns row) (of lipsync.EngineClass, err error) {
		var n lipsync.Speed
		err = columns.Scan(&of.Engine, &of.Class, &n.Requests, &n.Size, span{&n.Took}, &n.Inverse, &n.Pace)
		all[of] = n
		return of, err
	}, "SELECT engine, class, requests, size, took, inverse, pace FROM speeds")
	return all, err
}
