package ffmpeg_test

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// TestMasteringOfContainer probes an MP4 that tells its mastering display and its light in boxes of the container. Frames of VP9 have none.
func TestMasteringOfContainer(t *testing.T) {
	path := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", "color=gray:s=64x64:r=25:d=0.2", "-pix_fmt", "yuv420p10le", "-c:v", "libvpx-vp9",
		"-color_primaries", "bt2020", "-color_trc", "smpte2084", "-colorspace", "bt2020nc")
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	display := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(words(13250, 34500, 7500, 3000, 34000, 16000, 15635, 16450), 10_000_000), 50)
	boxes := append(box("mdcv", display), box("clli", words(1000, 400))...)
	// The index is behind the pictures, so these stay where they are.
	if err := os.WriteFile(path, insert(plain, boxes, "moov", "trak", "mdia", "minf", "stbl", "stsd", "vp09"), 0o600); err != nil {
		t.Fatal(err)
	}
	tools, output := ffmpegtest.Tools(t), order.Output{Codec: order.HEVC}
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	info.Video.Pixels = info.Video.Keep(output)
	const want = ":master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):max-cll=1000,400"
	if got := strings.Join(tools.EncoderArgs(info.Video, output), " "); !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// words returns numbers of 16 bits as bytes.
func words(numbers ...uint16) (b []byte) {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return b
}

// box returns a box of an MP4.
func box(kind string, content []byte) []byte {
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(content))), kind...), content...)
}

// insert returns the boxes of an MP4 with more boxes at the end of the one at a path.
func insert(boxes, more []byte, path ...string) (all []byte) {
	for len(boxes) > 0 {
		size := binary.BigEndian.Uint32(boxes)
		kind, content := string(boxes[4:8]), boxes[8:size]
		if kind == path[0] && len(path) == 1 {
			content = append(content[:len(content):len(content)], more...)
		} else if kind == path[0] {
			head := map[string]int{"stsd": 8}[kind] // its version, and the number of its boxes
			content = append(content[:head:head], insert(content[head:], more, path[1:]...)...)
		}
		all, boxes = append(all, box(kind, content)...), boxes[size:]
	}
	return all
}
