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
	block := func(at int16, data string) []byte {
		return element([]byte{0xA3}, []byte{0x81}, binary.BigEndian.AppendUint16(nil, uint16(at)), []byte{0x80}, []byte(data))
	}
	good := append([]byte{0x18, 0x53, 0x80, 0x67, 0xFF}, // a segment of unknown size
		element([]byte{0x1F, 0x43, 0xB6, 0x75}, element([]byte{0xE7}, []byte{1, 0}), block(0, "abc"), element([]byte{0xEC}, []byte{0}), block(-3, "de"))...)
	b := NewBlocks(bytes.NewReader(good), 1<<20)
	for _, want := range []struct {
		at   int64
		data string
	}{{256, "abc"}, {253, "de"}} {
		if at, data, err := b.Next(); err != nil || at != want.at || string(data) != want.data {
			f.Fatalf("got %q at %d (%v), want %q at %d", data, at, err, want.data, want.at)
		}
	}
	if _, _, err := b.Next(); err != io.EOF {
		f.Fatalf("got %v, want %v", err, io.EOF)
	}
	if _, _, err := NewBlocks(bytes.NewReader(good), 5).Next(); !errors.Is(err, errBlocks) {
		f.Fatalf("a block of 7 bytes where most is 5: got %v, want %v", err, errBlocks)
	}
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add([]byte{0xA3, 0xFF})
	f.Fuzz(func(t *testing.T, data []byte) {
		b := NewBlocks(bytes.NewReader(data), 1<<20)
		for got := 0; ; {
			_, block, err := b.Next()
			if err != nil {
				return
			}
			if got += len(block); got > len(data) {
				t.Fatalf("got %d bytes of %d", got, len(data))
			}
		}
	})
}
