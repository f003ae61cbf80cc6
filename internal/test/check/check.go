// Package check has the checks that tests share.
package check

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
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

// Names compares two lists of names in any order, and tells only the names that differ.
func Names(t testing.TB, what string, got, want []string) {
	t.Helper()
	if extra, missing := without(got, want), without(want, got); len(extra)+len(missing) > 0 {
		t.Errorf("%s: got also %q, and not %q", what, extra, missing)
	}
}

// without returns the names without the others, each of which takes one away.
func without(names, others []string) []string {
	left := slices.Clone(names)
	for _, name := range others {
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return left
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

// ResetPeak gives memory back that tests before left, so that PeakMemory counts from here on.
func ResetPeak(t testing.TB) {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // see proc(5)
		t.Skipf("this machine can't reset a peak of memory: %v", err)
	}
}

// PeakMemory returns the largest memory that this process had since ResetPeak, in bytes.
func PeakMemory(t testing.TB) int64 {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	Must(t, err)
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	_, err = fmt.Sscan(after, &kib)
	Must(t, err)
	return kib << 10
}

// Heap returns the number of bytes in use on the heap.
func Heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
