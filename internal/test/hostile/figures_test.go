package hostile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"lipsync/internal/domain/failure"
)

// lavfi makes a file from a source of ffmpeg's lavfi.
func (m *maker) lavfi(t *testing.T, source string, args ...string) []byte {
	t.Helper()
	return m.ffmpeg(t, append([]string{"-f", "lavfi", "-i", source}, args...)...)
}

// overwrite writes a big-endian number of width bytes at a place in the n-th part with the name.
func overwrite(t *testing.T, b []byte, name string, n, at, width int, number uint64) []byte {
	t.Helper()
	p := find(t, b, name, n)
	if p.body+at+width > p.end {
		t.Fatalf("%s has no %d bytes at %d", name, width, at)
	}
	copy(b[p.body+at:], binary.BigEndian.AppendUint64(nil, number)[8-width:])
	return b
}

// sides returns a video with large pictures, or with a header that claims so.
func sides(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	grey := func(size string, frames int, args ...string) []byte {
		return m.lavfi(t, fmt.Sprintf("color=gray:s=%s,trim=end_frame=%d", size, frames), args...)
	}
	const v = failure.Video
	switch m.n % 10 {
	case 0:
		b := overwrite(t, m.base(t, "mp4"), "avc1", 0, 24, 4, 1<<32-1)
		return v, b, "MP4 that says 65535 × 65535"
	case 1:
		b := overwrite(t, m.base(t, "matroska"), "B0", 0, 0, 1, 0xff)
		return v, overwrite(t, b, "BA", 0, 0, 1, 0xff), "Matroska that says 255 × 255"
	case 2:
		b := m.base(t, "mov")
		for at := 0; ; at += 4 {
			i := bytes.Index(b[at:], []byte("IHDR"))
			if i < 0 {
				return v, b, "PNG that says 20000 × 20000"
			}
			at += i
			copy(b[at+4:], big32(20000, 20000))
		}
	case 3:
		return v, grey("4096x4096", 30, "-c:v", "ffv1", "-f", "matroska"), "4096 × 4096, FFV1"
	case 4:
		return v, grey("8190x8190", 5, "-c:v", "ffv1", "-f", "matroska"), "8190 × 8190, FFV1"
	case 5:
		return v, grey("4096x4096", 12, "-c:v", "libx264", "-preset", "ultrafast", "-f", "mp4"), "4096 × 4096, H.264"
	case 6:
		return v, grey("16384x2", 5, "-c:v", "png", "-f", "mov"), "16384 × 2, PNG"
	case 7:
		return v, grey("4096x4096", 30, "-c:v", "mjpeg", "-f", "avi"), "4096 × 4096, JPEG"
	case 8:
		return v, grey("5000x5000", 3, "-pix_fmt", "rgba64be", "-c:v", "png", "-f", "mov"), "5000 × 5000 of 64 bits, PNG"
	}
	return v, grey("8190x8190", 2, "-pix_fmt", "rgb48be", "-c:v", "png", "-f", "mov"), "8190 × 8190 of 48 bits, PNG"
}

// rates returns a file with unreasonable frame rates, sample rates or time bases.
func rates(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const v = failure.Video
	lie := m.lie()
	switch m.n % 10 {
	case 0:
		return v, overwrite(t, m.base(t, "mp4"), "mdhd", 0, 12, 4, lie), fmt.Sprintf("MP4 of %d ticks a second", lie)
	case 1:
		return v, overwrite(t, m.base(t, "matroska"), "2AD7B1", 0, 0, 3, lie), fmt.Sprintf("Matroska of %d ns a tick", lie)
	case 2:
		return v, overwrite(t, m.base(t, "mp4"), "stts", 0, 12, 4, lie), fmt.Sprintf("MP4 of %d ticks a frame", lie)
	case 3:
		return v, m.lavfi(t, "color=s=64x64:r=1000:d=1", "-c:v", "ffv1", "-f", "matroska"), "1000 frames a second"
	case 4:
		return v, m.lavfi(t, "color=s=64x64:r=1/1000:d=9000", "-c:v", "ffv1", "-f", "matroska"), "a frame in 1000 s"
	case 5:
		b := m.base(t, "avi")
		p := find(t, b, "strh", 0)
		binary.LittleEndian.PutUint32(b[p.body+20:], uint32(lie)) // scale
		return v, b, fmt.Sprintf("AVI of scale %d", lie)
	case 6:
		b := m.base(t, "avi")
		p := find(t, b, "strh", 0)
		binary.LittleEndian.PutUint32(b[p.body+24:], uint32(lie)) // rate
		return v, b, fmt.Sprintf("AVI of rate %d", lie)
	case 7:
		b := m.base(t, "wav")
		p := find(t, b, "fmt ", 0)
		binary.LittleEndian.PutUint32(b[p.body+4:], uint32(lie))
		return failure.Audio, b, fmt.Sprintf("WAV of %d Hz", lie)
	case 8:
		return v, overwrite(t, m.base(t, "matroska"), "23E383", 0, 0, 3, lie), fmt.Sprintf("Matroska of %d ns a frame", lie)
	}
	return v, overwrite(t, m.base(t, "mp4"), "mvhd", 0, 12, 4, lie), fmt.Sprintf("MP4 whose clock ticks %d times", lie)
}

