package hostile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"lipsync/internal/domain/failure"
)

// photos returns a damaged picture, one with a wrong header, or one that takes long to decode.
func photos(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const v = failure.Video
	codec := []string{"png", "mjpeg", "libwebp"}[m.n/7%3]
	photo := func(codec string) []byte {
		return m.ffmpeg(t, "-i", m.face, "-frames:v", "1", "-c:v", codec, "-f", "image2pipe")
	}
	switch m.n % 7 {
	case 0:
		b := photo(codec)
		at := 13 + m.IntN(len(b)-13)
		return v, b[:at], fmt.Sprintf("%s, cut at %d", codec, at)
	case 1:
		b := photo(codec)
		for range 1 + m.IntN(20) {
			b[13+m.IntN(len(b)-13)] = byte(m.Uint32())
		}
		return v, b, codec + " with changed bytes"
	case 2:
		b := photo("png")
		copy(b[16:], big32(uint32(m.lie()), 4096))
		return v, b, "PNG of another width"
	case 3:
		b := photo("png")
		copy(b[16:], big32(4096, 4096))
		return v, b, "PNG of 4096 × 4096, with few pixels"
	case 4:
		text := slices.Concat([]byte("zTXtk\x00\x00"), deflate(t, 90<<20))
		return v, slices.Insert(photo("png"), 33, slices.Concat(big32(uint32(len(text)-4)), text, big32(0))...), "PNG with a text of 90 MiB"
	case 5:
		exif := slices.Concat([]byte("Exif\x00\x00MM\x00*"), big32(8), []byte("\xff\xff\x01\x12\x00\x03"), big32(uint32(m.lie()), uint32(m.lie())))
		marker := binary.BigEndian.AppendUint16([]byte("\xff\xe1"), uint16(len(exif)+2))
		return v, slices.Insert(photo("mjpeg"), 2, slices.Concat(marker, exif)...), "JPEG with a wrong EXIF"
	}
	return v, scans(4000), "JPEG of 4000 scans"
}

// scans returns a progressive JPEG of 4096 × 4096 without details (ITU-T T.81). Each scan says for all 512 × 512 blocks that nothing
// changes: in runs of 32767 blocks, so that a scan has a few bytes.
func scans(n int) []byte {
	segment := func(marker byte, content ...byte) []byte {
		return append([]byte{0xff, marker, 0, byte(len(content) + 2)}, content...)
	}
	one := append([]byte{1}, make([]byte, 15)...) // lengths of Huffman codes: one code, of one bit, which is 0
	const longest = 0xe0                          // the code's meaning: a run of 2^14 blocks, and as many more as the next 14 bits say
	scan := segment(0xda, 1, 1, 0, 1, 63, 0)
	// A code of 1 bit and 14 bits of 1, 9 times; then bits of 1 as padding. A byte of 0xff has a 0 after it.
	var bits uint64
	var data []byte
	for i := range 9 * 15 {
		bits <<= 1
		if i%15 != 0 {
			bits |= 1
		}
		if i%8 == 7 {
			data = append(data, byte(bits))
		}
	}
	data = append(data, byte(bits<<1)|1)
	data = bytes.ReplaceAll(data, []byte{0xff}, []byte{0xff, 0})
	return slices.Concat([]byte{0xff, 0xd8},
		segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...),
		segment(0xc2, 8, 4096>>8, 0, 4096>>8, 0, 1, 1, 0x11, 0),
		segment(0xc4, slices.Concat([]byte{0x10}, one, []byte{longest})...),
		bytes.Repeat(slices.Concat(scan, data), n), []byte{0xff, 0xd9})
}
