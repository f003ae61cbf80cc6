package sandbox

import (
	"context"
	"debug/elf"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// library matches a line of the loader's list. The path is after the arrow.
var library = regexp.MustCompile(`(?m)=> (/.+) \(0x[0-9a-f]+\)$`)

// Needs returns the files that a program always needs: itself, the loader, and the folders of its
// libraries and of those that it opens by name, as the loader finds them. Files that it can't find
// out are missing; a trial shows whether the program runs without them.
func Needs(ctx context.Context, program string, opens ...string) Files {
	files := Files{Run: []string{program}}
	loader := interpreter(program)
	if loader == "" {
		return files
	}
	// With the first variable, the loader lists the libraries instead of running the program. It
	// ignores those of the second that it doesn't find.
	list := exec.CommandContext(ctx, program)
	list.Env = []string{"LD_TRACE_LOADED_OBJECTS=1", "LD_PRELOAD=" + strings.Join(opens, " ")}
	out, _ := list.Output()
	folders := map[string]bool{}
	for _, match := range library.FindAllStringSubmatch(string(out), -1) {
		if path, err := filepath.EvalSymlinks(match[1]); err == nil {
			folders[filepath.Dir(path)] = true
		}
	}
	files.Run = append(files.Run, loader)
	files.Read = append(slices.Sorted(maps.Keys(folders)), "/etc/ld.so.cache")
	return files
}

// interpreter returns the loader that a program names, or "" if it names none.
func interpreter(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, segment := range f.Progs {
		if segment.Type == elf.PT_INTERP {
			path := make([]byte, segment.Filesz)
			_, _ = segment.ReadAt(path, 0)
			return strings.TrimRight(string(path), "\x00")
		}
	}
	return ""
}
