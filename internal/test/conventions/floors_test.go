package conventions

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// group is a folder of internal, with what its doc.go says.
type group struct {
	imports map[string]string   // groups that its packages may import; if only one of them may, its name
	inside  map[string][]string // packages of the group that a package of it may import
}

// TestFloors checks that each folder of internal has a doc.go that says what its packages may
// import, that they import nothing else of this repository, and that no rule is unused. So the
// groups are floors: no import leads up, and none in a circle.
func TestFloors(t *testing.T) {
	groups := readGroups(t)
	used := map[string]bool{}
	sources(t, func(file string, source *ast.File) {
		from, sub, ok := place(path.Dir(file))
		if !ok || from == "test" || strings.Contains(file, "/testdata/") {
			ours := strings.HasPrefix(file, "infra/local/") || strings.HasPrefix(file, "infra/smoke/") || from == "test"
			for _, name := range imports(t, source) {
				if strings.HasPrefix(name, "lipsync/internal/test/") && !ours {
					t.Errorf("%s imports %s, which is for tests", file, name)
				}
			}
			return
		}
		for _, name := range imports(t, source) {
			name, ours := strings.CutPrefix(name, "lipsync/")
			if !ours {
				continue
			}
			to, target, internal := place(name)
			if !internal {
				to = name
			}
			only, allowed := groups[from].imports[to]
			rule := from + " imports " + to
			if to == from {
				rule, only, allowed = from+": "+sub+" imports "+target, "", slices.Contains(groups[from].inside[sub], target)
			}
			used[rule] = true
			if room, _, _ := strings.Cut(sub, "/"); !allowed || only != "" && only != room {
				t.Errorf("%s imports %s, which the doc.go of its group doesn't allow", file, name)
			}
		}
	})
	for name, g := range groups {
		for to := range g.imports {
			if name != "test" && !used[name+" imports "+to] {
				t.Errorf("internal/%s/doc.go allows imports of %s, which has none", name, to)
			}
		}
		for sub, all := range g.inside {
			for _, to := range all {
				if name != "test" && !used[name+": "+sub+" imports "+to] {
					t.Errorf("internal/%s/doc.go lets %s import %s, which it doesn't", name, sub, to)
				}
			}
		}
	}
	for name := range groups {
		if circle := reach(groups, name, name, map[string]bool{}); circle != "" {
			t.Errorf("imports lead in a circle: %s", circle)
		}
	}
}

// reach returns a way by imports from one group to another, or "".
func reach(groups map[string]group, from, to string, seen map[string]bool) string {
	for next := range groups[from].imports {
		if next == to {
			return from + " → " + to
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if way := reach(groups, next, to, seen); way != "" {
			return from + " → " + way
		}
	}
	return ""
}

// place returns the group of a folder of internal, and the package's path inside of it. A package in
// the group's own folder has the name of the group.
func place(folder string) (group, sub string, ok bool) {
	folder, ok = strings.CutPrefix(folder, "internal/")
	group, sub, _ = strings.Cut(folder, "/")
	if sub == "" {
		sub = group
	}
	return group, sub, ok
}

var (
	mayImport = regexp.MustCompile(`May import: ([^.]*)\.`)
	inside    = regexp.MustCompile(`Inside: ([^.]*)\.`)
)

// readGroups reads the rules in the doc.go of each folder of internal.
func readGroups(t *testing.T) map[string]group {
	t.Helper()
	folders, err := os.ReadDir(filepath.Join(sharedtest.Root(t), "internal"))
	if err != nil || len(folders) > 12 {
		t.Fatalf("got %d folders in internal, want 12 or fewer: %v", len(folders), err)
	}
	groups := map[string]group{}
	for _, folder := range folders {
		name := path.Join("internal", folder.Name(), "doc.go")
		doc := strings.ReplaceAll(strings.ReplaceAll(text(t, name), "\n// ", " "), "\n//", "\n")
		may, in := mayImport.FindStringSubmatch(doc), inside.FindStringSubmatch(doc)
		if may == nil || in == nil {
			t.Fatalf("%s has no line \"May import: ….\" or no line \"Inside: ….\"", name)
		}
		g := group{imports: map[string]string{}, inside: map[string][]string{}}
		if may[1] != "nothing" {
			for rule := range strings.SplitSeq(may[1], ", ") {
				to, only, _ := strings.Cut(rule, " for ")
				g.imports[to] = only
			}
		}
		for rule := range strings.SplitSeq(in[1], "; ") {
			if from, to, ok := strings.Cut(rule, " → "); ok {
				g.inside[from] = strings.Split(to, ", ")
			}
		}
		groups[folder.Name()] = g
	}
	return groups
}

// TestRooms checks that the rooms of pictures and sound know failures and orders, and nothing else of what the product
// is, and that stores know records and bounds of transfers besides. Only networks have settings, and only signed outputs and engines have the
// version.
func TestRooms(t *testing.T) {
	sources(t, func(file string, source *ast.File) {
		group, _, ok := place(path.Dir(file))
		if !ok || !slices.Contains([]string{"face", "media", "network", "render", "signal", "sound", "store"}, group) {
			return
		}
		for _, name := range imports(t, source) {
			room, domain := strings.CutPrefix(name, "lipsync/internal/domain/")
			allowed := room == "failure" || room == "order" || room == "settings" && group == "network" || room == "version" && (group == "media" || group == "render") ||
				(room == "lipsync" || room == "transfer") && group == "store"
			if domain && !allowed {
				t.Errorf("%s imports %s", file, name)
			}
		}
	})
}

// TestDomain checks that the domain's packages, except the table of settings, import only the
// standard library, google/uuid and each other.
func TestDomain(t *testing.T) {
	sources(t, func(file string, source *ast.File) {
		if !strings.HasPrefix(file, "internal/domain/") || strings.HasPrefix(file, "internal/domain/settings/") {
			return
		}
		for _, name := range imports(t, source) {
			// Outside the standard library, the first element of a path is a host.
			host, _, _ := strings.Cut(name, "/")
			if name != "github.com/google/uuid" && strings.Contains(host, ".") {
				t.Errorf("%s imports %s", file, name)
			}
		}
	})
}
