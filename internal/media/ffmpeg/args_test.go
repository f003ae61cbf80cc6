package ffmpeg

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// TestArgsOnGPU checks that a job encodes on the GPU, or on the CPU only. The CPU also encodes small and
// large pictures, which NVIDIA's encoder refuses, and other codecs and qualities than the defaults.
func TestArgsOnGPU(t *testing.T) {
	for _, test := range []struct {
		gpu           bool
		width, height int
		output        order.Output
		encoder       string
	}{
		{false, 1280, 720, order.Output{}, "libx264"},
		{true, 1280, 720, order.Output{}, "h264_nvenc"},
		{true, 160, 160, order.Output{Format: order.MOV}, "h264_nvenc"},
		{true, 158, 720, order.Output{}, "libx264"},
		{true, 1280, 158, order.Output{}, "libx264"},
		{true, 4096, 4096, order.Output{}, "h264_nvenc"},
		{true, 4098, 720, order.Output{}, "libx264"},
		{true, 1280, 720, order.Output{Quality: order.Medium}, "libx264"},
		{true, 1280, 720, order.Output{Codec: order.HEVC}, "libx265"},
		{true, 1280, 720, order.Output{Format: order.WebM}, "libvpx-vp9"},
		{true, 1280, 720, order.Output{Format: order.MOV, Codec: order.ProRes}, "prores_ks"},
	} {
		tools := &Tools{Threads: 2}
		if test.gpu {
			tools = tools.trial(sandbox.Files{}, sandbox.Sandbox{})
		}
		encode, err := encodeArgs(tools, &medium.Video{Codec: "h264", Width: test.width, Height: test.height, Rate: medium.Rate{Num: 25, Den: 1}}, test.output, "", "out")
		if n := slices.Index(encode, test.encoder); err != nil || n < 0 || encode[n-1] != "-c:v" || slices.Contains(encode[n:], "-c:v") {
			t.Errorf("%+v: encodes by %s", test, encode)
		}
	}
}

// TestQualityOfVideo checks the crf of outputs of a video for which its bits ask for one of H.264, or don't, and that samples are encoded as outputs are.
func TestQualityOfVideo(t *testing.T) {
	asked := [...]int{0, 16, 22, 30}
	for _, test := range []struct {
		output order.Output
		want   [len(asked)]int
	}{
		{order.Output{}, [...]int{14, 16, 18, 18}},
		{order.Output{Quality: order.High}, [...]int{14, 14, 14, 14}},
		{order.Output{Quality: order.Medium}, [...]int{20, 20, 22, 26}},
		{order.Output{Quality: order.Low}, [...]int{26, 26, 26, 26}},
		{order.Output{Codec: order.HEVC}, [...]int{15, 17, 20, 20}},
		{order.Output{Codec: order.VP9}, [...]int{10, 15, 20, 20}},
	} {
		for i, crf := range asked {
			v := medium.Video{CRF: crf}
			if got := qualityOf(&v, test.output); got != test.want[i] {
				t.Errorf("%s, %s, for crf %d: got crf %d, want %d", test.output.VideoCodec(), test.output.Quality, crf, got, test.want[i])
			}
		}
		tools := (&Tools{Threads: 2}).trial(sandbox.Files{}, sandbox.Sandbox{})
		v, o, ok := Sample(&medium.Video{Width: 640, Height: 480}, test.output)
		bounded := medium.Video{Width: 640, Height: 480, CRF: sampleCRF}
		if got, want := tools.EncoderArgs(v, o), tools.EncoderArgs(&bounded, test.output); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: a sample is encoded by %s, want %s", test.output.VideoCodec(), got, want)
		}
	}
}

func TestSoundArgs(t *testing.T) {
	for _, test := range []struct {
		audio medium.Audio
		want  string
	}{
		{medium.Audio{SampleRate: 8000, Channels: 1}, "-c:a aac -b:a 128k -ac 1 -ar 48000"},
		{medium.Audio{SampleRate: 44100, Channels: 2}, "-c:a aac -b:a 192k -ac 2 -ar 44100"},
		{medium.Audio{SampleRate: 192000, Channels: 6}, "-c:a aac -b:a 384k -ac 6 -ar 48000"},
		{medium.Audio{SampleRate: 48000, Channels: 8}, "-c:a aac -b:a 192k -ac 2 -ar 48000"},
		{medium.Audio{SampleRate: 44100, Channels: 1, Opus: true}, "-c:a libopus -b:a 96k -ac 1 -ar 48000"},
		{medium.Audio{SampleRate: 48000, Channels: 3, Opus: true}, "-c:a libopus -b:a 160k -ac 2 -ar 48000"},
		{medium.Audio{SampleRate: 48000, Channels: 6, Opus: true}, "-c:a libopus -b:a 320k -ac 6 -ar 48000"},
	} {
		if got := strings.Join(SoundArgs(&test.audio), " "); got != test.want {
			t.Errorf("%+v: got %s, want %s", test.audio, got, test.want)
		}
	}
}

// TestEncodingOfAnotherProgram wants another encoding if ffmpeg is another file, since pieces of an output are encoded alike.
func TestEncodingOfAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ffmpeg")
	tools := &Tools{FFmpeg: path}
	if _, err := tools.Encoding(&medium.Video{}, order.Output{}); !errors.Is(err, ErrNotRun) {
		t.Errorf("no program: got %v, want %v", err, ErrNotRun)
	}
	seen := map[string]bool{}
	for _, c := range []struct {
		content string
		at      int64
		want    int // number of encodings so far
	}{{"one", 1, 1}, {"one", 1, 1}, {"another", 1, 2}, {"another", 2, 3}} {
		err := os.WriteFile(path, []byte(c.content), 0o700)
		if err == nil {
			err = os.Chtimes(path, time.Time{}, time.Unix(c.at, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
		encoding, err := tools.Encoding(&medium.Video{}, order.Output{})
		if seen[encoding] = true; err != nil || len(seen) != c.want {
			t.Errorf("%+v: got %d encodings (%v)", c, len(seen), err)
		}
	}
}
