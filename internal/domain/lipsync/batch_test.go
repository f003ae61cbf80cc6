package lipsync

import (
	"slices"
	"testing"
)

// TestCountsOfStates counts a line of each state: it is in the number that has the state's name, and in no other.
func TestCountsOfStates(t *testing.T) {
	for state, name := range lineStates {
		b := Batch{Lines: string(state)}
		for of, n := range b.Counts().ByState() {
			if want := of == name; n != map[bool]int{true: 1}[want] {
				t.Errorf("%c: got %d of %s, want it among %s", state, n, of, name)
			}
		}
		if !slices.Contains(LineStates(), name) || b.Counts().Lines != 1 {
			t.Errorf("%c: %s is in no list, or %d lines aren't one", state, name, b.Counts().Lines)
		}
	}
}
