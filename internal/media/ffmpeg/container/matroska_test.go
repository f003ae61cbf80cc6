package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
)

// element returns an element of Matroska. A size below 0 is unknown.
func element(id []byte, content ...[]byte) []byte {
	all := bytes.Join(content, nil)
	return append(binary.BigEndian.AppendUint32(append(bytes.Clone(id), 0x08), uint32(len(all)))[:len(id)+5], all...)
}

// FuzzBlocks reads blocks of Matroska, and of anything else.
func FuzzBlocks(f *testing.F) {
	block := func(number byte, at int16, data string) []byte {
		return element([]byte{0xA3}, []byte{0x80 | number}, binary.BigEndian.AppendUint16(nil, uint16(at)), []byte{0x80}, []byte(data))
	}
	good := append([]byte{0x18, 0x53, 0x80, 0x67, 0xFF}, // a segment of unknown size
		element([]byte{0x1F, 0x43, 0xB6, 0x75}, element([]byte{0xE7}, []byte{1, 0}), block(1, 0, "abc"), element([]byte{0xEC}, []byte{0}), block(2, -3, "de"))...)
	b := NewBlocks(bytes.NewReader(good), 1<<20)
	for _, want := range []struct {
		stream int
		at     int64
		data   string
	}{{0, 256, "abc"}, {1, 253, "de"}} {
		if stream, at, data, err := b.Next(); err != nil || stream != want.stream || at != want.at || string(data) != want.data {
			f.Fatalf("got %q of %d at %d (%v), want %+v", data, stream, at, err, want)
		}
	}
	if _, _, _, err := b.Next(); err != io.EOF {
		f.Fatalf("got %v, want %v", err, io.EOF)
	}
	if _, _, _, err := NewBlocks(bytes.NewReader(good), 5).Next(); !errors.Is(err, errBlocks) {
		f.Fatalf("a block of 7 bytes where most is 5: got %v, want %v", err, errBlocks)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{0xA3, 0xFF})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBlocks(bytes.NewReader(data), 1<<20)
		for got := 0; ; {
			stream, _, block, err := b.Next()
			if err != nil {
				return
			}
			if stream < 0 || stream > 126 {
				t.Fatalf("got a block of stream %d", stream)
			}
			if got += len(block); got > len(data) {
				t.Fatalf("got %d bytes of %d", got, len(data))
			}
		}
	})
}
