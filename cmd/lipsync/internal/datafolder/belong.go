package datafolder

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"time"

	"lipsync/internal/domain/clock"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/sqlite"
)

// Belong returns an error if the media don't belong to the database: it is new, of another folder, or older than the media. It would
// not name them, and they would be deleted as media without a record.
func (d *Folder) Belong(ctx context.Context) error {
	known, err := d.Store.Stamps(ctx)
	if err != nil {
		return err
	}
	stamp, err := d.Objects.Stamp()
	if err != nil || known.Has(stamp) {
		return err
	}
	database, objects := filepath.Join(d.Dir, DatabaseFile), filepath.Join(d.Dir, objectsFolder)
	if known.Stamp != "" {
		if stamp == "" { // the operator deleted it, as the next message says
			return nil
		}
		return fmt.Errorf("the media in %s belong to another database than %s, or to a newer state of it: put that one back, or a backup; or delete %s, then the media that %s doesn't name are deleted a day later",
			objects, database, filepath.Join(objects, disk.StampFile), database)
	}
	empty, err := d.Objects.Empty(ctx)
	if err != nil || empty {
		return err
	}
	return fmt.Errorf("the database %s is new, but there are media in %s: put the database back, or a backup; or move %s away", database, objects, objects)
}

// StampNew stamps a new database before there are media, so that both belong together even if this process is killed soon.
func (d *Folder) StampNew(ctx context.Context) error {
	known, err := d.Store.Stamps(ctx)
	if err != nil || known.Stamp != "" {
		return err
	}
	return d.Stamp(ctx)
}

// Stamp gives the database and the media a new stamp, which a copy of the database from before doesn't have.
func (d *Folder) Stamp(ctx context.Context) error {
	previous, err := d.Objects.Stamp()
	if err != nil {
		return err
	}
	n := sqlite.Stamps{Stamp: rand.Text(), Previous: previous, At: time.Now()}
	if err := d.Store.PutStamps(ctx, n); err != nil {
		return err
	}
	return d.Objects.PutStamp(ctx, n.Stamp)
}

// Doubt returns what doubts the clock, by the time of the last stamp.
func (d *Folder) Doubt(ctx context.Context, elapsed func() time.Duration, warn func(ahead time.Duration)) (*clock.Doubt, error) {
	known, err := d.Store.Stamps(ctx)
	return &clock.Doubt{Now: time.Now, Elapsed: elapsed, Newest: known.At, Warn: warn}, err
}
