package sandbox

import (
	"strings"
	"testing"
)

// TestTail writes a text in parts of several sizes. The last 2 KiB of it must be kept.
func TestTail(t *testing.T) {
	var long strings.Builder
	for i := range 3 * tailSize {
		long.WriteByte(byte('a' + i%23))
	}
	for _, text := range []string{"", "short", long.String()[:tailSize], long.String()[:tailSize+1], long.String()} {
		for _, size := range []int{1, 7, tailSize - 1, tailSize, tailSize + 1, 3 * tailSize} {
			var kept Tail
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				if got, err := kept.Write([]byte(rest[:n])); got != n || err != nil {
					t.Fatalf("wrote %d of %d bytes: %v", got, n, err)
				}
				rest = rest[n:]
			}
			if want := text[max(0, len(text)-tailSize):]; kept.String() != want {
				t.Errorf("%d bytes in parts of %d: got %q, want %q", len(text), size, kept.String(), want)
			}
		}
	}
}
