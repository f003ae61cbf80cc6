package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
)

// IndexedLast reports whether an MP4 or MOV has its index after its media, so that players can't begin before they have all of it.
func IndexedLast(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	for at := int64(0); ; {
		var box [16]byte // size and type, and a long size
		if _, err := file.ReadAt(box[:], at); err != nil && err != io.EOF {
			return false, err
		}
		size := int64(binary.BigEndian.Uint32(box[:]))
		switch kind := string(box[4:8]); {
		case kind == "moov":
			return false, nil
		case kind == "mdat" || size < 8 && size != 1:
			return true, nil
		case size == 1:
			size = int64(binary.BigEndian.Uint64(box[8:]))
		}
		at += max(size, 8)
	}
}

// PacketSizes returns the sizes of the packets in a small MP4, by the box stsz (ISO/IEC 14496-12, 8.7.3.2).
func PacketSizes(path string) ([]uint32, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	_, box, found := bytes.Cut(file, []byte("stsz"))
	if !found || len(box) < 12 {
		return nil, errors.New("a sample lists no packets")
	}
	sizes := make([]uint32, min(binary.BigEndian.Uint32(box[8:]), uint32(len(box)-12)/4))
	same := binary.BigEndian.Uint32(box[4:])
	for i := range sizes {
		if sizes[i] = same; same == 0 {
			sizes[i] = binary.BigEndian.Uint32(box[12+4*i:])
		}
	}
	return sizes, nil
}
