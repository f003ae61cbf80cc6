package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestUndoGoesOn has a resource that can't be removed.
func TestUndoGoesOn(t *testing.T) {
	var made undo
	var gone []string
	for _, what := range []string{"first", "second", "third"} {
		made.add(what, func(context.Context) error {
			gone = append(gone, what)
			if what == "second" {
				return errors.New("it is stuck")
			}
			return nil
		})
	}
	err := made.run()
	if want := "remove second: it is stuck"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := strings.Join(gone, " "); got != "third second first" {
		t.Errorf("got %s, want the last first", got)
	}
}

// TestAfter checks that what could not be removed is reported after an interrupt too, but the
// interrupt itself is not.
func TestAfter(t *testing.T) {
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, c := range []struct {
		name string
		ctx  context.Context
		want string
	}{
		{"failure", t.Context(), "the work failed; remove it: stuck"},
		{"interrupt", interrupted, "remove it: stuck"},
	} {
		var made undo
		made.add("it", func(context.Context) error { return errors.New("stuck") })
		err := made.after(c.ctx, errors.New("the work failed"))
		if err == nil || strings.ReplaceAll(err.Error(), "\n", "; ") != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if err := (undo{}).after(interrupted, context.Canceled); err != nil {
		t.Errorf("interrupt, and nothing stays: got %v, want no error", err)
	}
}
