package version

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"testing"

	"lipsync/internal/sharedtest"
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
