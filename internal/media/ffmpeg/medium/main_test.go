package medium_test

import (
	"testing"

	"lipsync/internal/test/ffmpegtest"
)

func TestMain(m *testing.M) { ffmpegtest.Main(m) }
