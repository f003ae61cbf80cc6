package ffmpeg_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/ffmpeg/ffmpegtest"
)

const second = time.Second

// mixed is a decoded mix.
type mixed struct {
	rate     int
	channels [][]float64 // samples from -1 to 1
}

// tone returns the amplitude of a frequency in a channel, between two times in seconds.
func (m mixed) tone(channel int, hz, from, to float64) float64 {
	samples := m.channels[channel][int(from*float64(m.rate)):int(to*float64(m.rate))]
	var re, im float64
	for i, s := range samples {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / float64(m.rate))
		re, im = re+s*cos, im+s*sin
	}
	return 2 * math.Hypot(re, im) / float64(len(samples))
}

func (m mixed) peak() (peak float64) {
	for _, samples := range m.channels {
		for _, s := range samples {
			peak = max(peak, math.Abs(s))
		}
	}
	return peak
}

// mix mixes, and decodes the result.
func mix(t *testing.T, m ffmpeg.Mix) mixed {
	t.Helper()
	tools, dir := ffmpegtest.Tools(t), t.TempDir()
	path := filepath.Join(dir, "mix.m4a")
	if err := tools.Mix(t.Context(), m, filepath.Join(dir, "original.wav"), path); err != nil {
		t.Fatal(err)
	}
	info := probe(t, path)
	n := info.Audio.Channels
	raw, err := exec.Command("ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-c:a", "pcm_s16le", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	samples := make([]int16, len(raw)/2)
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, samples); err != nil {
		t.Fatal(err)
	}
	got := mixed{info.Audio.SampleRate, make([][]float64, n)}
	for i, s := range samples {
		got.channels[i%n] = append(got.channels[i%n], float64(s)/32768)
	}
	// The codec pads up to 90 ms.
	if length := float64(len(samples)/n) / float64(got.rate); length < m.Length.Seconds()-.001 || length > m.Length.Seconds()+.09 {
		t.Errorf("got %.3f s, want %v", length, m.Length)
	}
	return got
}

