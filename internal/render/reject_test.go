package render

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
)

// write writes a file with the content.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// edit makes a copy of a file, with its bytes changed by a function.
func edit(t *testing.T, path string, change func([]byte) []byte) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Base(path), change(b))
}

func replace(from, to string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(from), []byte(to)) }
}

// claimHours changes the header of a Matroska file so that it states a length of ten hours. (ffmpeg 7 no longer believes that
// of an MP4.)
func claimHours(b []byte) []byte {
	const milliseconds = 10 * 3600 * 1000
	at := bytes.Index(b, []byte{0x44, 0x89, 0x88}) + 3 // the length, of eight bytes
	binary.BigEndian.PutUint64(b[at:], math.Float64bits(milliseconds))
	return b
}

// noNumbers replaces the last half of the samples of a WAV of floating-point samples by NaN.
func noNumbers(b []byte) []byte {
	for at := len(b) - len(b)/8*4; at < len(b); at += 4 {
		binary.LittleEndian.PutUint32(b[at:], math.Float32bits(float32(math.NaN())))
	}
	return b
}

// cutPNG makes every PNG header in a file claim 20000 × 20000 pixels.
func cutPNG(b []byte) []byte {
	for at := 0; ; at += 4 {
		i := bytes.Index(b[at:], []byte("IHDR"))
		if i < 0 {
			return b
		}
		at += i
		binary.BigEndian.PutUint32(b[at+4:], 20000)
		binary.BigEndian.PutUint32(b[at+8:], 20000)
	}
}

// rate makes a WAV file state a sample rate.
func rate(hertz uint32) func([]byte) []byte {
	return func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b[bytes.Index(b, []byte("fmt "))+12:], hertz)
		return b
	}
}

// jpegSize makes a JPEG state a size.
func jpegSize(width, height uint16) func([]byte) []byte {
	return func(b []byte) []byte {
		at := bytes.Index(b, []byte("\xff\xc0\x00\x11\x08")) + 5 // in the header of its frame
		binary.BigEndian.PutUint16(b[at:], height)
		binary.BigEndian.PutUint16(b[at+2:], width)
		return b
	}
}

