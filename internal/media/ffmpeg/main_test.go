package ffmpeg_test

import (
	"os"
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

// TestMain runs the tests with the ffmpeg that users have.
func TestMain(m *testing.M) {
	os.Setenv("PATH", ffmpegtest.InstalledPath())
	os.Exit(m.Run())
}

// bothTools returns the tools with the ffmpeg that users have, and with the one of the image.
func bothTools(t *testing.T) map[string]*ffmpeg.Tools {
	return map[string]*ffmpeg.Tools{"installed": ffmpegtest.Tools(t), "quick": ffmpegtest.QuickTools(t)}
}
