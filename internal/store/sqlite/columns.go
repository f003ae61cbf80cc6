package sqlite

import (
	"crypto/sha256"
	"database/sql/driver"
	"fmt"
	"time"
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

// written reads and writes a column with a value that has a text.
type written[T interface{ Text() string }] struct {
	value *T
	parse func(text string) (T, error)
}

// asText returns a column with the text of the value, which parse reads.
func asText[T interface{ Text() string }](value *T, parse func(text string) (T, error)) written[T] {
	return written[T]{value, parse}
}

func (w written[T]) Value() (driver.Value, error) { return (*w.value).Text(), nil }

func (w written[T]) Scan(src any) (err error) {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("column of %T holds %T", w.value, src)
	}
	*w.value, err = w.parse(text)
	return err
}
