package serial_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"lipsync/internal/signal/serial"
)

// value has a field of each kind.
type value struct {
	n      int
	small  int32
	bits   uint32
	x, y   float32
	pixels [3]byte
	lists  [][]int32
}

func (v *value) code(c *serial.Coder) {
	c.Int(&v.n)
	c.Int32(&v.small)
	c.Uint32(&v.bits)
	c.Floats(&v.x, &v.y)
	c.Bytes(v.pixels[:])
	serial.Slice(c, &v.lists, func(l *[]int32) { serial.Slice(c, l, c.Int32) })
}

func written(t testing.TB, v value) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := serial.Write(&b, v.code); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func sample() value {
	return value{-5, math.MinInt32, math.MaxUint32, -.5, float32(math.Inf(1)), [3]byte{1, 2, 3}, [][]int32{{1, -2}, nil, {3}}}
}

// TestCoder reads what it wrote, and finds each changed, missing or added byte.
func TestCoder(t *testing.T) {
	b := written(t, sample())
	var got value
	if err := serial.Read(bytes.NewReader(b), got.code); err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("got %+v (%v), want %+v", got, err, sample())
	}
	for i := range b {
		changed := bytes.Clone(b)
		changed[i] ^= 4
		for _, bad := range [][]byte{changed, b[:i]} {
			if err := serial.Read(bytes.NewReader(bad), new(value).code); !errors.Is(err, serial.ErrCorrupt) {
				t.Errorf("byte %d of %d changed or missing: got %v", i, len(b), err)
			}
		}
	}
	if err := serial.Read(bytes.NewReader(append(b, 0)), new(value).code); !errors.Is(err, serial.ErrCorrupt) {
		t.Errorf("a byte too many: got %v", err)
	}
}

// TestErrors passes on the errors of streams.
func TestErrors(t *testing.T) {
	v := sample()
	failed := errors.New("failed")
	b := written(t, v)
	if err := serial.Read(io.MultiReader(bytes.NewReader(b[:20]), failing{failed}), v.code); !errors.Is(err, failed) {
		t.Errorf("read: got %v", err)
	}
	if err := serial.Write(failing{failed}, v.code); !errors.Is(err, failed) {
		t.Errorf("write: got %v", err)
	}
}

type failing struct{ error }

func (f failing) Read([]byte) (int, error)  { return 0, f.error }
func (f failing) Write([]byte) (int, error) { return 0, f.error }

// FuzzRead reads any bytes. What can be read is written as the same bytes.
func FuzzRead(f *testing.F) {
	f.Add(written(f, sample()))
	f.Add(written(f, value{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v value
		if serial.Read(bytes.NewReader(b), v.code) == nil && !bytes.Equal(written(t, v), b) {
			t.Errorf("%x becomes %x", b, written(t, v))
		}
	})
}
