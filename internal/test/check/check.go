// Package check has the checks that tests of the domain share.
package check

import (
	"reflect"
	"testing"

	"lipsync/internal/domain/failure"
)

// Must ends the test if there is an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Want compares two values by reflect.DeepEqual.
func Want[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Error compares an error's code and public message. Both are "" for no error.
func Error(t testing.TB, what string, err error, code failure.Code, message string) {
	t.Helper()
	got := ""
	if err != nil {
		got = failure.MessageOf(err)
	}
	if failure.CodeOf(err) != code || got != message {
		t.Errorf("%s: got %q %q (%v), want %q %q", what, failure.CodeOf(err), got, err, code, message)
	}
}
