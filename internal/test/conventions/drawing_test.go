package conventions

import (
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	drawn    = regexp.MustCompile(`([a-z0-9]+)(?:/([a-z0-9]+)|/\{([a-z0-9,]+)\})?`)
	groupDoc = regexp.MustCompile(`^internal/[^/]+/doc\.go$`)
	list     = regexp.MustCompile(`([a-z]+(?:, [a-z]+)*) $`)
	begin    = regexp.MustCompile(`^ [a-z]+(?:, [a-z]+)*`)
)

// spot is where the drawing has a folder of internal: its line, and on which side of the wall │ (-1 or 1; 0: there is none).
type spot struct{ line, side int }

// drawing is the first drawing of docs/architecture.md.
type drawing struct {
	spots    map[string]spot
	packages map[string][]string // of each folder, such as ffmpeg and ffmpeg/medium
	domain   [][]rune            // the lines about the packages of the domain
}

// readDrawing reads the drawing. groups are the folders of internal. Each line of a folder's packages begins with its name, or is below one that does.
func readDrawing(t *testing.T, groups []string) drawing {
	t.Helper()
	d := drawing{spots: map[string]spot{}, packages: map[string][]string{}}
	parts := strings.Split(strings.Trim(fence.FindString(text(t, "docs/architecture.md")), "`\n"), "\n\n")
	if len(parts) != 3 {
		t.Fatalf("the drawing has %d parts, want programs, folders and the domain", len(parts))
	}
	last := map[int]string{} // the folder on a side
	for i, line := range strings.Split(strings.TrimPrefix(parts[1], "internal"), "\n") {
		left, right, wall := strings.Cut(line, "│")
		for half, names := range []string{left, right} {
			side := 0
			if wall {
				side = 2*half - 1
			}
			for _, name := range drawn.FindAllStringSubmatch(names, -1) {
				if _, known := d.spots[name[0]]; !known && slices.Contains(groups, name[0]) {
					d.spots[name[0]], last[side] = spot{i, side}, name[0]
					continue
				}
				group := last[side]
				d.packages[group] = append(d.packages[group], name[1])
				for inner := range strings.SplitSeq(name[2]+name[3], ",") {
					if inner != "" {
						d.packages[group] = append(d.packages[group], name[1]+"/"+inner)
					}
				}
			}
		}
	}
	for line := range strings.SplitSeq(parts[2], "\n") {
		d.domain = append(d.domain, []rune(strings.Replace(line, "domain", "      ", 1)))
	}
	return d
}

// arrows returns what is drawn to import each package of the domain: others of it, and folders.
func (d drawing) arrows(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for i, line := range d.domain {
		for j, r := range line {
			if r != '◄' {
				continue
			}
			head := list.FindStringSubmatch(string(line[:j]))
			if head == nil {
				t.Errorf("an arrow leads to nothing: %s", string(line))
				continue
			}
			to := head[1]
			from := d.follow(i, j+1, 0, 1)
			if len(from) == 0 {
				t.Errorf("an arrow to %s comes from nowhere", to)
			}
			for name := range strings.SplitSeq(to, ", ") {
				all[name] = append(all[name], from...)
			}
		}
	}
	return all
}

// follow returns the names to which a line of the drawing leads from a place, in a direction: down or up (1, -1), or right.
func (d drawing) follow(i, j, down, right int) (names []string) {
	if i < 0 || i >= len(d.domain) || j >= len(d.domain[i]) {
		return nil
	}
	switch r := d.domain[i][j]; {
	case r == '─' && right != 0:
		return d.follow(i, j+right, 0, right)
	case r == '┬' && right > 0:
		return append(d.follow(i, j+1, 0, 1), d.follow(i+1, j, 1, 0)...)
	case (r == '┬' || r == '└') && right == 0: // of ┬ the left side leads to the head of another arrow
		return d.follow(i, j+1, 0, 1)
	case r == '┘' && right > 0:
		return d.follow(i-1, j, -1, 0)
	case r == ' ' && right > 0:
		return strings.Split(strings.TrimSpace(begin.FindString(string(d.domain[i][j:]))), ", ")
	}
	return nil
}

// TestDrawing checks the first drawing of docs/architecture.md. It has each package where its folder is, except commands and those of internal/test,
// and no other. All imports between folders lead down and not through the wall. Each arrow in the domain stands for an import, and each import of
// the domain for an arrow, or for several in a row.
func TestDrawing(t *testing.T) {
	groups := slices.Collect(maps.Keys(readGroups(t)))
	d := readDrawing(t, groups)
	arrows := d.arrows(t)
	d.packages["domain"] = slices.AppendSeq(slices.Collect(maps.Keys(arrows)), maps.Keys(invert(arrows)))
	d.packages["domain"] = slices.DeleteFunc(d.packages["domain"], func(name string) bool { return slices.Contains(groups, name) })
	there, imported := map[string][]string{}, map[string][]string{} // packages of each folder, and what imports each package of the domain
	sources(t, func(file string, source *ast.File) {
		group, sub, internal := place(path.Dir(file))
		if !internal || group == "test" || source.Name.Name == "main" || strings.Contains(file, "/testdata/") {
			return
		}
		if !groupDoc.MatchString(file) {
			there[group] = append(there[group], sub)
		}
		for _, name := range imports(t, source) {
			to, target, ours := place(strings.TrimPrefix(name, "lipsync/"))
			from, over := d.spots[group], d.spots[to]
			switch {
			case !ours || !strings.HasPrefix(name, "lipsync/"):
			case group != to && (over.line <= from.line || over.side*from.side < 0):
				t.Errorf("%s imports %s, to which no way leads down in the drawing", file, name)
			case to == "domain" && group == to:
				imported[target] = append(imported[target], sub)
			case to == "domain":
				imported[target] = append(imported[target], group)
			}
		}
	})
	for _, group := range groups {
		if _, ok := d.spots[group]; !ok {
			t.Errorf("the folder %s isn't drawn", group)
		}
		if got, want := sorted(d.packages[group]), sorted(there[group]); !slices.Equal(got, want) {
			t.Errorf("in %s are drawn %v, want %v", group, got, want)
		}
	}
	for to, all := range arrows {
		for _, from := range all {
			if !slices.Contains(imported[to], from) {
				t.Errorf("an arrow leads from %s to %s, which it doesn't import", from, to)
			}
		}
	}
	ways := invert(arrows)
	for to, all := range imported {
		for _, from := range sorted(all) {
			if !leads(ways, from, to, map[string]bool{}) {
				t.Errorf("%s imports %s, and no arrows lead there", from, to)
			}
		}
	}
	if len(there) < 10 || len(imported) < 10 {
		t.Errorf("got %d folders and %d packages of the domain, too few", len(there), len(imported))
	}
}

// sorted returns the names in order, each once.
func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// invert turns all arrows.
func invert(arrows map[string][]string) map[string][]string {
	turned := map[string][]string{}
	for to, all := range arrows {
		for _, from := range all {
			turned[from] = append(turned[from], to)
		}
	}
	return turned
}

// leads reports whether arrows lead from one name to another. passed has those from which it was asked.
func leads(ways map[string][]string, from, to string, passed map[string]bool) bool {
	if passed[from] {
		return false
	}
	passed[from] = true
	return slices.ContainsFunc(ways[from], func(next string) bool { return next == to || leads(ways, next, to, passed) })
}
