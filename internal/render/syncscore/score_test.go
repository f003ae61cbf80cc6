package syncscore

import (
	"slices"
	"testing"
)

// TestSpread measures all frames of a short output, and parts of the whole length of a long one.
func TestSpread(t *testing.T) {
	for _, n := range []int{0, 1, scoredPiece, mostScored, mostScored + 1, 10*mostScored + 7, 90000} {
		frames := make([]int, n)
		for i := range frames {
			frames[i] = 3 * i
		}
		got := spread(slices.Clone(frames))
		if len(got) > mostScored || !slices.IsSorted(got) || n <= mostScored && !slices.Equal(got, frames) {
			t.Errorf("of %d: got %d frames, or not in order", n, len(got))
		}
		if n > mostScored && (len(got) < mostScored-scoredPiece || 10*got[0] > 3*n || got[len(got)-1] < 3*n/10*8) {
			t.Errorf("of %d: got %d frames from %d to %d", n, len(got), got[0], got[len(got)-1])
		}
	}
}
