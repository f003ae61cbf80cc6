package conventions

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/test/check"
)

// TestImageCache cuts short the copy of ffmpeg that .ci/image keeps. The next image has all of it.
func TestImageCache(t *testing.T) {
	root := t.TempDir()
	write := func(path, text string) {
		path = filepath.Join(root, path)
		check.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		check.Must(t, os.WriteFile(path, []byte(text), 0o755))
	}
	write("CHANGELOG.md", "## [1.2.3] - 2026-01-02\n")
	write(".ci/image", text(t, ".ci/image"))
	write(".ci/install", "#!/bin/sh\n")
	write(".ci/ffmpeg", "#!/bin/sh\nset -e\nmkdir -p \"$2\"\ntouch \"$2/ffmpeg\"\n[ -z \"$CUT\" ]\ntouch \"$2/library\"\n")
	write("stubs/mmdebstrap", "#!/bin/sh\nfor path; do :; done\ntar -cf \"$path\" -T /dev/null\n")
	var archive bytes.Buffer
	packed := gzip.NewWriter(&archive)
	check.Must(t, tar.NewWriter(packed).Close())
	check.Must(t, packed.Close())
	write("release/lipsync-1.2.3-linux-amd64.tar.gz", archive.String())
	for _, cut := range []string{"1", ""} {
		c := exec.Command(filepath.Join(root, ".ci", "image"), filepath.Join(root, "release"), filepath.Join(root, "cache"))
		c.Env = append(os.Environ(), "CUT="+cut, "PATH="+filepath.Join(root, "stubs")+":"+os.Getenv("PATH"))
		if out, err := c.CombinedOutput(); (err != nil) != (cut != "") {
			t.Fatalf("cut %q: %v, %s", cut, err, out)
		}
	}
	kept, err := filepath.Glob(filepath.Join(root, "cache", "*", "*"))
	check.Must(t, err)
	for i := range kept {
		kept[i] = filepath.Base(kept[i])
	}
	check.Want(t, "kept files", strings.Join(kept, " "), "ffmpeg library")
}
