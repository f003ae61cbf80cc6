// Package container reads and writes the parts of containers that this program handles itself: the blocks of sound in Matroska, the boxes of MP4
// in outputs, and the header of a WAV. It imports nothing of this repository.
package container

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
)

// Blocks reads the blocks of streams in Matroska (RFC 9559), as ffmpeg writes it to a pipe: without lacing.
type Blocks struct {
	r       *bufio.Reader
	most    uint64 // bytes of a block
	cluster int64  // time of the cluster
	data    []byte // of the last block
}

// The elements of Matroska that Blocks reads. It skips all others.
const (
	segmentID, clusterID, timeID = 0x18538067, 0x1F43B675, 0xE7
	groupID, blockID, simpleID   = 0xA0, 0xA1, 0xA3
)

// NewBlocks returns a reader of the blocks in r, of at most most bytes each.
func NewBlocks(r io.Reader, most uint64) *Blocks {
	return &Blocks{r: bufio.NewReaderSize(r, 1<<16), most: most}
}

var errBlocks = errors.New("no blocks of Matroska")

// Next returns the number of the stream of the next block, from 0, its time in milliseconds, and its data, which stay until the next call. After the last
// block it returns io.EOF.
func (b *Blocks) Next() (stream int, at int64, data []byte, err error) {
	for {
		id, _, err := b.number(4, true)
		if err != nil {
			return 0, 0, nil, err
		}
		size, known, err := b.number(8, false)
		if err != nil {
			return 0, 0, nil, cut(err)
		}
		switch id {
		case segmentID, clusterID, groupID:
		case timeID, blockID, simpleID:
			if size > b.most {
				return 0, 0, nil, fmt.Errorf("%w: a block of %d bytes", errBlocks, size)
			}
			if uint64(cap(b.data)) < size {
				b.data = make([]byte, size)
			}
			data := b.data[:size]
			if _, err := io.ReadFull(b.r, data); err != nil {
				return 0, 0, nil, cut(err)
			}
			if id != timeID {
				const head = 4 // the number of the track in one byte, two bytes of time, and flags
				if size < head || data[0] <= 0x80 {
					return 0, 0, nil, fmt.Errorf("%w: a block without a head", errBlocks)
				}
				return int(data[0]&0x7f) - 1, b.cluster + int64(int16(binary.BigEndian.Uint16(data[1:]))), data[head:], nil
			}
			b.cluster = 0
			for _, digit := range data {
				b.cluster = b.cluster<<8 | int64(digit)
			}
		default:
			if !known || size > 1<<30 {
				return 0, 0, nil, fmt.Errorf("%w: an element %x of %d bytes", errBlocks, id, size)
			}
			if _, err := b.r.Discard(int(size)); err != nil {
				return 0, 0, nil, cut(err)
			}
		}
	}
}

// number reads a number of variable length. An id keeps the bit that tells its length. known is false for a size that is unknown.
func (b *Blocks) number(most int, id bool) (n uint64, known bool, err error) {
	first, err := b.r.ReadByte()
	if err != nil {
		return 0, false, err
	}
	length := bits.LeadingZeros8(first) + 1
	if length > most {
		return 0, false, fmt.Errorf("%w: a number of %d bytes", errBlocks, length)
	}
	n = uint64(first)
	if !id {
		n &= 1<<(8-length) - 1
	}
	for range length - 1 {
		next, err := b.r.ReadByte()
		if err != nil {
			return 0, false, cut(err)
		}
		n = n<<8 | uint64(next)
	}
	return n, id || n != 1<<(7*length)-1, nil
}

// cut returns the error of a stream that ends within an element.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
