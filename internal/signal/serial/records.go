package serial

import (
	"bytes"
	"fmt"
	"os"
	"sync"
)

// Records keeps values in a file, so that many of them take no memory. Each has the same size there. Values may be read at once, but not
// while one of them is written.
type Records[T any] struct {
	file    *os.File
	from    int64 // where they begin in the file
	code    func(*Coder, *T)
	size    int // of each, in bytes
	n       int
	buffers sync.Pool // of *record
}

// record is one value as it is in the file.
type record struct {
	bytes  []byte
	reader bytes.Reader
	writer bytes.Buffer
	coder  Coder
}

// NewRecords returns no records, in a file from a place on. The code of a value has the same size for each.
func NewRecords[T any](file *os.File, from int64, code func(*Coder, *T)) *Records[T] {
	r := &Records[T]{file: file, from: from, code: code, size: Size(code)}
	r.buffers.New = func() any { return &record{bytes: make([]byte, r.size)} }
	return r
}

// Size returns the size in bytes of the code of a value, if it is the same for each.
func Size[T any](code func(*Coder, *T)) int {
	var zero T
	r := record{}
	r.write(func(c *Coder) { code(c, &zero) })
	return r.writer.Len()
}

// write puts a value into the writer.
func (b *record) write(code func(*Coder)) {
	b.writer.Reset()
	b.coder = Coder{w: &b.writer}
	code(&b.coder)
}

// Len returns the number of values.
func (r *Records[T]) Len() int { return r.n }

// End returns the place in the file after the values.
func (r *Records[T]) End() int64 { return r.from + int64(r.n)*int64(r.size) }

// Add adds a value, and returns its number.
func (r *Records[T]) Add(v *T) (int, error) {
	if err := r.Set(r.n, v); err != nil {
		return 0, err
	}
	r.n++
	return r.n - 1, nil
}

// Set replaces a value.
func (r *Records[T]) Set(i int, v *T) error {
	b := r.buffers.Get().(*record)
	defer r.buffers.Put(b)
	b.write(func(c *Coder) { r.code(c, v) })
	if b.writer.Len() != r.size {
		return fmt.Errorf("serial: a record of %d bytes among those of %d", b.writer.Len(), r.size)
	}
	_, err := r.file.WriteAt(b.writer.Bytes(), r.from+int64(i)*int64(r.size))
	return err
}

// Get reads a value.
func (r *Records[T]) Get(i int, v *T) error {
	b := r.buffers.Get().(*record)
	defer r.buffers.Put(b)
	if _, err := r.file.ReadAt(b.bytes, r.from+int64(i)*int64(r.size)); err != nil {
		return err
	}
	b.reader.Reset(b.bytes)
	b.coder = Coder{r: &b.reader}
	r.code(&b.coder, v)
	return b.coder.err
}
