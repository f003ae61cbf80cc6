package serial_test

import (
	"errors"
	"io"
	"sync"
	"testing"

	"lipsync/internal/signal/serial"
	"lipsync/internal/test/check"
)

// pair has a code of the same size for each value.
type pair struct {
	n    int
	x    float32
	told bool
}

func (p *pair) code(c *serial.Coder) {
	c.Int(&p.n)
	c.Floats(&p.x)
	c.Bool(&p.told)
}

// TestRecords keeps values after others in the same file, replaces some, and reads all of them at once.
func TestRecords(t *testing.T) {
	file := check.Scratch(t)
	first := serial.NewRecords(file, 0, func(c *serial.Coder, p *pair) { p.code(c) })
	for i := range 10 {
		_, err := first.Add(&pair{n: -i})
		check.Must(t, err)
	}
	r := serial.NewRecords(file, first.End(), func(c *serial.Coder, p *pair) { p.code(c) })
	for i := range 100 {
		if n, err := r.Add(&pair{n: i, told: true}); n != i || err != nil {
			t.Fatalf("value %d has the number %d (%v)", i, n, err)
		}
	}
	check.Must(t, r.Set(40, &pair{x: .5}))
	var all sync.WaitGroup
	for i := range r.Len() {
		all.Go(func() {
			want := pair{n: i, told: true}
			if i == 40 {
				want = pair{x: .5}
			}
			var got pair
			if err := r.Get(i, &got); err != nil || got != want {
				t.Errorf("value %d: got %+v (%v), want %+v", i, got, err, want)
			}
		})
	}
	all.Wait()
	var last pair
	if err := first.Get(9, &last); err != nil || last.n != -9 {
		t.Errorf("the values before: got %+v (%v)", last, err)
	}
}

// TestRecordFaults reads a value that isn't there, writes to a file that is closed, and values of another size.
func TestRecordFaults(t *testing.T) {
	file := check.Scratch(t)
	r := serial.NewRecords(file, 0, func(c *serial.Coder, p *[]int32) { serial.Slice(c, p, c.Int32) })
	if _, err := r.Add(&[]int32{1}); err == nil {
		t.Error("a value of another size was kept")
	}
	var v []int32
	if err := r.Get(3, &v); !errors.Is(err, io.EOF) {
		t.Errorf("a value that isn't there: got %v", err)
	}
	file.Close()
	if _, err := r.Add(new([]int32)); err == nil {
		t.Error("a value was kept in a closed file")
	}
}