// streams returns a file with far too many streams.
func streams(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	again := func(base, name string, n int) []byte {
		b := m.base(t, base)
		p := find(t, b, name, 0)
		return splice(b, p.at, p.at, slices.Repeat(slices.Clone(b[p.at:p.end]), n))
	}
	n := []int{200, 1000, 5000}[m.IntN(3)]
	how := fmt.Sprintf(" with %d more streams", n)
	switch m.n % 6 {
	case 0:
		return failure.Video, again("mp4", "trak", n), "MP4" + how
	case 1:
		return failure.Video, again("matroska", "AE", n), "Matroska" + how
	case 2:
		b := m.base(t, "avi")
		list := find(t, b, "strh", 0).at - 12 // its LIST
		return failure.Video, splice(b, list, list, slices.Repeat(slices.Clone(b[list:find(t, b, "strf", 0).end]), n)), "AVI" + how
	case 3:
		b := m.base(t, "ogg")
		first := find(t, b, "frame", 0)
		var pages []byte
		for i := range n {
			page := slices.Clone(b[:first.end])
			binary.LittleEndian.PutUint32(page[14:], uint32(i)) // serial number
			pages = append(pages, page...)
		}
		return failure.Audio, slices.Concat(pages, b), "Ogg" + how
	case 4:
		b := m.base(t, "mp4 sound")
		entry := find(t, b, "mp4a", 0)
		return failure.Audio, splice(b, entry.at, entry.at, slices.Repeat(slices.Clone(b[entry.at:entry.end]), n)), "MP4 with many kinds of samples"
	}
	b := m.base(t, "mp4")
	for i := range 2 {
		b = overwrite(t, b, "tkhd", i, 12, 4, 1) // track IDs
	}
	return failure.Video, b, "MP4 with two tracks of one number"
}

// edits returns MP4 with hostile edit lists.
func edits(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	b := m.base(t, "mp4")
	p := find(t, b, "elst", m.n%2) // of pictures or of sound
	var list []byte
	var how string
	entry := func(n int, duration, time, rate uint32) {
		list = slices.Concat(big32(0, uint32(n)), slices.Repeat(big32(duration, time, rate), n))
		how = fmt.Sprintf("%d edits of %d ticks from %d on at rate %x", n, duration, int32(time), rate)
	}
	const normal, never = 1 << 16, 1<<32 - 1
	switch m.n / 2 % 8 {
	case 0:
		entry(1, 1<<31, never, normal) // a gap of weeks
	case 1:
		entry(100_000, 1, 0, normal)
	case 2:
		entry(1, 800, 1<<31, normal)
	case 3:
		entry(1, 0, 0, 0)
	case 4:
		entry(50, 40, 512, never)
	case 5:
		list, how = big32(0, 1<<31), "edits that are not there"
	case 6:
		entry(20_000, 800, 0, normal)
	default:
		list = slices.Concat(big32(1<<24, 2), make([]byte, 16), big32(normal, 1<<31, 0, 1<<31, 0, normal))
		how = "edits of 64 bits, from long before"
	}
	return failure.Video, splice(b, p.at, p.end, box("elst", list)), how
}

