package sqlite

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// TestObserver calls each method of each port, and checks that the operations have different names. Only Rates, Upkeep and the note of
// a call don't use the database then.
func TestObserver(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	by := map[string]string{} // the method of each operation
	for field, port := range reflect.ValueOf(s.Store).Fields() {
		for method := range field.Type.Methods() {
			name := field.Name + "." + method.Name
			var operations []string
			s.Observer = func(_ context.Context, operation string, took time.Duration, _ error) {
				operations = append(operations, operation)
				if took <= 0 {
					t.Errorf("%s took %v", name, took)
				}
			}
			call(t.Context(), port.Elem().MethodByName(method.Name))
			slices.Sort(operations)
			operations = slices.Compact(operations)
			want := 1
			switch name {
			case "Rates.Take", "Leases.Upkeep":
				want = 0
			case "Calls.Note": // which writes later
				want = 0
				s.Observer = func(context.Context, string, time.Duration, error) {}
				if err := s.Calls.(*calls).flush(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if len(operations) != want {
				t.Errorf("%s: got operations %v, want %d", name, operations, want)
			}
			for _, o := range operations {
				if other := by[o]; other != "" {
					t.Errorf("%s is the operation of %s and %s", o, other, name)
				}
				by[o] = name
			}
		}
	}
	if len(by) > 100 {
		t.Errorf("got %d operations, want few: each is a label of a metric", len(by))
	}
}

// call calls a method with zero values, and functions that return such.
func call(ctx context.Context, method reflect.Value) {
	var in []reflect.Value
	for t := range method.Type().Ins() {
		switch {
		case t == reflect.TypeFor[context.Context]():
			in = append(in, reflect.ValueOf(ctx))
		case t.Kind() == reflect.Func:
			in = append(in, reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
				for t := range t.Outs() {
					out = append(out, reflect.Zero(t))
				}
				return out
			}))
		default:
			in = append(in, reflect.Zero(t))
		}
	}
	if method.Type().IsVariadic() {
		method.CallSlice(in)
		return
	}
	method.Call(in)
}

// TestObservedError checks that the observer gets the errors of reads, of changes, and of a store that is closed.
func TestObservedError(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "lipsync.db"))
	if err != nil {
		t.Fatal(err)
	}
	var got error
	s.Observer = func(_ context.Context, _ string, _ time.Duration, err error) { got = err }
	for _, c := range []struct {
		name string
		call func() error
		want failure.Code
	}{
		{"read", func() error { _, err := s.Requests.ByID(t.Context(), "none"); return err }, failure.NotFound},
		{"change", func() error { return s.Leases.Renew(t.Context(), "none", "token", time.Now()) }, failure.Conflict},
		{"list", func() error { _, err := s.Keys.List(t.Context(), ""); return err }, ""},
		{"closed", func() error { _ = s.Close(); return s.Keys.Create(t.Context(), lipsync.Key{}) }, failure.Internal},
	} {
		if err := c.call(); err != got || failure.CodeOf(got) != c.want {
			t.Errorf("%s: got %v, and the observer got %v, want the code %q", c.name, err, got, c.want)
		}
	}
}
