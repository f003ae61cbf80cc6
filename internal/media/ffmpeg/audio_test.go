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
	"lipsync/internal/test/ffmpegtest"
)

// samples decodes a video's own sound.
func samples(t *testing.T, tools *ffmpeg.Tools, info *ffmpeg.Info) []int16 {
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
			var pcm, again bytes.Buffer
			n, err := tools.Transcode(t.Context(), info, filepath.Join(t.TempDir(), "a.m4a"), &pcm, test.most)
			if err != nil {
				t.Fatal(err)
			}
			if n != int64(pcm.Len()/2) || n < test.want-20 || n > test.want+20 {
				t.Errorf("got %d samples, returned %d, want %d", pcm.Len()/2, n, test.want)
			}
			if counted, err := tools.Samples(t.Context(), info, &again, test.most); err != nil || counted != n || !bytes.Equal(again.Bytes(), pcm.Bytes()) {
				t.Errorf("%d samples counted (%v), want %d", counted, err, n)
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
		var pcm bytes.Buffer
		if n, err := tools.TranscodeTo(t.Context(), info, aac, &pcm, length); err != nil || int(n) < want-20 || int(n) > want+20 {
			t.Errorf("%v: got %d samples and %v, want %d", length, n, err, want)
		}
		made, err := tools.Probe(t.Context(), aac)
		if err != nil || (made.Duration-length).Abs() > 2*time.Millisecond {
			t.Errorf("%v: the AAC has %v (%v)", length, made, err)
		}
		const second = 2 * ffmpeg.PCMRate // bytes
		if end := pcm.Bytes()[min(second+100, pcm.Len()):]; len(bytes.Trim(end, "\x00")) > 0 {
			t.Errorf("%v: there is sound after its end", length)
		}
		if heard := pcm.Bytes()[:min(second, pcm.Len())-100]; bytes.Count(heard, []byte{0, 0}) > len(heard)/10 {
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
	if _, err := tools.Transcode(t.Context(), info, "/dev/full", io.Discard, time.Minute); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want %v", err, syscall.ENOSPC)
	}
}
