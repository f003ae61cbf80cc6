package ffmpeg_test

import (
	"os"
	"strings"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

func TestCheckNVIDIA(t *testing.T) {
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		t.Skip("this machine has an NVIDIA GPU, so there is nothing to refuse")
	}
	const want = "ffmpeg can't use an NVIDIA GPU on this machine: "
	if err := ffmpegtest.Tools(t).CheckNVIDIA(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}
