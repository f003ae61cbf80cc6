package footage

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
	"lipsync/internal/render/flow"
	"lipsync/internal/test/check"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
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
			p := &player{Footage: decodeAll(t, Source{Media: tools, Video: info, Dir: t.TempDir(), most: 17, Expected: 1000, Limit: 1000})}
			if p.kept != nil {
				t.Error("more frames are kept than fit in a stretch")
			}
			if len(p.Sums) < 60 {
				t.Fatalf("%d frames", len(p.Sums))
			}
			p.line = bounce(len(p.Sums), 2*len(p.Sums)+25)
			checkPlay(t, p)
			// Without this check, the slow way could hide a seek that fails.
			checkSeek(t, p, len(p.Sums)-20, len(p.Sums))
		})
	}
}

// lost are media that are some frames too far after a seek.
type lost struct {
	rendertest.Media
	by int
}

func (l lost) OpenFramesAt(ctx context.Context, in *medium.Info, from, to int) (ffmpeg.Frames, error) {
	return l.Media.OpenFramesAt(ctx, in, from+l.by, to+l.by)
}

// TestPlayWithoutSeeking plays a clip from media that bring the wrong frames, or none, after a seek.
func TestPlayWithoutSeeking(t *testing.T) {
	media := rendertest.Media{}
	path := rendertest.Numbered(medium.RateOf(25_000), 60).File(t, "numbered")
	info, err := media.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	straight := decodeAll(t, Source{Media: media, Video: info, Dir: t.TempDir(), most: 17, Expected: 1000, Limit: 1000})
	for name, others := range map[string]int{"none": 1000, "others": 1} {
		t.Run(name, func(t *testing.T) {
			straight.Media = lost{media, others}
			checkPlay(t, &player{straight, bounce(60, 150)})
		})
	}
}

// TestPlayPreview plays a preview with an ffmpeg that seeks, and with one that can't.
func TestPlayPreview(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	path := ffmpegtest.Make(t, "a.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("30000/1001", 90), "-g", "20", "-output_ts_offset", "5.017")
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	straight := decodeAll(t, Source{Media: tools, Video: info, Dir: t.TempDir(), most: 17, Expected: 1000, Limit: 1000})
	for _, seeks := range []bool{true, false} {
		t.Run(fmt.Sprint("seeks ", seeks), func(t *testing.T) {
			with, part := *tools, *info
			if part.Begin = time.Second; !seeks {
				with.Sandbox = sandbox.Sandbox{} // the script runs other programs
				with.FFmpeg = filepath.Join(t.TempDir(), "ffmpeg")
				check.Must(t, os.WriteFile(with.FFmpeg, []byte("#!/bin/sh\ncase \"$*\" in *trim=*) exit 1;; esac\nexec "+tools.FFmpeg+" \"$@\"\n"), 0o700))
			}
			s := Source{Media: &with, Video: &part, Dir: t.TempDir(), most: 17, Expected: 1000, Limit: 50}
			if !seeks {
				s.TooMany = errors.New("too many")
				if _, err := s.Decode(t.Context(), flow.NewBuffers(1, part.Video.NewFrame), nil); err != s.TooMany {
					t.Errorf("too many frames before the preview: got %v", err)
				}
				s.TooMany = nil
			}
			p := &player{Footage: decodeAll(t, s)}
			if !slices.Equal(p.Sums, straight.Sums[30:80]) || p.Video.NoSeek == seeks {
				t.Errorf("got %d frames, no seek %t; they must be those of a straight read from frame 30 on", len(p.Sums), p.Video.NoSeek)
			}
			p.line = bounce(len(p.Sums), 2*len(p.Sums)+25)
			checkPlay(t, p)
		})
	}
}

// checkPlay compares every frame that p plays with those of a straight read. It plays from the beginning, and from later frames on.
func checkPlay(t *testing.T, p *player) {
	t.Helper()
	v := p.Video.Video
	for _, from := range []int{0, 45, p.line.Frames - 20} {
		var got, want []uint32
		free := flow.NewBuffers(1, func() []byte { return newFrame(v) })
		err := p.Play(t.Context(), p.line, from, free, func(frame []byte) error {
			got = append(got, sum(frame, v))
			free.Put(frame)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for o := from; o < p.line.Frames; o++ {
			want = append(want, p.Sums[p.line.Source(o)])
		}
		if !slices.Equal(got, want) {
			t.Errorf("from frame %d on: %d frames, not the same as %d of a straight read", from, len(got), len(want))
		}
	}
}

// TestKept plays a clip whose frames are kept, without decoding it again.
func TestKept(t *testing.T) {
	tools := rendertest.Media{}
	path := rendertest.Numbered(medium.RateOf(25_000), 20).File(t, "numbered")
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name           string
		most, expected int
		kept           bool
	}{
		{"all fit", 20, 20, true},
		{"the file says fewer, and they fit", 25, 3, true},
		{"the file says more than fit", 20, 21, false},
		{"the file says that they fit, and they don't", 19, 19, false},
	} {
		s := decodeAll(t, Source{Media: tools, Video: info, Dir: t.TempDir(), most: c.most, Expected: c.expected, Limit: 1000})
		if kept := s.kept != nil; kept != c.kept || s.Frames != 20 || len(s.Sums) != 20 {
			t.Errorf("%s: kept %t, %d frames, %d sums, want kept %t, 20 frames", c.name, kept, s.Frames, len(s.Sums), c.kept)
		}
		if s.kept != nil {
			s.Media = nil // nothing is decoded
		}
		checkPlay(t, &player{s, bounce(20, 57)})
		s.Close()
	}
}

// TestPlayDeep plays frames of 10 bits forward and backward, kept and decoded again, and compares them with those of a straight read.
func TestPlayDeep(t *testing.T) {
	const frames = 12
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "deep.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", frames)+",format=yuva444p10", "-c:v", "ffv1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []medium.PixelFormat{medium.YUV422P10, medium.YUVA444P10, medium.YUVA420P} {
		info.Video.Pixels = format
		for _, most := range []int{frames, 5} {
			s := decodeAll(t, Source{Media: tools, Video: info, Dir: t.TempDir(), most: most, Expected: frames, Limit: 1000})
			if kept := s.kept != nil; kept != (most == frames) || s.Frames != frames {
				t.Errorf("%s: kept %t, %d frames", format, kept, s.Frames)
			}
			checkPlay(t, &player{s, bounce(frames, 40)})
			s.Close()
		}
	}
}

// checkSeek checks that a seek leads to the frames from from to to-1.
func checkSeek(t *testing.T, p *player, from, to int) {
	t.Helper()
	frames, err := p.Media.OpenFramesAt(t.Context(), p.Video, from, to)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	s, err := newStretch(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.first, s.n = from, to-from
	if ok, err := p.fill(s, frames); !ok {
		t.Errorf("frames from %d are others after a seek: %v", from, err)
	}
}

// decodeAll runs only the decoder of the first pass.
func decodeAll(t *testing.T, s Source) Footage {
	t.Helper()
	free := flow.NewBuffers(1, s.Video.Video.NewFrame)
	decoded := make(chan *image.YCbCr)
	go func() {
		for frame := range decoded {
			free.Put(frame)
		}
	}()
	defer close(decoded)
	f, err := s.Decode(t.Context(), free, decoded)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