// times returns a file whose time stamps are far from 0, negative, far apart, or unordered.
func times(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	shift := func(from, how string, args ...string) (failure.MediaKind, []byte, string) {
		kind := failure.Video
		input := []string{"-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=2"}
		if from == "sound" {
			kind, input = failure.Audio, []string{"-f", "lavfi", "-i", "sine=d=2"}
		}
		return kind, m.ffmpeg(t, append(input, args...)...), from + " " + how
	}
	switch m.n % 10 {
	case 0:
		return shift("video", "before 0", "-output_ts_offset", "-30", "-avoid_negative_ts", "disabled", "-c:v", "ffv1", "-f", "avi")
	case 1:
		return shift("video", "a year late", "-output_ts_offset", "30000000", "-c:v", "ffv1", "-f", "matroska")
	case 2:
		return shift("video", "with a break of days", "-vf", "setpts='PTS+gt(N,3)*500000/TB'", "-fps_mode", "passthrough", "-c:v", "ffv1", "-f", "matroska")
	case 3:
		return shift("sound", "with a break of days", "-af", "asetpts='PTS+gt(N,3)*500000/TB'", "-c:a", "pcm_s16le", "-f", "matroska")
	case 4:
		return shift("video", "in no order", "-bsf:v", "setts=ts='if(mod(N\\,2)\\,TS\\,TS/3)'", "-c:v", "mpeg4", "-f", "matroska")
	case 5:
		return shift("sound", "a year late", "-output_ts_offset", "30000000", "-c:a", "flac", "-f", "matroska")
	case 6:
		return shift("video", "all at once", "-bsf:v", "setts=ts=0", "-c:v", "mpeg4", "-f", "matroska")
	case 7:
		return shift("sound", "with breaks of minutes", "-af", "asetpts='PTS+N*60/TB'", "-c:a", "pcm_s16le", "-f", "matroska")
	case 8:
		return shift("video", "backwards", "-bsf:v", "setts=ts='100000-TS'", "-c:v", "mjpeg", "-f", "matroska")
	}
	b := m.base(t, "mp4")
	p := find(t, b, "ctts", 0)
	b[p.body] = 1 // signed
	for at := p.body + 12; at+4 <= p.end; at += 8 {
		copy(b[at:], big32(uint32(m.lie())))
	}
	return failure.Video, b, "video shown long before or after it is decoded"
}

// packets returns a file with 100,000 packets of about a byte.
func packets(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const n = 100_000
	sound := func(format string) []byte {
		return m.lavfi(t, fmt.Sprintf("sine=r=16000:d=%f,asetnsamples=1", n/16000.), "-c:a", "pcm_u8", "-f", format)
	}
	switch m.n % 8 {
	case 0:
		return failure.Audio, sound("matroska"), "packets of Matroska"
	case 1:
		return failure.Audio, sound("mov"), "packets of QuickTime"
	case 2:
		return failure.Audio, sound("avi"), "packets of AVI"
	case 3, 4:
		b := m.base(t, []string{"mp4", "mp4 sound"}[m.n%8-3])
		p := find(t, b, "stsz", 0)
		b = splice(b, p.at, p.end, box("stsz", big32(0, 1, n)))
		p = find(t, b, "stts", 0)
		b = splice(b, p.at, p.end, box("stts", big32(0, 1, n, 100)))
		p = find(t, b, "stsc", 0)
		return []failure.MediaKind{failure.Video, failure.Audio}[m.n%8-3], splice(b, p.at, p.end, box("stsc", big32(0, 1, 1, n, 1))), "samples of MP4"
	case 5:
		b := m.base(t, "avi")
		p := find(t, b, "00dc", 0)
		return failure.Video, splice(b, p.at, p.at, slices.Repeat([]byte("00dc\x01\x00\x00\x00\x00\x00"), n)), "chunks of AVI"
	case 6:
		b := m.base(t, "matroska")
		p := find(t, b, "A3", 0)
		return failure.Video, splice(b, p.at, p.at, slices.Repeat([]byte("\xa3\x85\x81\x00\x00\x00\x00"), n)), "blocks of Matroska"
	}
	b := m.base(t, "ogg")
	second := find(t, b, "frame", 2)
	page := slices.Clone(b[second.at : second.at+26]) // its header, then one segment of one byte
	return failure.Audio, slices.Concat(b[:second.at], slices.Repeat(append(page, 1, 1, 0), n), b[second.at:]), "pages of Ogg"
}