func TestRefusedMedia(t *testing.T) {
	good := ffmpegtest.Make(t, "good.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	speech := sound(t, "good.wav", "0.5")
	secret := "file://" + good
	picture := ffmpegtest.Make(t, "cover.png", "-f", "lavfi", "-i", "color=s=64x64", "-frames:v", "1")
	lavfi := func(name, source string, args ...string) string {
		return ffmpegtest.Make(t, name, append([]string{"-f", "lavfi", "-i", source}, args...)...)
	}
	const (
		badVideo, badAudio = "video is not a supported format", "audio is not a supported format"
		noPicture, noSound = "video has no picture", "audio has no sound track"
		still              = "video is a picture; a video is needed"
	)
	playlist := "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n" + secret + "\n#EXTINF:10,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n"
	for _, test := range []struct{ name, video, audio, want string }{
		{"text", write(t, "a.mp4", []byte("no video at all\n")), speech, badVideo},
		{"nothing", write(t, "a.mp4", nil), speech, badVideo},
		{"playlist", write(t, "a.m3u8", []byte(playlist)), speech, badVideo},
		{"playlist named mp4", write(t, "a.mp4", []byte(playlist)), speech, badVideo},
		{"list of files", write(t, "a.mp4", []byte("ffconcat version 1.0\nfile '"+good+"'\n")), speech, badVideo},
		{"subtitles", write(t, "a.mp4", []byte("1\n00:00:00,000 --> 00:00:05,000\nHello\n")), speech, badVideo},
		{"session", write(t, "a.sdp", []byte("v=0\nc=IN IP4 127.0.0.1\nm=video 9 RTP/AVP 96\na=rtpmap:96 H264/90000\n")), speech, badVideo},
		{"truncated", edit(t, good, func(b []byte) []byte { return b[:len(b)/2] }), speech, badVideo},
		{"no such codec", edit(t, good, replace("avc1", "zzz1")), speech, badVideo},
		{"bitmap", lavfi("a.bmp", "testsrc2=s=64x64", "-frames:v", "1"), speech, still},
		{"phone's photo", write(t, "a.mov", []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")), speech, still},
		{"moving WebP", lavfi("a.webp", "testsrc2=s=64x64:d=0.2", "-loop", "0", "-c:v", "libwebp_anim"), speech, still},
		{"half a WebP", edit(t, lavfi("a.webp", "testsrc2=s=64x64", "-frames:v", "1"), func(b []byte) []byte { return b[:len(b)/2] }), speech, badVideo},
		{"half a picture", edit(t, picture, func(b []byte) []byte { return b[:len(b)/2] }), speech, badVideo},
		{"huge picture", edit(t, lavfi("a.jpg", "testsrc2=s=64x64", "-frames:v", "1"), jpegSize(8000, 8000)), speech, "video is larger than 4096 × 4096 pixels: 8000 × 8000 pixels"},
		{"large picture", edit(t, picture, func(b []byte) []byte { return slices.Replace(b, 16, 24, 0, 0, 20, 0, 0, 0, 20, 0) }), speech, "video is larger than 4096 × 4096 pixels: 5120 × 5120 pixels"},
		{"ten hours", edit(t, lavfi("a.mkv", "color=s=64x64:d=0.2"), claimHours), speech, "video is longer than 60 minutes: 600 minutes"},
		{"too wide", lavfi("w.mkv", "color=s=5000x64:d=0.1", "-c:v", "ffv1"), speech, "video is larger than 4096 × 4096 pixels: 5000 × 64 pixels"},
		{"wide pixels", lavfi("w.mkv", "color=s=3000x64:d=0.1,setsar=2", "-c:v", "ffv1"), speech, "video is larger than 4096 × 4096 pixels: 6000 × 64 pixels"},
		{"too fast", lavfi("f.mp4", "color=s=64x64:d=0.5:r=240"), speech, "video has more than 120 frames per second: 240"},
		{"pictures larger than said", edit(t, lavfi("a.mov", "color=s=64x64:d=1", "-c:v", "png"), cutPNG), speech, badVideo},
		{"sound alone", speech, speech, noPicture},
		{"a cover alone", ffmpegtest.Make(t, "c.mp4", "-i", speech, "-i", picture, "-map", "0", "-map", "1", "-c:v", "png", "-disposition:v", "attached_pic"), speech, noPicture},

		{"audio: picture file", good, picture, badAudio},
		{"audio: text", good, write(t, "a.wav", []byte("RIFF? no")), badAudio},
		{"audio: nothing", good, write(t, "a.wav", nil), badAudio},
		{"audio: playlist", good, write(t, "a.mp3", []byte(playlist)), badAudio},
		{"audio: picture alone", good, good, noSound},
		{"audio: 1 Hz", good, edit(t, speech, rate(1)), noSound},
		{"audio: a break of hours", good, sound(t, "gap.mkv", "1", "-c:a", "pcm_s16le", "-af", "asetpts='PTS+gt(N,3)*7200/TB'"), "audio is longer than 60 minutes: 120 minutes"},
		{"audio: no numbers", good, edit(t, sound(t, "n.wav", "2", "-c:a", "pcm_f32le"), noNumbers), badAudio},
		{"audio: no samples", good, edit(t, speech, func(b []byte) []byte { return b[:bytes.Index(b, []byte("data"))+8] }), noSound},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := render(t, newRenderer(t, &numberer{}), test.video, test.audio)
			if got := failure.MessageOf(err); got != test.want {
				t.Errorf("got %q, want %q (%v)", got, test.want, err)
			}
		})
	}
	t.Run("audio: no numbers in a segment", func(t *testing.T) {
		t.Parallel()
		dir, spoken := t.TempDir(), edit(t, sound(t, "n.wav", "2", "-c:a", "pcm_f32le"), noNumbers)
		j := Job{Video: good, Audios: map[string]string{"a": spoken}, Segments: order.Segments{{Ref: "a", End: ms(800), From: ms(600)}}, Output: dir + "/o.mp4", Scratch: dir}
		_, err := newRenderer(t, &numberer{}).Render(t.Context(), j, nil)
		if got := failure.MessageOf(err); got != badAudio {
			t.Errorf("got %q, want %q (%v)", got, badAudio, err)
		}
	})
}

func TestAudioOverTheLimit(t *testing.T) {
	t.Parallel()
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	r := newRenderer(t, &numberer{})
	r.Limits.Duration = 6 * time.Second
	_, err := render(t, r, video, sound(t, "a.flac", "12"))
	if got, want := failure.MessageOf(err), "audio is longer than 0.1 minutes: 0.2 minutes"; got != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}

// TestLyingHeaders renders files whose headers state more than the files have.
func TestLyingHeaders(t *testing.T) {
	video := ffmpegtest.Make(t, "a.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 50), "-g", "10", "-movflags", "+faststart")
	speech := sound(t, "a.wav", "1")
	claim := func(size uint32) func([]byte) []byte {
		return func(b []byte) []byte {
			binary.LittleEndian.PutUint32(b[bytes.Index(b, []byte("data"))+4:], size)
			return b
		}
	}
	half := edit(t, video, func(b []byte) []byte { return b[:len(b)*3/4] })
	for _, test := range []struct {
		name, video, audio string
		frames             int
	}{
		{"sound of hours", video, edit(t, speech, claim(1<<31)), 25},
		{"sound of unknown length", video, edit(t, speech, claim(1<<32-1)), 25},
		{"picture cut off", half, speech, 25},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := render(t, newRenderer(t, &numberer{}), test.video, test.audio)
			if err != nil {
				t.Fatal(err)
			}
			if source, _, _ := numbers(t, output); len(source) != test.frames {
				t.Errorf("%d frames, want %d", len(source), test.frames)
			}
		})
	}
}
