package sandbox

import "io"

// Tail keeps the last 2 KiB that are written to it, such as the end of the log of a child process.
type Tail struct{ b []byte }

const tailSize = 2 << 10

var _ io.Writer = (*Tail)(nil)

func (t *Tail) Write(b []byte) (int, error) {
	last := b[max(0, len(b)-tailSize):]
	if over := len(t.b) + len(last) - tailSize; over > 0 {
		t.b = t.b[:copy(t.b, t.b[over:])]
	}
	t.b = append(t.b, last...)
	return len(b), nil
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.b) }
