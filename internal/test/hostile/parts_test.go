package hostile_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// part is a box, a chunk, an element or a page of a file, from at to end. Its content begins at
// body.
type part struct {
	name          string
	at, body, end int
	sizeAt        int // where its size is written
	size          sizeKind
	leaf          bool // it has no parts of its own
}

// sizeKind is the way in which a part's size is written.
type sizeKind int

const (
	boxSize   sizeKind = iota // 32 bits, big-endian, of the whole box
	chunkSize                 // 32 bits, little-endian, of the body
	varSize                   // EBML: the first set bit gives the number of bytes
	noSize
)

// parts returns the parts of a file, parents before children. It returns none for a format without
// parts.
func parts(b []byte) []part {
	switch {
	case bytes.HasPrefix(b, []byte("RIFF")):
		return chunks(b, 0, len(b))
	case bytes.HasPrefix(b, []byte{0x1a, 0x45, 0xdf, 0xa3}):
		return elements(b, 0, len(b))
	case bytes.HasPrefix(b, []byte("OggS")):
		return marked(b, "OggS")
	case bytes.HasPrefix(b, []byte("fLaC")):
		return blocks(b)
	case len(b) > 8 && string(b[4:8]) == "ftyp":
		return boxes(b, 0, len(b))
	}
	return marked(b, string(b[:2])) // frames of MP3 and AAC all begin the same
}

// boxes returns the boxes of MP4 and QuickTime.
func boxes(b []byte, at, end int) (all []part) {
	// parents has the number of bytes before a box's children.
	parents := map[string]int{
		"moov": 0, "trak": 0, "mdia": 0, "minf": 0, "stbl": 0, "edts": 0, "dinf": 0, "udta": 0, "mvex": 0, "moof": 0, "traf": 0,
		"meta": 4, "stsd": 8, "dref": 8, "avc1": 78, "png ": 78, "mp4a": 28,
	}
	for at+8 <= end {
		size, name := int(binary.BigEndian.Uint32(b[at:])), string(b[at+4:at+8])
		if size < 8 || at+size > end {
			break
		}
		skip, parent := parents[name]
		all = append(all, part{name: name, at: at, body: at + 8, end: at + size, sizeAt: at, leaf: !parent})
		if parent && size >= 8+skip {
			all = append(all, boxes(b, at+8+skip, at+size)...)
		}
		at += size
	}
	return all
}

// chunks returns the chunks of AVI and WAV.
func chunks(b []byte, at, end int) (all []part) {
	for at+8 <= end {
		size, name := int(binary.LittleEndian.Uint32(b[at+4:])), string(b[at:at+4])
		parent := name == "RIFF" || name == "LIST"
		next := min(at+8+size, end)
		all = append(all, part{name: name, at: at, body: at + 8, end: next, sizeAt: at + 4, size: chunkSize, leaf: !parent})
		if parent && size >= 4 {
			all = append(all, chunks(b, at+12, next)...)
		}
		at = next + size%2
	}
	return all
}

// elements returns the elements of Matroska.
func elements(b []byte, at, end int) (all []part) {
	parents := []string{
		"\x1a\x45\xdf\xa3", "\x18\x53\x80\x67", "\x11\x4d\x9b\x74", "\x4d\xbb", "\x15\x49\xa9\x66", "\x16\x54\xae\x6b", "\xae", "\xe0", "\xe1",
		"\x1c\x53\xbb\x6b", "\xbb", "\xb7", "\x1f\x43\xb6\x75", "\xa0", "\x12\x54\xc3\x67", "\x73\x73", "\x67\xc8",
	}
	for at < end {
		idLen, sizeLen := varLen(b, at), varLen(b, at+varLen(b, at))
		body := at + idLen + sizeLen
		if idLen > 4 || sizeLen > 8 || body > end {
			break
		}
		size := int(b[at+idLen]) & (0xff >> sizeLen)
		for _, c := range b[at+idLen+1 : body] {
			size = size<<8 | int(c)
		}
		if size < 0 || size > end-body {
			size = end - body
		}
		name := string(b[at : at+idLen])
		parent := slices.Contains(parents, name)
		all = append(all, part{name: strings.ToUpper(hexName(name)), at: at, body: body, end: body + size, sizeAt: at + idLen, size: varSize, leaf: !parent})
		if parent {
			all = append(all, elements(b, body, body+size)...)
		}
		at = body + size
	}
	return all
}

