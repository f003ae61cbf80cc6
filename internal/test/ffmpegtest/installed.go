package ffmpegtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/sandbox"
)

// quick is the variable by which make names the folder of an ffmpeg that starts faster than Debian's.
// The folder is the first of PATH, so most tests run that ffmpeg.
const quick = "LIPSYNC_QUICK_FFMPEG"

// Quick returns the path of the quick ffmpeg, or only the name of the one in PATH if there is none. It makes clips and reads outputs, where it doesn't matter
// what users have.
func Quick() string { return filepath.Join(os.Getenv(quick), "ffmpeg") }

// InstalledPath returns PATH without the folder of the quick ffmpeg. With it, a test runs the ffmpeg that users have.
func InstalledPath() string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	return strings.Join(slices.DeleteFunc(folders, func(folder string) bool { return folder == os.Getenv(quick) }), string(filepath.ListSeparator))
}

// Main runs the tests of a package with the ffmpeg that users have, for TestMain.
func Main(m *testing.M) {
	os.Setenv("PATH", InstalledPath())
	os.Exit(m.Run())
}

// Installed returns the path of a program in InstalledPath, or only its name if it is in none of the folders.
func Installed(program string) string {
	for _, folder := range filepath.SplitList(InstalledPath()) {
		if path, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return path
		}
	}
	return program
}

// InstalledTools returns the tools of the machine with the programs of InstalledPath.
func InstalledTools(t testing.TB) *ffmpeg.Tools {
	return toolsOf(t, Installed("ffmpeg"), Installed("ffprobe"))
}

// toolsOf returns the tools of the machine with these programs, outside of the sandbox: it lets them read only the libraries of those in PATH.
func toolsOf(t testing.TB, transcoder, prober string) *ffmpeg.Tools {
	tools := Tools(t)
	tools.FFmpeg, tools.FFprobe, tools.Sandbox = transcoder, prober, sandbox.Sandbox{}
	return tools
}

// QuickTools returns the tools of the machine with the quick ffmpeg; nil if there is none.
func QuickTools(t testing.TB) *ffmpeg.Tools {
	folder := os.Getenv(quick)
	if folder == "" {
		t.Logf("%s isn't set: the ffmpeg of the image isn't tried", quick)
		return nil
	}
	return toolsOf(t, Quick(), filepath.Join(folder, "ffprobe"))
}
