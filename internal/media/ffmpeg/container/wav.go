package container

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// WAVHeaderBytes is the size of the header of a WAV.
const WAVHeaderBytes = 44

// WAVHeader returns the header of a WAV with size bytes of 16-bit samples, or of floats of 32 bits (Multimedia Programming Interface and Data
// Specifications 1.0, IBM and Microsoft, 1991, and its update of 1994). The size math.MaxUint32 stands for one that isn't known.
func WAVHeader(channels uint16, rate, size uint32, floats bool) []byte {
	kind, bits := uint16(1), uint16(16)
	if floats {
		kind, bits = 3, 32
	}
	b := append([]byte(nil), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, min(size, math.MaxUint32-WAVHeaderBytes+8)+WAVHeaderBytes-8)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // bytes until the samples' own header
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels*bits/8)) // bytes a second
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)              // bytes of a sample of all channels
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, size)
}

// ReadWAV reads the header of a WAV that this program or ffmpeg wrote, as far as the number of channels and the sample rate in Hz.
func ReadWAV(r io.Reader) (channels, rate int, err error) {
	var b [WAVHeaderBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, 0, fmt.Errorf("the header of a WAV: %w", err)
	}
	if string(b[:4])+string(b[8:16]) != "RIFFWAVEfmt " {
		return 0, 0, fmt.Errorf("no WAV: %q", b[:16])
	}
	return int(binary.LittleEndian.Uint16(b[22:])), int(binary.LittleEndian.Uint32(b[24:])), nil
}
