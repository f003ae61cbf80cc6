// Package version holds the version of the product.
package version

import (
	"runtime/debug"
)

// Number is the version of the sources: that of the newest release in CHANGELOG.md.
const Number = "0.1.0"

// String returns the version of this program, such as 0.1.0. If the program was built in
// a clone of the repository, it has the commit too: 0.1.0+1f2e3d4c5b6a, or
// 0.1.0+1f2e3d4c5b6a.modified if a file differed from that commit.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Number
	}
	return describe(info.Settings)
}

// revisionLength is the number of digits that distinguish a commit from all others.
const revisionLength = 12

func describe(settings []debug.BuildSetting) string {
	stamps := map[string]string{}
	for _, s := range settings {
		stamps[s.Key] = s.Value
	}
	revision := stamps["vcs.revision"]
	if revision == "" {
		return Number
	}
	text := Number + "+" + revision[:min(revisionLength, len(revision))]
	if stamps["vcs.modified"] == "true" {
		text += ".modified"
	}
	return text
}
