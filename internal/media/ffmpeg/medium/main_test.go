package medium_test

import (
	"os"
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

// TestMain runs the tests with the ffmpeg that users have.
func TestMain(m *testing.M) {
	os.Setenv("PATH", ffmpegtest.InstalledPath())
	os.Exit(m.Run())
}
