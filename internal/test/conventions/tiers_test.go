package conventions

import (
	"regexp"
	"strings"
	"testing"
)

// TestTiers checks that each test is in exactly one tier, and that continuous integration runs both.
func TestTiers(t *testing.T) {
	makefile, ci := text(t, "Makefile"), text(t, ".ci/run")
	for target, selection := range map[string]string{"test": "-skip '_long$$' $(FIRST) ./...", "test-long": "-run '_long$$'", "test-all": "$(FIRST) ./..."} {
		recipe := regexp.MustCompile("(?m)^" + target + ":.*\n(\t.*\n)+").FindString(makefile)
		if strings.Count(recipe, "$(GOTEST) "+selection) != 1 || strings.Count(recipe, "$(GOTEST)") != 1 {
			t.Errorf("%s: got %q, want it to run go test once, with %s", target, recipe, selection)
		}
	}
	if !regexp.MustCompile("(?m)^make test-all( |$)").MatchString(ci) {
		t.Errorf(".ci/run: got %q, want it to make test-all", ci)
	}
}
