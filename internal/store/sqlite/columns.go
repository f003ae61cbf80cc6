package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// micros returns a time as microseconds since 1970, for a column; 0 for the zero time.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant reads and writes a column with a time in microseconds since 1970.
type instant struct{ t *time.Time }

func (i instant) Value() (driver.Value, error) { return micros(*i.t), nil }

func (i instant) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("time column holds %T", src)
	}
	*i.t = time.Time{}
	if us != 0 {
		*i.t = time.UnixMicro(us).UTC()
	}
	return nil
}

// span reads and writes a column with a duration in microseconds.
type span struct{ d *time.Duration }

func (s span) Value() (driver.Value, error) { return s.d.Microseconds(), nil }

func (s span) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("column of a length holds %T", src)
	}
	*s.d = time.Duration(us) * time.Microsecond
	return nil
}

// digest reads and writes a column with a SHA-256, which may be empty.
type digest struct{ sum *[sha256.Size]byte }

func (d digest) Value() (driver.Value, error) {
	if *d.sum == [sha256.Size]byte{} {
		return []byte{}, nil
	}
	return d.sum[:], nil
}

func (d digest) Scan(src any) error {
	b, ok := src.([]byte)
	if !ok || len(b) != 0 && len(b) != len(d.sum) {
		return fmt.Errorf("column of a digest holds %T of %d bytes", src, len(b))
	}
	*d.sum = [sha256.Size]byte{}
	copy(d.sum[:], b)
	return nil
}

// details reads and writes a column with the details of a failure.
type details struct{ d *failure.Details }

func (d details) Value() (driver.Value, error) { return d.d.Text(), nil }

func (d details) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of a failure's details holds %T", src)
	}
	*d.d, err = failure.ParseDetails(text)
	return err
}

// syncScore reads and writes a column with a sync score.
type syncScore struct{ s *order.SyncScore }

func (s syncScore) Value() (driver.Value, error) { return s.s.Text(), nil }

func (s syncScore) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of a sync score holds %T", src)
	}
	*s.s, err = order.ParseSyncScore(text)
	return err
}

// tracks reads and writes a column with the speech tracks of a request.
type tracks struct{ t *lipsync.Tracks }

func (t tracks) Value() (driver.Value, error) { return t.t.Text(), nil }

func (t tracks) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of speech tracks holds %T", src)
	}
	*t.t, err = lipsync.ParseTracks(text)
	return err
}

// targets reads and writes a column with the webhooks of a request.
type targets struct{ t *lipsync.Targets }

func (t targets) Value() (driver.Value, error) { return t.t.Text(), nil }

func (t targets) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of targets holds %T", src)
	}
	*t.t, err = lipsync.ParseTargets(text)
	return err
}

// options reads and writes a column with the options of a request.
type options struct{ o *order.Options }

func (o options) Value() (driver.Value, error) { return o.o.Text(), nil }

func (o options) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of options holds %T", src)
	}
	*o.o, err = order.ParseOptions(text)
	return err
}
