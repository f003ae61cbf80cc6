package ffmpeg_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
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

// TestTranscode checks that no samples are missing or added.
func TestTranscode(t *testing.T) {
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
			var pcm bytes.Buffer
			n, err := tools.Samples(t.Context(), info, &pcm, test.most)
			if err != nil {
				t.Fatal(err)
			}
			if n != int64(pcm.Len()/2) || n < test.want-20 || n > test.want+20 {
				t.Errorf("got %d samples, returned %d, want %d", pcm.Len()/2, n, test.want)
			}
			path := filepath.Join(t.TempDir(), "a.m4a")
			if err := tools.Transcode(t.Context(), info, path, test.most); err != nil {
				t.Fatal(err)
			}
			encoded, _ := tools.Probe(t.Context(), path)
			if again, err := tools.Samples(t.Context(), encoded, io.Discard, time.Hour); err != nil || again < n-20 || again > n+20 {
				t.Errorf("%d samples were encoded (%v), want %d", again, err, n)
			}
		})
	}
}

// TestTranscodeTo cuts a second of sound, and adds silence to it.
func TestTranscodeTo(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.flac", "-f", "lavfi", "-i", "sine=d=1", "-ar", "44100"))
	if err != nil {
		t.Fatal(err)
	}
	for _, length := range []time.Duration{400 * time.Millisecond, time.Second, 2345 * time.Millisecond} {
		aac, want := filepath.Join(t.TempDir(), "a.m4a"), int(length.Seconds()*ffmpeg.PCMRate)
		if err := tools.TranscodeTo(t.Context(), info, aac, length); err != nil {
			t.Fatal(err)
		}
		made, err := tools.Probe(t.Context(), aac)
		if err != nil || (made.Duration-length).Abs() > 2*time.Millisecond {
			t.Errorf("%v: the AAC has %v (%v)", length, made, err)
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
		const second, near = ffmpeg.PCMRate, 400 // near the end, AAC smears the tone
		if end := pcm[min(second+near, len(pcm)):]; loud(end) > 0 {
			t.Errorf("%v: there is sound after its end", length)
		}
		if heard := pcm[:min(second, len(pcm))]; loud(heard) < len(heard)*8/10 {
			t.Errorf("%v: there is silence before its end", length)
		}
	}
}

// TestDiskFull has ffmpeg find no space for the sound. The error must be the same as for a failed
// write of this program.
func TestDiskFull(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	info, err := tools.Probe(t.Context(), ffmpegtest.Make(t, "a.wav", "-f", "lavfi", "-i", "sine=d=1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := tools.Transcode(t.Context(), info, "/dev/full", time.Minute); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %v", err, syscall.ENOSPC)
	}
}
