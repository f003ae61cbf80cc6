package render

import (
	"encoding/binary"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

// The tones that are mixed, in Hz: that of the voice, which lasts as long as the speech track, and that of the video, which is heard
// in its first .4 s.
const (
	voiceTone    = 1000
	originalTone = 300
)

// amplitudes returns a function for the amplitude of a tone in an output, in the tenth of a second from a time on.
func amplitudes(t *testing.T, path string) func(hz, at float64) float64 {
	t.Helper()
	samples := samplesOf(t, path)
	return func(hz, at float64) float64 {
		from := int(at * ffmpeg.PCMRate)
		return ffmpegtest.Amplitude(samples[from:from+ffmpeg.PCMRate/10], ffmpeg.PCMRate, hz)
	}
}

// samplesOf returns the samples of an output, from -1 to 1.
func samplesOf(t *testing.T, path string) []float64 {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := tools.OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := io.ReadAll(stream)
	if err != nil || stream.Close() != nil {
		t.Fatal(err)
	}
	return decoded(pcm)
}

// decoded returns 16-bit samples as numbers from -1 to 1.
func decoded(pcm []byte) []float64 {
	samples := make([]float64, len(pcm)/2)
	for i := range samples {
		samples[i] = float64(int16(binary.LittleEndian.Uint16(pcm[2*i:]))) / 32768
	}
	return samples
}

// TestOriginalSound mixes the sound of a video of .8 s with shorter and longer speech tracks, in each sync mode. The sound goes with
// the pictures, except that it never plays backward.
func TestOriginalSound(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20),
		"-f", "lavfi", "-i", "aevalsrc=between(t\\,0\\,.4)*.2*sin(600*PI*t):d=0.8:s=48000", "-c:a", "flac")
	for _, c := range []struct {
		name     string
		mode     order.SyncMode
		speech   string           // seconds
		original map[float64]bool // whether the video's tone is heard from some times on
		voice    map[float64]bool // whether the voice is
	}{
		{"bounce", order.Bounce, "1.6", map[float64]bool{.1: true, .5: false, .9: true, 1.3: false}, map[float64]bool{.1: true, 1.3: true}},
		// The pictures turn every .76 s: 8 × .76 s is 6.08 s.
		{"bounce, eight turns", order.Bounce, "6.6", map[float64]bool{5.95: false, 6.1: true, 6.35: true, 6.5: false}, map[float64]bool{6: true}},
		{"a longer video", order.Bounce, "0.3", map[float64]bool{.1: true}, map[float64]bool{.1: true}},
		{"loop", order.Loop, "1.6", map[float64]bool{.1: true, .5: false, .9: true, 1.3: false}, map[float64]bool{1.3: true}},
		{"cut off", order.CutOff, "1.6", map[float64]bool{.1: true, .5: false}, map[float64]bool{.5: true}},
		{"silence, shorter speech", order.Pad, "0.2", map[float64]bool{.25: true, .5: false}, map[float64]bool{.05: true, .5: false}},
		{"silence, longer speech", order.Pad, "1.6", map[float64]bool{.1: true, .5: false, .9: false, 1.3: false}, map[float64]bool{1.3: true}},
		{"slower", order.Remap, "1.2", map[float64]bool{.1: true, .45: true, .75: false, 1: false}, map[float64]bool{1: true}},
		{"faster", order.Remap, "0.6", map[float64]bool{.1: true, .4: false}, map[float64]bool{.4: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=.3*sin(2000*PI*t):s=48000:d="+c.speech)
			output, result, err := renderOnly(t, newRenderer(t, &numberer{}), video, tone,
				order.Options{SyncMode: c.mode, OriginalGain: 1, VoiceGain: -.5})
			if err != nil {
				t.Fatal(err)
			}
			if result.Warnings != "" {
				t.Errorf("got warnings %q", result.Warnings)
			}
			amplitude := amplitudes(t, output)
			for hz, spans := range map[float64]map[float64]bool{originalTone: c.original, voiceTone: c.voice} {
				for at, heard := range spans {
					want := map[float64]float64{originalTone: .2, voiceTone: .15}[hz]
					if !heard {
						want = 0
					}
					if got := amplitude(hz, at); math.Abs(got-want) > .02 {
						t.Errorf("%.0f Hz at %.2f s: got an amplitude of %.3f, want %.3f", hz, at, got, want)
					}
				}
			}
		})
	}
}

// TestNoOriginalSound asks for the sound of videos that have none, or one that can't be decoded. The output has the voice, and a
// warning.
func TestNoOriginalSound(t *testing.T) {
	silent := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	broken := edit(t, ffmpegtest.Make(t, "in.mkv", "-i", silent, "-f", "lavfi", "-i", "sine=d=0.8", "-c:v", "copy", "-c:a", "flac"), replace("A_FLAC", "A_NONE"))
	tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=.3*sin(2000*PI*t):s=48000:d=0.6")
	for _, test := range []struct {
		name, video string
		gain        order.VoiceGain
		loud        float64
	}{
		{"no sound", silent, 0, .3},
		{"no sound, half the voice", silent, -.5, .15},
		{"broken sound", broken, 0, .3},
		{"broken sound, half the voice", broken, -.5, .15},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			o := order.Options{OriginalGain: 1, Duck: true, VoiceGain: test.gain}
			output, result, err := renderOnly(t, newRenderer(t, &numberer{}), test.video, tone, o)
			if err != nil {
				t.Fatal(err)
			}
			if result.Warnings != order.NoOriginalSound {
				t.Errorf("got warnings %q, want %q", result.Warnings, order.NoOriginalSound)
			}
			if got := amplitudes(t, output)(voiceTone, .2); math.Abs(got-test.loud) > .02 {
				t.Errorf("got a voice of %.3f, want %.3f", got, test.loud)
			}
		})
	}
}

// TestDroppedSound wants a warning if the video has sound that is not heard, unless that is the speech.
func TestDroppedSound(t *testing.T) {
	video := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20), "-f", "lavfi", "-i", "sine=d=0.8", "-c:a", "flac")
	tone := ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=.3*sin(2000*PI*t):s=48000:d=0.6")
	content, err := os.ReadFile(video)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "audio-0")
	if err := os.WriteFile(again, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		speech string
		gain   order.OriginalGain
		voice  order.VoiceGain
		want   order.Warnings
	}{{tone, 0, 0, order.DroppedSound}, {tone, 0, -.5, order.DroppedSound}, {tone, .5, 0, ""}, {video, 0, 0, ""}, {again, 0, 0, ""}} {
		_, result, err := renderOnly(t, newRenderer(t, &numberer{}), video, c.speech, order.Options{OriginalGain: c.gain, VoiceGain: c.voice})
		if err != nil || result.Warnings != c.want {
			t.Errorf("%+v: got %q (%v), want %q", c, result.Warnings, err, c.want)
		}
	}
}
