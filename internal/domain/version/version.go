// Package version holds the version of the product.
package version

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// Number is the version of the sources: that of the newest release in CHANGELOG.md.
const Number = "0.1.0"

// mark follows Number in the version of a program that is no release, such as -trial. The linker sets it.
var mark = ""

// String returns the version of this program, such as 0.1.0. If the program was built in
// a clone of the repository, it has the commit too: 0.1.0+1f2e3d4c5b6a, or
// 0.1.0+1f2e3d4c5b6a.modified if a file differed from that commit.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number + mark
	}
	return describe(info.Settings)
}

// Program returns the SHA-256 of the file of this program, in hexadecimal. It differs between any two builds with different sources, also if
// their String is the same, as it is without a clone of the repository.
var Program = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if runtime.GOOS == "linux" {
		path, err = "/proc/self/exe", nil // is this program after an upgrade too, when another file has the path
	}
	if err != nil {
		return "", err
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
})

// revisionLength is the number of digits that distinguish a commit from all others.
const revisionLength = 12

func describe(settings []debug.BuildSetting) string {
	stamps := map[string]string{}
	for _, s := range settings {
		stamps[s.Key] = s.Value
	}
	revision := stamps["vcs.revision"]
	if revision == "" {
		return Number + mark
	}
	text := Number + mark + "+" + revision[:min(revisionLength, len(revision))]
	if stamps["vcs.modified"] == "true" {
		text += ".modified"
	}
	return text
}