func hexName(id string) string {
	const digits = "0123456789abcdef"
	var name []byte
	for i := range len(id) {
		name = append(name, digits[id[i]>>4], digits[id[i]&15])
	}
	return string(name)
}

// varLen returns the number of bytes of an EBML number, by its first byte.
func varLen(b []byte, at int) int {
	if at >= len(b) {
		return 9
	}
	n := 1
	for bit := byte(0x80); bit > 0 && b[at]&bit == 0; bit >>= 1 {
		n++
	}
	return n
}

// blocks returns the metadata blocks of FLAC.
func blocks(b []byte) (all []part) {
	for at := 4; at+4 <= len(b); {
		size := int(binary.BigEndian.Uint32(b[at:]) & 0xffffff)
		end := min(at+4+size, len(b))
		all = append(all, part{name: "block", at: at, body: at + 4, end: end, size: noSize, leaf: true})
		if b[at]&0x80 != 0 {
			break
		}
		at = end
	}
	return all
}

// marked returns parts that begin with a mark.
func marked(b []byte, mark string) (all []part) {
	for at := 0; at < len(b); {
		end := len(b)
		if next := bytes.Index(b[at+1:], []byte(mark)); next >= 0 {
			end = at + 1 + next
		}
		all = append(all, part{name: "frame", at: at, body: min(at+len(mark), end), end: end, size: noSize, leaf: true})
		at = end
	}
	return all
}

// setSize writes the size of the part's body.
func (p part) setSize(b []byte, size uint64) {
	switch p.size {
	case boxSize:
		binary.BigEndian.PutUint32(b[p.sizeAt:], uint32(size)+8)
	case chunkSize:
		binary.LittleEndian.PutUint32(b[p.sizeAt:], uint32(size))
	case varSize:
		n := p.body - p.sizeAt
		for i := n - 1; i > 0; i-- {
			b[p.sizeAt+i], size = byte(size), size>>8
		}
		b[p.sizeAt] = 0x80>>(n-1) | byte(size)&(0x7f>>(n-1))
	}
}

// splice replaces b[from:to], and corrects the sizes of the surrounding parts.
func splice(b []byte, from, to int, instead []byte) []byte {
	around := slices.DeleteFunc(parts(b), func(p part) bool { return p.leaf || p.body > from || p.end < to || p.at == from })
	b = slices.Concat(b[:from], instead, b[to:])
	for _, p := range around {
		p.setSize(b, uint64(p.end-p.body+len(instead)-(to-from)))
	}
	return b
}

// find returns the n-th part with the name, modulo their number.
func find(t *testing.T, b []byte, name string, n int) part {
	t.Helper()
	named := slices.DeleteFunc(parts(b), func(p part) bool { return p.name != name })
	if len(named) == 0 {
		t.Fatalf("no part %s found", name)
	}
	return named[n%len(named)]
}

// box makes a box of MP4.
func box(name string, body ...[]byte) []byte {
	content := slices.Concat(body...)
	return slices.Concat(big32(uint32(8+len(content))), []byte(name), content)
}

// element makes an element of Matroska with a size of eight bytes.
func element(id string, body ...[]byte) []byte {
	content := slices.Concat(body...)
	size := binary.BigEndian.AppendUint64(nil, uint64(len(content)))
	size[0] = 1
	return slices.Concat([]byte(id), size, content)
}

func big32(numbers ...uint32) (b []byte) {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return b
}
