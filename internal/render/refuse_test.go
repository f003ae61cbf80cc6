package render

import (
	"os"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

// TestColoursRefused renders a file whose colours are refused. It can be a speech track, since its pictures aren't needed; as a video it is refused
// with their names.
func TestColoursRefused(t *testing.T) {
	strange := ffmpegtest.Make(t, "in.mkv", "-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=1", "-f", "lavfi", "-i", "sine=d=1",
		"-vf", "setparams=colorspace=ictcp:color_primaries=bt2020:color_trc=arib-std-b67", "-c:v", "ffv1", "-c:a", "flac")
	plain := ffmpegtest.Make(t, "plain.mkv", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	if _, _, err := renderBy(t, newRenderer(t, &numberer{}), plain, strange, order.Options{}); err != nil {
		t.Errorf("as speech: %v", err)
	}
	_, _, err := renderBy(t, newRenderer(t, &numberer{}), strange, strange, order.Options{})
	const want = "its colours are not supported: matrix ictcp, primaries bt2020, transfer function arib-std-b67"
	if got := failure.Of(err); got.Code != failure.MediaUnsupported || got.Kind != failure.Video || got.Cause != want {
		t.Errorf("as a video: got %+v, want %q", got, want)
	}
}

// TestProgramGone renders while one of the programs is missing, or lacks a library. The machine
// must be at fault.
func TestProgramGone(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\nexit 127\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r, audio := newRenderer(t, &numberer{}), sound(t, "a.wav", "1")
	video := ffmpegtest.Make(t, "v.mp4", "-f", "lavfi", "-i", "testsrc2=d=1")
	there := *ffmpegtest.Tools(t)
	for _, path := range []string{broken, filepath.Join(dir, "gone")} {
		for _, tools := range []ffmpeg.Tools{{FFmpeg: path, FFprobe: there.FFprobe}, {FFmpeg: there.FFmpeg, FFprobe: path}} {
			r.Media = &tools
			if _, err := render(t, r, video, audio); failure.Of(err).Code != failure.HostFailing {
				t.Errorf("%+v: got %v, want %s", tools, err, failure.HostFailing)
			}
		}
	}
}
