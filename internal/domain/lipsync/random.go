package lipsync

import (
	"encoding/binary"
	"io"
)

// RandomBelow returns a random number from 0 to n-1, and 0 if n is less than 2.
func RandomBelow(source io.Reader, n int) int {
	var random [8]byte
	if n < 2 {
		return 0
	}
	if _, err := io.ReadFull(source, random[:]); err != nil {
		return 0
	}
	return int(binary.BigEndian.Uint64(random[:]) % uint64(n))
}

// RandomByte returns a random number from 0 to 255: the largest one if there is none.
func RandomByte(source io.Reader) byte {
	var random [1]byte
	if _, err := source.Read(random[:]); err != nil {
		return 255
	}
	return random[0]
}
