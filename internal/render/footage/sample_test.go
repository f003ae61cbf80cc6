package footage

import "testing"

// TestInSample counts the frames of the sample in videos of some lengths.
func TestInSample(t *testing.T) {
	for _, c := range [][2]int{{12, 0}, {16, 4}, {100, 8}, {212, 8}, {300, 12}, {1000, 24}} {
		n := 0
		for i := range c[0] {
			if inSample(i) {
				n++
			}
		}
		if n != c[1] {
			t.Errorf("%d of %d frames are in the sample, want %d", n, c[0], c[1])
		}
	}
}
