package hostile_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"lipsync/internal/domain/failure"
)

// deflate returns the given number of zero bytes, compressed.
func deflate(t *testing.T, zeros int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	for range zeros >> 20 {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bombs returns a small file that decodes to a lot.
func bombs(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const v, a = failure.Video, failure.Audio
	switch m.n % 9 {
	case 0: // compressed blocks
		b := m.base(t, "matroska")
		compressed := element("\x6d\x80", element("\x62\x40", element("\x50\x34", element("\x42\x54", []byte{0}))))
		p := find(t, b, "A3", 0)
		b = splice(b, p.at, p.end, element("\xa3", b[p.body:p.body+4], deflate(t, 512<<20)))
		p = find(t, b, "AE", 0)
		return v, splice(b, p.end, p.end, compressed), "Matroska with blocks of 512 MiB of zeros"
	case 1:
		return v, withHeader(t, m, 1<<31-1, deflate(t, 256<<20)), "QuickTime whose header says 2 GiB"
	case 2:
		return a, m.lavfi(t, "anullsrc=r=8000:cl=mono:d=10800", "-c:a", "flac", "-f", "flac"), "3 h of silence, FLAC"
	case 3:
		return a, m.lavfi(t, "anullsrc=r=48000:cl=7.1:d=3700", "-c:a", "flac", "-compression_level", "0", "-f", "flac"), "62 minutes of silence on 8 channels, FLAC"
	case 4:
		return v, m.lavfi(t, "color=s=4096x4096,trim=end_frame=8", "-pix_fmt", "rgb48be", "-c:v", "png", "-f", "mov"), "4096 × 4096 of 48 bits, PNG"
	case 5:
		return v, m.lavfi(t, "color=s=4096x4096:r=120,trim=end_frame=60", "-c:v", "libx264", "-preset", "ultrafast", "-f", "mp4"), "60 frames of 4096 × 4096, H.264"
	case 6:
		return a, slices.Concat([]byte("ID3\x03\x00\x00\x00\x08\x00\x00"), []byte("APIC"), big32(100_000), []byte{0, 0x80}, big32(1<<31-1), deflate(t, 90<<20), m.base(t, "mp3")), "ID3 whose picture says 2 GiB"
	case 7:
		return v, withHeader(t, m, 1<<30, deflate(t, 1<<20)), "QuickTime whose header says 1 GiB and is shorter"
	}
	return v, m.lavfi(t, "color=s=4096x4096,trim=end_frame=3", "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-f", "webm"), "4096 × 4096, VP9"
}

// withHeader returns Matroska whose compressed header states the size.
func withHeader(t *testing.T, m *maker, size uint32, compressed []byte) []byte {
	b := m.base(t, "mov")
	p := find(t, b, "moov", 0)
	return slices.Concat(b[:p.at], box("moov", box("cmov", box("dcom", []byte("zlib")), box("cmvd", big32(size), compressed))))
}

// attachments returns a file that contains other files.
func attachments(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	attached := func(name, kind string, content []byte, n int) []byte {
		one := element("\x61\xa7", element("\x46\x6e", []byte(name)), element("\x46\x60", []byte(kind)), element("\x46\x5c", content), element("\x46\xae", []byte{1}))
		return element("\x19\x41\xa4\x69", slices.Repeat(one, n))
	}
	into := func(attachment []byte, how string) (failure.MediaKind, []byte, string) {
		b := m.base(t, "matroska")
		at := find(t, b, "1654AE6B", 0).at
		return failure.Video, splice(b, at, at, attachment), how
	}
	picture := m.lavfi(t, "color=s=64x64", "-frames:v", "1", "-c:v", "png", "-f", "image2pipe")
	copy(picture[16:], big32(30000, 30000))
	switch m.n % 9 {
	case 0:
		return into(attached("../../../../tmp/evil.ttf", "application/x-truetype-font", make([]byte, 1000), 3), "fonts elsewhere")
	case 1:
		return into(attached("a.png", "image/png", picture, 2000), "2000 pictures")
	case 2:
		return into(attached("a", "application/octet-stream", make([]byte, 40<<20), 1), "40 MiB")
	case 6:
		return into(attached("a", "application/octet-stream", make([]byte, 64<<20), 1), "64 MiB")
	case 7:
		return into(attached("a", "application/octet-stream", make([]byte, 64<<20), 4), "4 of 64 MiB")
	case 8:
		return into(attached("a.png", "image/png", append(picture, make([]byte, 64<<20)...), 4), "4 pictures of 64 MiB")
	case 3:
		block := slices.Concat(big32(3, 9), []byte("image/png"), big32(0, 30000, 30000, 24, 0, 1<<31), picture)
		return failure.Audio, slices.Concat([]byte("fLaC\x06"), big32(uint32(len(block)))[1:], block, m.base(t, "flac")[4:]), "a huge cover in FLAC"
	case 4:
		b := m.base(t, "mp4 sound")
		cover := box("udta", box("meta", big32(0), box("ilst", slices.Repeat(box("covr", box("data", big32(14, 0), picture)), 3000))))
		at := find(t, b, "moov", 0).end
		return failure.Audio, splice(b, at, at, cover), "3000 covers in MP4"
	}
	frame := slices.Concat([]byte("APIC"), big32(1<<27), []byte{0, 0, 0}, []byte("image/png\x00\x03\x00"), picture)
	return failure.Audio, slices.Concat([]byte("ID3\x03\x00\x00\x7f\x7f\x7f\x7f"), frame, m.base(t, "mp3")), "a cover of 128 MiB, which is not there"
}

// codecs returns a file that names decoders for other content.
func codecs(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const v, a = failure.Video, failure.Audio
	switch m.n % 4 {
	case 0:
		code := []string{"CSCD", "TSC2", "G2M4", "VP60", "MSS2", "IV50", "ZMBV", "SVQ3", "HEVC", "AV01", "DXV3", "cvid", "UCOD", "FFVH"}[m.IntN(14)]
		b := m.base(t, "avi")
		p, q := find(t, b, "strh", 0), find(t, b, "strf", 0)
		copy(b[p.body+4:], code)
		copy(b[q.body+16:], code)
		return v, b, "MPEG-4 that is said to be " + code
	case 1:
		code := []string{"hev1", "vp09", "mjpa", "SVQ3", "rle ", "icod", "dvh1", "av01", "tmcd", "text", "rtp ", "encv"}[m.IntN(12)]
		return v, bytes.ReplaceAll(m.base(t, "mp4"), []byte("avc1"), []byte(code)), "H.264 that is said to be " + code
	case 2:
		tag := []uint16{0x0002, 0x0050, 0x0055, 0x0161, 0x0270, 0x0401, 0x2000, 0x704f, 0xf1ac, 0xffff}[m.IntN(10)]
		b := m.base(t, "wav")
		p := find(t, b, "fmt ", 0)
		binary.LittleEndian.PutUint16(b[p.body:], tag)
		return a, b, fmt.Sprintf("samples that are said to be %#04x", tag)
	}
	b := m.base(t, "matroska")
	name := []string{"V_VP9", "V_AV1", "V_MPEGH/ISO/HEVC", "V_THEORA", "V_REAL/RV40", "V_UNCOMPRESSED", "V_QUICKTIME", "S_TEXT/UTF8"}[m.IntN(8)]
	p := find(t, b, "86", 0)
	return v, splice(b, p.at, p.end, element("\x86", []byte(name))), "H.264 that is said to be " + name
}

// sounds returns a file with unusual sound parameters.
func sounds(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	wav := func(tag, channels uint16, rate uint32, align, bits uint16, data []byte) (failure.MediaKind, []byte, string) {
		b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(36+len(data)))
		b = binary.LittleEndian.AppendUint32(append(b, "WAVEfmt "...), 16)
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, tag), channels)
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, rate), rate*uint32(align))
		b = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(b, align), bits)
		b = binary.LittleEndian.AppendUint32(append(b, "data"...), uint32(len(data)))
		return failure.Audio, append(b, data...), fmt.Sprintf("WAV of %d channels, %d Hz, %d bytes, %d bits", channels, rate, align, bits)
	}
	zeros := make([]byte, 64000)
	switch m.n % 12 {
	case 0:
		return wav(1, 0, 16000, 2, 16, zeros)
	case 1:
		return wav(1, 65535, 16000, 65534, 16, zeros)
	case 2:
		return wav(1, 1, 1, 2, 16, zeros)
	case 3:
		return wav(1, 1, 1<<31-1, 2, 16, zeros)
	case 4:
		return wav(1, 1, 16000, 0, 0, zeros)
	case 5:
		nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
		return wav(3, 1, 16000, 4, 32, slices.Repeat(nan, 16000))
	case 6:
		huge := binary.LittleEndian.AppendUint32(nil, math.Float32bits(math.MaxFloat32))
		return wav(3, 1, 16000, 4, 32, slices.Repeat(slices.Concat(huge, []byte{0, 0, 128, 255}), 8000))
	case 7:
		return wav(1, 64, 192000, 128, 16, make([]byte, 4<<20))
	case 8:
		return wav(2, 2, 22050, 65535, 4, zeros)
	case 9:
		return wav(1, 255, 8000, 510, 16, zeros)
	case 10:
		return wav(1, 1, 655350, 2, 16, zeros)
	}
	return wav(1, 1, 100, 2, 16, make([]byte, 4))
}

