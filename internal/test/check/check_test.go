package check

import (
	"slices"
	"testing"
)

// TestWithout checks what is left of names, of which one comes twice.
func TestWithout(t *testing.T) {
	if got := without([]string{"a", "b", "c", "b"}, []string{"b", "d", "a"}); !slices.Equal(got, []string{"c", "b"}) {
		t.Errorf("got %q", got)
	}
}
