// Package serial writes values to a stream in a binary form, and reads them again. One function of a type does both, so the two can't
// differ:
//
//	func (p *place) code(c *serial.Coder) {
//		c.Int(&p.frame)
//		c.Floats(&p.x, &p.y)
//	}
//
// The form has no description of itself: who reads it must know who wrote it.
package serial

import (
	"bufio"
	"encoding/binary"
	"errors"
	"hash"
	"hash/crc32"
	"io"
	"math"
)

// ErrCorrupt is the error of a stream that Write did not write, or that has changed since.
var ErrCorrupt = errors.New("serial: the stream is corrupt")

// Coder writes values, or reads them into the same variables. After an error it does nothing.
type Coder struct {
	w       io.Writer // nil: the coder reads
	r       io.Reader
	sum     hash.Hash32 // of all bytes so far; nil: it isn't needed
	err     error
	scratch [8]byte
}

// Write writes the values that f names, and then a checksum of them.
func Write(w io.Writer, f func(*Coder)) error {
	out := bufio.NewWriterSize(w, 1<<16)
	c := &Coder{w: out, sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	f(c)
	sum := uint64(c.sum.Sum32())
	c.number(&sum)
	if c.err != nil {
		return c.err
	}
	return out.Flush()
}

// Read reads the values that f names. It returns ErrCorrupt if the stream doesn't have exactly these values and their checksum; then f has
// filled its variables with anything. An error of r is returned as it is.
func Read(r io.Reader, f func(*Coder)) error {
	in := bufio.NewReaderSize(r, 1<<16)
	c := &Coder{r: in, sum: crc32.New(crc32.MakeTable(crc32.Castagnoli))}
	f(c)
	want := uint64(c.sum.Sum32())
	var sum uint64
	c.number(&sum)
	if c.err == nil && sum != want {
		return ErrCorrupt
	}
	if c.err == nil {
		if _, err := in.ReadByte(); err != io.EOF {
			return errors.Join(ErrCorrupt, err)
		}
	}
	return c.err
}

// Reading reports whether the coder reads.
func (c *Coder) Reading() bool { return c.w == nil }

// Failed reports whether the coder does nothing any more.
func (c *Coder) Failed() bool { return c.err != nil }

// Fail makes the coder fail with an error, if it isn't nil.
func (c *Coder) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Check makes the coder fail with ErrCorrupt unless the values that it read are possible.
func (c *Coder) Check(possible bool) {
	if !possible {
		c.Fail(ErrCorrupt)
	}
}

// Bytes codes the bytes of b, whose number doesn't change.
func (c *Coder) Bytes(b []byte) {
	if c.err != nil {
		return
	}
	if c.w != nil {
		_, c.err = c.w.Write(b)
	} else if _, c.err = io.ReadFull(c.r, b); c.err == io.EOF || c.err == io.ErrUnexpectedEOF {
		c.err = ErrCorrupt
	}
	if c.sum != nil {
		c.sum.Write(b)
	}
}

func (c *Coder) number(v *uint64) {
	binary.LittleEndian.PutUint64(c.scratch[:], *v)
	c.Bytes(c.scratch[:])
	*v = binary.LittleEndian.Uint64(c.scratch[:])
}

// Int codes a whole number.
func (c *Coder) Int(v *int) {
	n := uint64(*v)
	c.number(&n)
	*v = int(n)
}

// Int32 codes a whole number.
func (c *Coder) Int32(v *int32) {
	n := uint32(*v)
	c.Uint32(&n)
	*v = int32(n)
}

// Bool codes a truth value.
func (c *Coder) Bool(v *bool) {
	b := c.scratch[:1]
	if b[0] = 0; *v {
		b[0] = 1
	}
	c.Bytes(b)
	*v = b[0] == 1
}

// Uint32 codes a whole number.
func (c *Coder) Uint32(v *uint32) {
	b := c.scratch[:4]
	binary.LittleEndian.PutUint32(b, *v)
	c.Bytes(b)
	*v = binary.LittleEndian.Uint32(b)
}

// Floats codes numbers.
func (c *Coder) Floats(all ...*float32) {
	for _, v := range all {
		n := math.Float32bits(*v)
		c.Uint32(&n)
		*v = math.Float32frombits(n)
	}
}

// Slice codes a slice, each element by code. A slice of no elements is read as nil. The memory for it grows while its elements are read, so a
// wrong length takes no more than a few times the size of the stream.
func Slice[T any](c *Coder, s *[]T, code func(*T)) {
	n := len(*s)
	c.Int(&n)
	c.Check(n >= 0)
	if c.Reading() {
		*s = nil
	}
	for i := 0; i < n && !c.Failed(); i++ {
		if c.Reading() {
			var zero T
			*s = append(*s, zero)
		}
		code(&(*s)[i])
	}
}
