package container

import "encoding/binary"

// WAVHeaderBytes is the size of the header of a WAV.
const WAVHeaderBytes = 44

// WAVHeader returns the header of a WAV with size bytes of 16-bit samples (Multimedia Programming Interface and Data
// Specifications 1.0, IBM and Microsoft, 1991).
func WAVHeader(channels uint16, rate, size uint32) []byte {
	const pcm, bits = 1, 16
	b := append([]byte(nil), "RIFF"...)
	b = binary.LittleEndian.AppendUint32(b, WAVHeaderBytes-8+size)
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16) // bytes until the samples' own header
	b = binary.LittleEndian.AppendUint16(b, pcm)
	b = binary.LittleEndian.AppendUint16(b, channels)
	b = binary.LittleEndian.AppendUint32(b, rate)
	b = binary.LittleEndian.AppendUint32(b, rate*uint32(channels)*bits/8) // bytes a second
	b = binary.LittleEndian.AppendUint16(b, channels*bits/8)              // bytes of a sample of all channels
	b = binary.LittleEndian.AppendUint16(b, bits)
	b = append(b, "data"...)
	return binary.LittleEndian.AppendUint32(b, size)
}
