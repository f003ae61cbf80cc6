package hostile_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"lipsync/internal/domain/failure"
)

// lies are wrong numbers to write as a size, a count or a time.
var lies = []uint64{0, 1, 2, 7, 100_000, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 9, 1<<32 - 1}

func (m *maker) lie() uint64 { return lies[m.IntN(len(lies))] }

// truncated returns a file that ends within a part or right after one.
func truncated(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.taken()
	b := m.base(t, base)
	all := parts(b)
	p := all[m.IntN(len(all))]
	at := []int{p.at, p.body, p.body + 1, (p.body + p.end) / 2, p.end - 1}[m.IntN(5)]
	at = min(max(at, 1), len(b))
	return kindOf(base), b[:at], fmt.Sprintf("%s, cut at %d in %s", base, at, p.name)
}

// cut returns a video of 4 s whose header comes first and states all of it, and whose media end
// after a tenth to nine tenths.
func cut(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	format := m.pick("mp4", "mov")
	tenths := 1 + m.n%9
	b := m.ffmpeg(t, "-stream_loop", "4", "-i", m.face, "-c:v", "libx264", "-g", "5", "-c:a", "aac", "-movflags", "+faststart", "-f", format)
	media := find(t, b, "mdat", 0)
	switch {
	case tenths <= 6:
		m.end = "video is truncated: "
	case tenths >= 8: // a quarter may be missing
		m.end = "rendered"
	}
	return failure.Video, b[:media.body+(media.end-media.body)*tenths/10], fmt.Sprintf("%s, cut after %d tenths of its media", format, tenths)
}

// mangled returns a file that lacks a piece in the middle, or has one twice.
func mangled(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.taken()
	b := m.base(t, base)
	from := m.IntN(len(b))
	to := from + m.IntN(len(b)-from)
	instead := slices.Concat(b[from:to], b[from:to])
	if m.IntN(2) == 0 {
		instead = nil
	}
	return kindOf(base), slices.Concat(b[:from], instead, b[to:]), fmt.Sprintf("%s, %d to %d %d bytes long", base, from, to, len(instead))
}

// noisy returns a file with changed bytes, at its beginning or everywhere.
func noisy(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.taken()
	b := m.base(t, base)
	length, n := len(b), 1+m.IntN(len(b)/20+1)
	if m.IntN(2) == 0 {
		length, n = min(length, 1500), 1+m.IntN(12)
	}
	for range n {
		b[m.IntN(length)] = byte(m.Uint32())
	}
	return kindOf(base), b, fmt.Sprintf("%s, %d of the first %d bytes changed", base, n, length)
}

// sized returns a file with a part that states a wrong size.
func sized(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.pick("mp4", "matroska", "avi", "wav", "mov", "webm", "mp4 parts", "mp4 sound")
	b := m.base(t, base)
	all := parts(b)
	p, lie := all[m.IntN(len(all))], m.lie()
	if m.IntN(4) == 0 {
		lie = uint64(p.end - p.body + m.IntN(9) - 4)
	}
	p.setSize(b, lie)
	return kindOf(base), b, fmt.Sprintf("%s, %s at %d of size %d", base, p.name, p.at, lie)
}

// lied returns a file with some wrong numbers in one of its parts other than media.
func lied(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.taken()
	b := m.base(t, base)
	all := slices.DeleteFunc(parts(b), func(p part) bool {
		media := slices.Contains([]string{"mdat", "A3", "A1", "00dc", "01wb", "data", "JUNK", "EC"}, p.name)
		return !p.leaf || media || p.end-p.body < 1
	})
	p := all[m.IntN(len(all))]
	how := fmt.Sprintf("%s, %s at %d", base, p.name, p.at)
	for range 1 + m.IntN(2) {
		length := p.end - p.body
		width := min(length, []int{1, 2, 4, 8}[m.IntN(4)])
		at := p.body + m.IntN(length-width+1)/width*width
		number := binary.BigEndian.AppendUint64(nil, m.lie())
		if p.size == chunkSize {
			slices.Reverse(number[8-width:])
		}
		copy(b[at:at+width], number[8-width:])
		how += fmt.Sprintf(" has %x at %d", number[8-width:], at-p.body)
	}
	return kindOf(base), b, how
}

// rearranged returns a file with a part missing, repeated, inside itself, or in another's place.
func rearranged(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	base := m.pick("mp4", "matroska", "avi", "ogg", "mov", "webm", "mp4 parts", "wav")
	b := m.base(t, base)
	all := parts(b)
	p, q := all[m.IntN(len(all))], all[m.IntN(len(all))]
	whole := slices.Clone(b[p.at:p.end])
	switch m.IntN(5) {
	case 0:
		return kindOf(base), splice(b, p.at, p.end, nil), fmt.Sprintf("%s without %s at %d", base, p.name, p.at)
	case 1:
		return kindOf(base), splice(b, p.at, p.at, whole), fmt.Sprintf("%s with %s at %d twice", base, p.name, p.at)
	case 2:
		n := min(20_000, 4<<20/len(whole)+1)
		return kindOf(base), splice(b, p.at, p.at, slices.Repeat(whole, n)), fmt.Sprintf("%s with %s at %d %d times", base, p.name, p.at, n)
	case 3:
		return kindOf(base), splice(b, p.body, p.body, whole), fmt.Sprintf("%s with %s at %d in itself", base, p.name, p.at)
	}
	return kindOf(base), splice(b, q.at, q.end, whole), fmt.Sprintf("%s with %s for %s", base, p.name, q.name)
}

// nested returns a file with parts inside parts, ten thousand deep.
func nested(t *testing.T, m *maker) (failure.MediaKind, []byte, string) {
	const deep = 10_000
	base := m.pick("mp4", "matroska", "avi")
	b := m.base(t, base)
	var deepest []byte
	switch base {
	case "mp4":
		name := []string{"udta", "moov", "trak", "meta", "edts"}[m.IntN(5)]
		for n := deep; n > 0; n-- {
			deepest = append(deepest, append(big32(uint32(8*n)), name...)...)
		}
		at := find(t, b, "moov", 0).body
		return kindOf(base), splice(b, at, at, deepest), "mp4 with " + name + " in " + name
	case "matroska":
		id := []string{"\xae", "\xa0", "\x67\xc8", "\xb6", "\x73\x73"}[m.IntN(5)]
		for n := deep; n > 0; n-- {
			size := binary.BigEndian.AppendUint64(nil, uint64((n-1)*(len(id)+8)))
			size[0] = 1
			deepest = append(append(deepest, id...), size...)
		}
		at := find(t, b, "18538067", 0).body
		return kindOf(base), splice(b, at, at, deepest), fmt.Sprintf("matroska with %x in %[1]x", id)
	}
	for n := deep; n > 0; n-- {
		deepest = append(binary.LittleEndian.AppendUint32(append(deepest, "LIST"...), uint32(12*n-8)), "hdrl"...)
	}
	return kindOf(base), splice(b, 12, 12, deepest), "avi with LIST in LIST"
}
