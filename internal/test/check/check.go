// Package check has the checks that tests of the domain share.
package check

import (
	"os"
	"reflect"
	"runtime"
	"syscall"
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

// Scratch returns an empty file that exists until the test ends.
func Scratch(t testing.TB) *os.File {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	Must(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// PeakMemory returns the largest memory that this process ever had, in bytes.
func PeakMemory(t testing.TB) int64 {
	t.Helper()
	var used syscall.Rusage
	Must(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return used.Maxrss << 10
}

// Heap returns the number of bytes in use on the heap.
func Heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
