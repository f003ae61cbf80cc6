package version

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestChangelog wants the newest release of the changelog to be of this version.
func TestChangelog(t *testing.T) {
	changelog, err := os.ReadFile(filepath.Join(sharedtest.Root(t), "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	release := regexp.MustCompile(`(?m)^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$`).FindSubmatch(changelog)
	if release == nil {
		t.Fatal("the changelog has no release")
	}
	if got := string(release[1]); got != Number {
		t.Errorf("the changelog's newest release is %s, want %s", got, Number)
	}
}

// TestProgram compares the digest with that of the file of this test.
func TestProgram(t *testing.T) {
	file, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Program(); err != nil || got != fmt.Sprintf("%x", sha256.Sum256(file)) {
		t.Errorf("got %s (%v), want the SHA-256 of %s", got, err, os.Args[0])
	}
}

// replaced is the first argument with which the test's own program prints the result of Program after its input has ended.
const replaced = "replaced"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == replaced {
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Println(Program())
		return
	}
	os.Exit(m.Run())
}

// TestReplacedProgram runs a copy of this test, and puts another file in its place while it runs.
func TestReplacedProgram(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the file of a program that was replaced")
	}
	file, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, next := filepath.Join(dir, "program"), filepath.Join(dir, "next")
	for path, content := range map[string][]byte{path: file, next: []byte("another program")} {
		if err := os.WriteFile(path, content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	program := exec.CommandContext(t.Context(), path, replaced)
	input, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	program.Stdout = &said
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(next, path), input.Close(), program.Wait()); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x <nil>\n", sha256.Sum256(file)); said.String() != want {
		t.Errorf("got %q, want %q", said.String(), want)
	}
}

func TestDescribe(t *testing.T) {
	const revision = "1f2e3d4c5b6a79880716253443526170"
	for _, c := range []struct {
		name     string
		settings []debug.BuildSetting
		want     string
	}{
		{name: "built without a repository", want: Number},
		{
			name:     "built from a commit",
			settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: "false"}},
			want:     Number + "+1f2e3d4c5b6a",
		},
		{
			name:     "built from changed files",
			settings: []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: "true"}},
			want:     Number + "+1f2e3d4c5b6a.modified",
		},
	} {
		if got := describe(c.settings); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