func probe(t *testing.T, path string) *ffmpeg.Info {
	t.Helper()
	info, err := ffmpegtest.Tools(t).Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// voiceOf returns a mono voice: a tone of 1000 Hz and an amplitude, in the first half of a second.
func voiceOf(t *testing.T, amplitude string) *ffmpeg.Info {
	return probe(t, ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc="+amplitude+"*sin(2000*PI*t):d=0.5:s=44100"))
}

// video returns a video of 25 frames/s with a sound, which is an expression of t for each channel.
func video(t *testing.T, seconds, sound string) *ffmpeg.Info {
	return probe(t, ffmpegtest.Make(t, "video.mkv", "-f", "lavfi", "-i", "color=s=64x64:r=25:d="+seconds,
		"-f", "lavfi", "-i", "aevalsrc="+sound+":s=48000:d="+seconds, "-c:a", "flac"))
}

// hears checks an amplitude.
func hears(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > .015 {
		t.Errorf("%s: got an amplitude of %.3f, want %.3f", what, got, want)
	}
}

// TestMixVoice changes the gain of a voice without an original. It keeps its channels and rate.
func TestMixVoice(t *testing.T) {
	t.Parallel()
	m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.2"), VoiceGain: 1.5, Length: second})
	if m.rate != 44100 || len(m.channels) != 1 {
		t.Errorf("got %d channels of %d Hz, want 1 of 44100", len(m.channels), m.rate)
	}
	hears(t, "voice", m.tone(0, 1000, .1, .4), .3)
	hears(t, "after the voice", m.tone(0, 1000, .6, .9), 0)
}

// TestMix mixes a mono voice with the sound of a video, which has another tone on each side, and is
// silent from .3 s on.
func TestMix(t *testing.T) {
	const first = "between(t\\,0\\,.3)*.2*sin(2*PI*t*"
	original := video(t, "0.4", first+"300)|"+first+"500):c=stereo")
	for _, c := range []struct {
		name    string
		mix     ffmpeg.Mix
		at      []float64 // begin of spans of .08 s
		tones   []float64 // of 300 Hz at the left then
		another float64   // of 500 Hz at the right, at first
		voice   float64
	}{
		{"once", ffmpeg.Mix{VoiceGain: 1, OriginalGain: .5, Speed: 1}, []float64{.1, .31, .5, .9}, []float64{.1, 0, 0, 0}, .1, .3},
		{"repeated", ffmpeg.Mix{VoiceGain: .5, OriginalGain: 1, Speed: 1, Repeat: true}, []float64{.1, .31, .5, .71, .9}, []float64{.2, 0, .2, 0, .2}, .2, .15},
		{"slower", ffmpeg.Mix{VoiceGain: 0, OriginalGain: 1, Speed: .5}, []float64{.1, .4, .7, .9}, []float64{.2, .2, 0, 0}, .2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.mix.Voice, c.mix.Original, c.mix.Span, c.mix.Length = voiceOf(t, "0.3"), original, 400*time.Millisecond, second
			m := mix(t, c.mix)
			if m.rate != 48000 || len(m.channels) != 2 {
				t.Fatalf("got %d channels of %d Hz, want 2 of 48000", len(m.channels), m.rate)
			}
			for i, at := range c.at {
				hears(t, "at the left, at "+strconv.FormatFloat(at, 'f', 2, 64)+" s", m.tone(0, 300, at, at+.08), c.tones[i])
			}
			hears(t, "at the right", m.tone(1, 500, .1, .2), c.another)
			for side := range m.channels {
				hears(t, "the voice", m.tone(side, 1000, .1, .4), c.voice)
				hears(t, "the other side", m.tone(side, []float64{500, 300}[side], .1, .2), 0)
			}
		})
	}
}

// TestDuck lowers music to a third or less while a voice is heard, and no later than .5 s after it.
func TestDuck(t *testing.T) {
	t.Parallel()
	music := video(t, "2", ".2*sin(600*PI*t):c=mono")
	m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.3"), VoiceGain: 1, Original: music, OriginalGain: 1, Speed: 1, Span: 2 * second, Duck: true, Length: 2 * second})
	if during := m.tone(0, 300, .15, .45); during > .2/3 {
		t.Errorf("got an amplitude of %.3f under the voice, want .067 at most", during)
	}
	hears(t, "voice", m.tone(0, 1000, .15, .45), .3)
	hears(t, "after the voice", m.tone(0, 300, 1.4, 1.9), .2)
}

// TestMixDoesNotClip mixes sounds that are too loud together, with double gain.
func TestMixDoesNotClip(t *testing.T) {
	t.Parallel()
	loud := video(t, "1", ".9*sin(600*PI*t)|.9*sin(600*PI*t):c=stereo")
	m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.9"), VoiceGain: 2, Original: loud, OriginalGain: 2, Speed: 1, Span: second, Length: second})
	// The codec's error may exceed the limit by a little.
	if peak := m.peak(); peak > .96 || peak < .8 {
		t.Errorf("got a peak of %.3f, want it below 1", peak)
	}
}

// TestMixChannels keeps the channels of an original. A mono voice is in the centre of 5.1.
func TestMixChannels(t *testing.T) {
	for channels, want := range map[string]int{"mono": 1, "stereo": 2, "5.1": 6, "7.1": 2} {
		t.Run(channels, func(t *testing.T) {
			t.Parallel()
			n := map[string]int{"mono": 1, "stereo": 2, "5.1": 6, "7.1": 8}[channels]
			sound := "0"
			for range n - 1 {
				sound += "|0"
			}
			m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.3"), VoiceGain: 1, Original: video(t, "1", sound+":c="+channels),
				OriginalGain: 1, Speed: 1, Span: second, Length: second})
			if len(m.channels) != want {
				t.Fatalf("got %d channels, want %d", len(m.channels), want)
			}
			for i := range m.channels {
				level := .3
				if want == 6 && i != 2 {
					level = 0
				}
				hears(t, strconv.Itoa(i), m.tone(i, 1000, .1, .4), level)
			}
		})
	}
}