// pictures returns a video with unusual pictures, or with pictures that change.
func pictures(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const v = failure.Video
	odd := func(source, how string, args ...string) (failure.MediaKind, []byte, string) {
		return v, m.lavfi(t, source, args...), how
	}
	switch m.n % 10 {
	case 0:
		return odd("color=s=2x2:d=1,format=gray,crop=1:1", "1 × 1", "-c:v", "ffv1", "-f", "matroska")
	case 1:
		return odd("color=s=4096x2:d=0.2", "4096 × 2", "-c:v", "ffv1", "-f", "matroska")
	case 2:
		return odd("color=s=64x64:d=1,setsar=1/60000", "pixels of 1:60000", "-c:v", "ffv1", "-f", "matroska")
	case 3:
		return odd("color=s=64x64:d=1,setsar=30000/1", "pixels of 30000:1", "-c:v", "ffv1", "-f", "matroska")
	case 4: // followed by pictures of another size
		b := m.base(t, "avi jpeg")
		other := m.lavfi(t, "testsrc2=s=1920x1080", "-frames:v", "1", "-c:v", "mjpeg", "-f", "image2pipe")
		p := find(t, b, "00dc", 3)
		chunk := append(binary.LittleEndian.AppendUint32([]byte("00dc"), uint32(len(other))), other...)
		return v, splice(b, p.at, p.end, append(chunk, make([]byte, len(other)%2)...)), "a picture of 1920 × 1080 among small ones"
	case 5:
		return v, overwrite(t, m.base(t, "mp4"), "tkhd", 0, 40, 8, m.Uint64()), "turned by odd numbers"
	case 6:
		return odd("testsrc2=s=64x64:d=1", "a palette", "-pix_fmt", "pal8", "-c:v", "rawvideo", "-f", "avi")
	case 7:
		return odd("testsrc2=s=64x64:d=1", "16 bits of grey", "-pix_fmt", "gray16be", "-c:v", "png", "-f", "mov")
	case 8:
		return odd("testsrc2=s=64x64:d=1", "4 × 4 at 120 frames/s", "-vf", "scale=4:4", "-r", "120", "-c:v", "ffv1", "-f", "matroska")
	}
	return odd("testsrc2=s=66x4096:d=0.2", "66 × 4096", "-c:v", "libx264", "-f", "mp4")
}
