package sandbox

// Tail keeps the last 2 KiB of what is written to it, such as of what a child process says.
type Tail struct{ b []byte }

const tailSize = 2 << 10

// Write implements io.Writer.
func (t *Tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b[max(0, len(b)-tailSize):]...)
	t.b = t.b[max(0, len(t.b)-tailSize):]
	return len(b), nil
}

// String returns what is kept.
func (t *Tail) String() string { return string(t.b) }
