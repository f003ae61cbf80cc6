package ffmpeg_test

import (
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/test/ffmpegtest"
)

func TestMain(m *testing.M) { ffmpegtest.Main(m) }

// bothTools returns the tools with the ffmpeg that users have, and with the one of the image if there is one.
func bothTools(t *testing.T) map[string]*ffmpeg.Tools {
	all := map[string]*ffmpeg.Tools{"installed": ffmpegtest.Tools(t)}
	if tools := ffmpegtest.QuickTools(t); tools != nil {
		all["quick"] = tools
	}
	return all
}
