package conventions

import (
	"regexp"
	"strings"
	"testing"

	"lipsync/internal/domain/settings"
)

// TestSettingsNamedOnce wants flags, variables and keys of settings to be named in their table only. Tests name them on
// purpose: they are promises.
func TestSettingsNamedOnce(t *testing.T) {
	names := settingNames()
	for _, text := range []string{"try --max-side 10", `"LIPSYNC_MAX_SIDE"`, "-c lipsync:maxSide=10"} {
		if mentioned(text, names) == "" {
			t.Errorf("%s names no setting", text)
		}
	}
	sourceLines(t, func(path string, lines []string) {
		if strings.HasPrefix(path, "internal/domain/settings/") {
			return
		}
		for n, line := range lines {
			if name := mentioned(line, names); name != "" {
				t.Errorf("%s:%d names the setting %s", path, n+1, name)
			}
		}
	})
}

var spelledAsSetting = regexp.MustCompile(`--[a-z-]+|LIPSYNC_[A-Z_]+|lipsync:\w+`)

// mentioned returns a name of a setting that is in the line, "" for none.
func mentioned(line string, names map[string]bool) string {
	for _, name := range spelledAsSetting.FindAllString(line, -1) {
		if names[name] {
			return name
		}
	}
	return ""
}

// settingNames returns all names that settings have where they are set.
func settingNames() map[string]bool {
	names := map[string]bool{}
	for _, e := range settings.At(settings.Machine | settings.Caller | settings.Stack | settings.Passing | settings.Functions | settings.Runner) {
		line := e.Line()
		names[line.Env()], names[line.Context()] = true, true
		if line.Where&(settings.Machine|settings.Caller) != 0 {
			names[line.Flag()] = true
		}
	}
	return names
}
