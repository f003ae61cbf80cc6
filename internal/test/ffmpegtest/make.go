package ffmpegtest

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// made has the files that Make has made in this process, by what they were made from. The values are
// functions that return a file's content.
var made sync.Map

// Make makes a file with the machine's own ffmpeg in the test's temporary folder, and returns its path. It makes each
// file only once in a process, and copies it from then on.
func Make(t testing.TB, name string, args ...string) string {
	t.Helper()
	content, _ := made.LoadOrStore(recipe(name, args), sync.OnceValues(func() ([]byte, error) { return encode(name, args) }))
	b, err := content.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
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

// encode makes a file with ffmpeg, and returns its content.
func encode(name string, args []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "clip-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, name)
	args = append(append([]string{"-v", "error", "-nostdin", "-y"}, args...), "file:"+path)
	if out, err := exec.Command(Installed("ffmpeg"), args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("ffmpeg %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return os.ReadFile(path)
}
