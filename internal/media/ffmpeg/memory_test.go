package ffmpeg

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg/medium"
)

// TestProbeMemory runs a shell script instead of ffprobe, which prints its memory limit in KiB.
func TestProbeMemory(t *testing.T) {
	shell := filepath.Join(t.TempDir(), "ffprobe")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\nsleep 1\nulimit -d >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tools := Tools{FFprobe: shell}
	if _, err := tools.Probe(t.Context(), shell); err == nil || !strings.HasSuffix(strings.TrimSpace(err.Error()), fmt.Sprint(" ", 480<<10)) {
		t.Errorf("got %v, want 480 MiB", err)
	}
}

// TestMemory reads the memory limits that the kernel enforces for each kind of process, in MiB. A
// hostile file can fill all of that memory with covers and tables, so small media get less than 6
// GiB.
func TestMemory(t *testing.T) {
	sleeper := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(sleeper, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		pixels int // 0 means sound
		want   int
	}{
		"sound":       {want: 768},
		"64 × 64":     {pixels: 64 * 64, want: 1024 + 2*24 + 1},
		"1920 × 1080": {pixels: 1920 * 1080, want: 1024 + 2*24 + 632},
		"4096 × 4096": {pixels: 4096 * 4096, want: 6144},
	} {
		tools := &Tools{FFmpeg: sleeper, Threads: 2}
		video := &medium.Video{Width: 64, Height: 64, Rate: medium.Rate{Num: 25, Den: 1}, Coded: [2]int{test.pixels, 1}}
		info := &medium.Info{Video: video, Audio: &medium.Audio{SampleRate: 16000, Channels: 1}}
		var p *process
		if test.pixels == 0 {
			s, err := tools.OpenSound(t.Context(), info, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			p = s.(*listening).p
		} else {
			frames, err := tools.OpenFrames(t.Context(), info, 1)
			if err != nil {
				t.Fatal(err)
			}
			p = frames.(*decoding).p
		}
		limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.cmd.Process.Pid))
		p.stop()
		var got int
		if found := regexp.MustCompile(`Max data size +(\d+) `).FindSubmatch(limits); found != nil {
			_, err = fmt.Sscan(string(found[1]), &got)
		}
		if err != nil || got>>20 != test.want {
			t.Errorf("%s: got %d MiB (%v), want %d", name, got>>20, err, test.want)
		}
	}
}
