package ffmpeg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// mixed is a decoded mix.
type mixed struct {
	rate     int
	channels [][]float64 // samples from -1 to 1
}

// tone returns the amplitude of a frequency in a channel, between two times in seconds.
func (m mixed) tone(channel int, hz, from, to float64) float64 {
	return ffmpegtest.Amplitude(m.channels[channel][int(from*float64(m.rate)):int(to*float64(m.rate))], m.rate, hz)
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
	path := filepath.Join(dir, "mix.wav")
	if err := tools.Mix(t.Context(), m, filepath.Join(dir, "original.wav"), path); err != nil {
		t.Fatal(err)
	}
	info := probe(t, path)
	n := info.Audio.Channels
	raw, err := exec.Command(ffmpegtest.Quick(), "-v", "error", "-i", path, "-f", "s16le", "-c:a", "pcm_s16le", "-").Output()
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
	if length := float64(len(samples)/n) / float64(got.rate); math.Abs(length-m.Length.Seconds()) > .001 {
		t.Errorf("got %.3f s, want %v", length, m.Length)
	}
	return got
}

func probe(t *testing.T, path string) *medium.Info {
	t.Helper()
	info, err := ffmpegtest.Tools(t).Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// voiceOf returns a mono voice: a tone of 1000 Hz and an amplitude, in the first half of a second.
func voiceOf(t *testing.T, amplitude string) *medium.Info {
	return probe(t, ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc="+amplitude+"*sin(2000*PI*t):d=0.5:s=44100"))
}

// video returns a video of 25 frames/s with a sound, which is an expression of t for each channel.
func video(t *testing.T, seconds, sound string) *medium.Info {
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
	m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.2"), VoiceGain: 1.5, Length: time.Second})
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
		gain    float64 // of the voice
		mix     ffmpeg.Original
		at      []float64 // begin of spans of .08 s
		tones   []float64 // of 300 Hz at the left then
		another float64   // of 500 Hz at the right, at first
		voice   float64
	}{
		{"once", 1, ffmpeg.Original{Gain: .5, Speed: 1}, []float64{.1, .31, .5, .9}, []float64{.1, 0, 0, 0}, .1, .3},
		{"repeated", .5, ffmpeg.Original{Gain: 1, Speed: 1, Repeat: true}, []float64{.1, .31, .5, .71, .9}, []float64{.2, 0, .2, 0, .2}, .2, .15},
		{"slower", 0, ffmpeg.Original{Gain: 1, Speed: .5}, []float64{.1, .4, .7, .9}, []float64{.2, .2, 0, 0}, .2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.mix.Video, c.mix.Span = original, 400*time.Millisecond
			m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.3"), VoiceGain: c.gain, Original: &c.mix, Length: time.Second})
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
	const tone = ".2*sin(600*PI*t)"
	for name, original := range map[string]ffmpeg.Original{
		"mono":     {Video: video(t, "2", tone+":c=mono"), Span: 2 * time.Second},
		"5.1":      {Video: video(t, "2", tone+strings.Repeat("|"+tone, 5)+":c=5.1"), Span: 2 * time.Second},
		"repeated": {Video: video(t, "0.5", tone+":c=mono"), Span: time.Second / 2, Repeat: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			original.Gain, original.Speed, original.Duck = 1, 1, true
			m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.3"), VoiceGain: 1, Original: &original, Length: 2 * time.Second})
			if during := m.tone(0, 300, .15, .45); during > .2/3 {
				t.Errorf("got an amplitude of %.3f under the voice, want .067 at most", during)
			}
			centre := 0
			if len(m.channels) == 6 {
				centre = 2
			}
			hears(t, "voice", m.tone(centre, 1000, .15, .45), .3)
			hears(t, "after the voice", m.tone(0, 300, 1.4, 1.9), .2)
		})
	}
}

// TestMixDoesNotClip mixes sounds that are too loud together, with double gain.
func TestMixDoesNotClip(t *testing.T) {
	t.Parallel()
	loud := &ffmpeg.Original{Video: video(t, "1", ".9*sin(600*PI*t)|.9*sin(600*PI*t):c=stereo"), Gain: 2, Speed: 1, Span: time.Second}
	m := mix(t, ffmpeg.Mix{Voice: voiceOf(t, "0.9"), VoiceGain: 2, Original: loud, Length: time.Second})
	// The codec's error may exceed the limit by a little.
	if peak := m.peak(); peak > .96 || peak < .8 {
		t.Errorf("got a peak of %.3f, want it below 1", peak)
	}
}

// TestMixOfParts mixes a voice, which is too loud, with one part of an original. Right before and after the part the original is as it is.
func TestMixOfParts(t *testing.T) {
	t.Parallel()
	voice := voiceOf(t, "0.9")
	voice.Audio.Opus = true // AAC would change so loud a tone
	in := video(t, "2", ".9*sin(600*PI*t)")
	part := func(gain float64) []ffmpeg.Part {
		return []ffmpeg.Part{{From: 200 * time.Millisecond, To: 400 * time.Millisecond, Gain: gain}}
	}
	m := mix(t, ffmpeg.Mix{Voice: voice, VoiceParts: part(2), Length: time.Second,
		Original: &ffmpeg.Original{Video: in, Gain: 1, Parts: part(1.5), Speed: 1, Span: time.Second}})
	if peak := m.peak(); peak > 1 || m.tone(0, 1000, .25, .35) < .4 {
		t.Errorf("got a peak of %.3f and a voice of %.3f", peak, m.tone(0, 1000, .25, .35))
	}
	for _, from := range []float64{.1, .19, .4, .42, .5} {
		hears(t, fmt.Sprintf("original at %.2f s", from), m.tone(0, 300, from, from+.01), .9)
	}
}

// TestMixChannels keeps the channels of an original, each of which has a tone of its own, and mixes voices of one and two
// channels with it. A voice of one channel is in the centre of 5.1.
func TestMixChannels(t *testing.T) {
	stereo := probe(t, ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=.3*sin(2000*PI*t)|.3*sin(2000*PI*t):d=0.5:s=44100"))
	mono := voiceOf(t, "0.3")
	for _, test := range []struct {
		channels string
		n        int
		voice    *medium.Info
		want     []float64 // amplitude of the voice in each channel
	}{
		{"mono", 1, mono, []float64{.3}},
		{"mono", 1, stereo, []float64{.3}},
		{"stereo", 2, mono, []float64{.3, .3}},
		{"5.1", 6, mono, []float64{0, 0, .3, 0, 0, 0}},
		{"7.1", 8, stereo, []float64{.3, .3}},
	} {
		t.Run(fmt.Sprintf("%s with %d channels", test.channels, test.voice.Audio.Channels), func(t *testing.T) {
			t.Parallel()
			hz := func(channel int) float64 { return float64(100 + 50*channel) }
			var tones []string
			for i := range test.n {
				tones = append(tones, fmt.Sprintf(".05*sin(2*PI*%g*t)", hz(i)))
			}
			original := &ffmpeg.Original{Video: video(t, "1", strings.Join(tones, "|")+":c="+test.channels), Gain: 1, Speed: 1, Span: time.Second}
			m := mix(t, ffmpeg.Mix{Voice: test.voice, VoiceGain: 1, Original: original, Length: time.Second})
			if len(m.channels) != len(test.want) {
				t.Fatalf("got %d channels, want %d", len(m.channels), len(test.want))
			}
			for i, want := range test.want {
				hears(t, fmt.Sprintf("voice in channel %d", i), m.tone(i, 1000, .1, .4), want)
				if test.n > 6 || i == 3 { // 7.1 is mixed to stereo; the fourth channel of 5.1 has only low tones
					continue
				}
				for j := range test.want {
					if j != 3 {
						hears(t, fmt.Sprintf("tone %d in channel %d", j, i), m.tone(i, hz(j), .1, .9), map[bool]float64{true: .05}[i == j])
					}
				}
			}
		})
	}
}

// TestMixOfOddSounds mixes sounds that start before or after the pictures, and a voice that is longer than the output.
func TestMixOfOddSounds(t *testing.T) {
	pictures := []string{"-f", "lavfi", "-i", "color=s=64x64:r=25:d=1", "-itsoffset"}
	tone := []string{"-f", "lavfi", "-i", "aevalsrc=.2*sin(600*PI*t):s=48000:d=0.6", "-c:a", "flac"}
	voice := probe(t, ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "aevalsrc=.3*sin(2000*PI*t):d=3:s=16000"))
	for offset, want := range map[string][]float64{ // amplitudes of the tone in spans of .1 s, from .05 s and .45 s on
		"0.4":  {0, .2},
		"-0.4": {.2, .2}, // the first picture is shown for .4 s longer
	} {
		t.Run(offset, func(t *testing.T) {
			t.Parallel()
			in := probe(t, ffmpegtest.Make(t, "a.mkv", slices.Concat(pictures, []string{offset}, tone)...))
			m := mix(t, ffmpeg.Mix{Voice: voice, VoiceGain: 1, Original: &ffmpeg.Original{Video: in, Gain: 1, Speed: 1, Span: time.Second}, Length: time.Second})
			for i, from := range []float64{.05, .45} {
				hears(t, "tone", m.tone(0, 300, from, from+.1), want[i])
				hears(t, "voice", m.tone(0, 1000, from, from+.1), .3)
			}
		})
	}
}

// TestMixUnreadable mixes the sound of a video that can't be decoded.
func TestMixUnreadable(t *testing.T) {
	t.Parallel()
	in := video(t, "1", ".2*sin(600*PI*t):c=mono")
	b, err := os.ReadFile(in.Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in.Path, bytes.ReplaceAll(b, []byte("A_FLAC"), []byte("A_NONE")), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	original := &ffmpeg.Original{Video: in, Gain: 1, Speed: 1, Span: time.Second}
	err = ffmpegtest.Tools(t).Mix(t.Context(), ffmpeg.Mix{Voice: voiceOf(t, "0.3"), VoiceGain: 1, Original: original, Length: time.Second},
		filepath.Join(dir, "original.wav"), filepath.Join(dir, "mix.wav"))
	if !errors.Is(err, medium.ErrUnsupported) {
		t.Errorf("got %v, want %v", err, medium.ErrUnsupported)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
}
