// Command pages copies the pages of documentation, and the files that they offer, to a folder of a release. A link that leads to a file
// which a release doesn't have becomes its words.
//
//	pages ROOT FOLDER
package main

import (
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: pages ROOT FOLDER")
	}
	if err := ship(os.DirFS(os.Args[1]), os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// shipped are the patterns of the files that a release has.
var shipped = []string{
	"README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs/*.md", "docs/measurements/*", "docs/pictures/*.jpg", "docs/pictures/*.png", "infra/README.md", "monitoring/*.*",
	"packaging/compose.yaml",
}

// ship copies the files, with what else they need.
func ship(root fs.FS, folder string) error {
	var names []string
	has := map[string]bool{}
	for _, pattern := range shipped {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			return err
		}
		for _, name := range found {
			names = append(names, name)
			has[name], has[path.Dir(name)] = true, true
		}
	}
	for _, name := range names {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			text = []byte(relink(string(text), path.Dir(name), has))
		}
		to := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

var link = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s]+)\)`)

// relink returns a page of a folder with only the links that lead to a file which the release has, or to another host.
func relink(page, folder string, has map[string]bool) string {
	return link.ReplaceAllStringFunc(page, func(found string) string {
		parts := link.FindStringSubmatch(found)
		file, _, _ := strings.Cut(parts[2], "#")
		if file == "" || strings.Contains(file, ":") || has[path.Join(folder, file)] {
			return found
		}
		return parts[1]
	})
}
