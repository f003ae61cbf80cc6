package awstest

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// shared is the one emulator of a test binary. It ends with the binary.
var shared = sync.OnceValues(func() (*Emulator, error) { return Start(context.Background(), Options{}) })

// Shared returns the emulator that all tests of the binary use. It skips the
// test where the emulator is not installed.
func Shared(t testing.TB) *Emulator {
	t.Helper()
	e, err := shared()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the emulator of AWS is not installed; make test does it: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Table makes an empty table like the deployed one and returns its name.
func (e *Emulator) Table(t testing.TB) string {
	t.Helper()
	name := "table-" + uuid.NewString()
	if err := e.CreateTable(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	return name
}
