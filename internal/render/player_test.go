package render

import (
	"context"
	"image"
	"slices"
	"testing"

	"lipsync/internal/ffmpeg/ffmpegtest"
)

// playClips are files that are hard to seek in. None fits in one stretch.
func playClips(t *testing.T) map[string]string {
	numbered := func(rate string) []string {
		return []string{"-f", "lavfi", "-i", ffmpegtest.Numbered(rate, 90)}
	}
	clip := func(name, rate string, args ...string) string {
		return ffmpegtest.Make(t, name, append(numbered(rate), args...)...)
	}
	whole := clip("whole.mp4", "25", "-g", "12")
	return map[string]string{
		"mp4, one key frame":   clip("gop.mp4", "30", "-g", "500", "-bf", "3"),
		"mp4, 29.97":           clip("ntsc.mp4", "30000/1001", "-g", "20"),
		"mkv, 29.97":           clip("ntsc.mkv", "30000/1001", "-g", "20", "-bf", "2"),
		"webm, 23.976":         clip("film.webm", "24000/1001", "-c:v", "libvpx", "-b:v", "1M", "-g", "25"),
		"avi, B-frames":        clip("b.avi", "25", "-c:v", "mpeg4", "-bf", "2", "-q:v", "2"),
		"mjpeg in mov":         clip("j.mov", "25", "-c:v", "mjpeg", "-q:v", "2"),
		"open groups":          clip("open.mp4", "25", "-g", "15", "-bf", "3", "-x264-params", "open-gop=1"),
		"no key frames":        clip("refresh.mp4", "25", "-x264-params", "intra-refresh=1:keyint=20"),
		"starts late, mkv":     clip("late.mkv", "30000/1001", "-g", "20", "-output_ts_offset", "5.017"),
		"starts late, mp4":     clip("late.mp4", "25", "-g", "20", "-output_ts_offset", "3.01"),
		"edit list":            ffmpegtest.Make(t, "cut.mp4", "-ss", "0.7", "-i", whole, "-c", "copy"),
		"variable rate":        clip("vfr.mp4", "30", "-g", "20", "-vf", "select='not(eq(mod(n,7),3))'", "-fps_mode", "vfr"),
		"variable rate, mkv":   clip("vfr.mkv", "30", "-g", "20", "-vf", "select='gt(mod(n,10),random(1)*5)'", "-fps_mode", "vfr"),
		"interlaced":           clip("i.mp4", "25", "-g", "20", "-flags", "+ildct+ilme", "-vf", "setfield=tff"),
		"ogg without an index": clip("t.ogv", "25", "-c:v", "libtheora", "-q:v", "9", "-g", "20"),
	}
}

// TestPlay plays clips backward and forward in short stretches, and compares
// every frame's pixels with those of one straight read.
func TestPlay(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	for name, path := range playClips(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			info, err := tools.Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			p := &player{tools: tools, video: info, most: 17}
			w := &rendering{Renderer: &Renderer{Tools: tools}, video: info, frames: 1000}
			var straight seen
			if err := decodeAll(t.Context(), w, &straight); err != nil {
				t.Fatal(err)
			}
			p.sums = straight.sums
			if len(p.sums) < 60 {
				t.Fatalf("%d frames", len(p.sums))
			}
			p.line = timeline{source: len(p.sums), output: 2*len(p.sums) + 25}
			var got, want []uint32
			free := newBuffers(info.Video, 1)
			err = p.play(t.Context(), free, func(frame *image.YCbCr) error {
				got = append(got, sum(frame))
				free.give(frame)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for o := range p.line.output {
				want = append(want, p.sums[p.line.at(o)])
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d frames that differ from the %d of a straight read", len(got), len(want))
			}
			slow := 0
			for from := 0; from+17 <= len(p.sums); from += 17 {
				frames, err := tools.OpenFramesAt(t.Context(), info, from, from+17)
				if err != nil {
					t.Fatal(err)
				}
				s := newStretch(info.Video, 17)
				s.n = 17
				if ok, err := p.fill(s, frames, from); !ok {
					t.Log("slow", from, err)
					slow++
				}
			}
			if slow > 0 {
				t.Errorf("slow %d", slow)
			}
		})
	}
}

// decodeAll runs the first pass's decoder alone.
func decodeAll(ctx context.Context, w *rendering, s *seen) error {
	free := newBuffers(w.video.Video, 1)
	decoded := make(chan *image.YCbCr)
	go func() {
		for frame := range decoded {
			free.give(frame)
		}
	}()
	defer close(decoded)
	return w.decode(ctx, s, free, decoded)
}
