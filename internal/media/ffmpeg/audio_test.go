package ffmpeg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// samples decodes a video's own sound.
func samples(t *testing.T, tools *ffmpeg.Tools, info *medium.Info) []int16 {
	t.Helper()
	sound, err := tools.OpenSound(t.Context(), info, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(sound)
	if err != nil {
		t.Fatal(err)
	}
	if err := sound.Close(); err != nil {
		t.Fatal(err)
	}
	pcm := make([]int16, len(b)/2)
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, pcm); err != nil {
		t.Fatal(err)
	}
	return pcm
}

// TestSamples checks that no samples are missing or added, in either form.
func TestSamples(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		most time.Duration
		want int64
	}{
		{"a.wav", nil, time.Minute, 16000},
		{"a.flac", []string{"-ar", "44100", "-ac", "2"}, time.Minute, 16000},
		{"late.mkv", []string{"-c:a", "flac", "-output_ts_offset", "2.5"}, time.Minute, 16000},
		// The edit list of a file of sound alone delays it.
		{"late.m4a", []string{"-output_ts_offset", "2.5"}, time.Minute, 56000},
		// A gap in the time stamps becomes silence.
		{"gap.mkv", []string{"-c:a", "pcm_s16le", "-af", "asetpts='PTS+gt(T,0.5)*2/TB'"}, time.Minute, 48000},
		{"a.wav", nil, 500 * time.Millisecond, 8000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tools := ffmpegtest.Tools(t)
			info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, test.name,
				append([]string{"-f", "lavfi", "-i", "sine=d=1"}, test.args...)...))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "sound.wav")
			var pcm bytes.Buffer
			n, err := write(t, info, &pcm, path, test.most)
			if err != nil {
				t.Fatal(err)
			}
			if n != int64(pcm.Len()/2) || n < test.want-20 || n > test.want+20 {
				t.Errorf("got %d samples, returned %d, want %d", pcm.Len()/2, n, test.want)
			}
			written, err := tools.Probe(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := tools.Samples(t.Context(), written, io.Discard, io.Discard, time.Hour); err != nil || again < n-20 || again > n+20 {
				t.Errorf("the file has %d samples (%v), want %d", again, err, n)
			}
		})
	}
}

// write writes the samples of a sound, and its file for outputs.
func write(t *testing.T, in *medium.Info, pcm io.Writer, path string, most time.Duration) (int64, error) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := ffmpegtest.Tools(t).Samples(t.Context(), in, pcm, file, most)
	return n, errors.Join(err, file.Close())
}

// TestFit cuts a second of sound, and adds silence to it.
func TestFit(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.flac", "-f", "lavfi", "-i", "sine=d=1", "-ar", "44100"))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []time.Duration{400 * time.Millisecond, time.Second, 2345 * time.Millisecond} {
		path, want := filepath.Join(t.TempDir(), "sound.wav"), int(length.Seconds()*ffmpeg.PCMRate)
		if _, err := write(t, info, io.Discard, path, time.Minute); err != nil {
			t.Fatal(err)
		}
		if err := tools.Fit(path, length); err != nil {
			t.Fatal(err)
		}
		made, err := tools.Probe(t.Context(), path)
		if err != nil || (made.Duration-length).Abs() > 2*time.Millisecond {
			t.Errorf("%v: the file has %v (%v)", length, made, err)
		}
		pcm := samples(t, tools, made)
		if len(pcm) < want-2 || len(pcm) > want+2 {
			t.Errorf("%v: got %d samples, want %d", length, len(pcm), want)
		}
		loud := func(pcm []int16) (n int) {
			for _, s := range pcm {
				if s > 300 || s < -300 {
					n++
				}
			}
			return n
		}
		const second, near = ffmpeg.PCMRate, 400 // near the end, resampling smears the tone
		if end := pcm[min(second+near, len(pcm)):]; loud(end) > 0 {
			t.Errorf("%v: there is sound after its end", length)
		}
		if heard := pcm[:min(second, len(pcm))]; loud(heard) < len(heard)*8/10 {
			t.Errorf("%v: there is silence before its end", length)
		}
	}
}

// TestDiskFull has ffmpeg find no space for a mix. The error must be the same as for a failed
// write of this program.
func TestDiskFull(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "sine=d=1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Mix(t.Context(), ffmpeg.Mix{Voice: info, VoiceGain: 1, Length: time.Second}, "", "/dev/full"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %v", err, syscall.ENOSPC)
	}
}
