package ffmpegtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"lipsync/internal/media/demo"
)

// made has the files that Make has made in this process, by what they were made from. The values are
// functions that return a file's content.
var made sync.Map

// Make makes a file with ffmpeg in the test's temporary folder, and returns its path. It makes each
// file only once in a process, and copies it from then on.
func Make(t testing.TB, name string, args ...string) string {
	t.Helper()
	content, _ := made.LoadOrStore(recipe(name, args), sync.OnceValues(func() ([]byte, error) { return encode(name, args) }))
	return store(t, filepath.Join(t.TempDir(), name), content)
}

// heads has the videos that Head has drawn in this process, by their numbers of frames, as made has files.
var heads sync.Map

// DrawHead draws the first frames of the sample's video, of 640 × 360 pixels, into a new file. A frame takes .04 s.
func DrawHead(ctx context.Context, path string, frames int) error {
	return demo.Video(ctx, path, frames, 2, func(int) {})
}

// Head draws the first frames of the sample's video, as DrawHead does, into a file in the test's temporary folder, and returns its path. It draws each number of
// frames only once in a process.
func Head(t testing.TB, frames int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drawn.mp4")
	content, _ := heads.LoadOrStore(frames, sync.OnceValues(func() ([]byte, error) {
		if err := DrawHead(context.Background(), path, frames); err != nil {
			return nil, err
		}
		return os.ReadFile(path)
	}))
	return store(t, path, content)
}

// store writes what a function of made or heads returns.
func store(t testing.TB, path string, content any) string {
	t.Helper()
	b, err := content.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// recipe returns what a file is made from: its name, the arguments, and the content of the files that they name.
func recipe(name string, args []string) [sha256.Size]byte {
	all := sha256.New()
	for _, arg := range append([]string{name}, args...) {
		if content, err := os.ReadFile(arg); err == nil {
			arg = string(content)
		}
		fmt.Fprintf(all, "%d %s", len(arg), arg)
	}
	return [sha256.Size]byte(all.Sum(nil))
}

var (
	older  = regexp.MustCompile(`^rotate=|^-color_`)                         // arguments that mean other things in ffmpeg 7: how a video is turned, what its colours mean
	beyond = regexp.MustCompile(`Unknown encoder|Incompatible pixel format`) // messages about an encoder that ffmpeg lacks, and a pixel format that it replaces
)

// encode makes a file with the ffmpeg in PATH, and returns its content. The machine's own makes what is beyond the quick one, and what needs an older one. A clip names
// its encoder where the two have other defaults: the quick one has no Vorbis.
func encode(name string, args []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "clip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name)
	program, installed := "ffmpeg", Installed("ffmpeg")
	if slices.ContainsFunc(args, older.MatchString) {
		program = installed
	}
	args = append(append([]string{"-v", "warning", "-nostdin", "-y"}, args...), "file:"+path)
	out, err := exec.Command(program, args...).CombinedOutput()
	if program != installed && beyond.Match(out) {
		out, err = exec.Command(installed, args...).CombinedOutput()
	}
	if err != nil {
		return nil, fmt.Errorf("ffmpeg %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return os.ReadFile(path)
}
