package render

// timeline maps output frames to source frames: the source plays forward and backward in turn, until the output has its length.
// Its fields are lengths in frames. source is at least 1.
type timeline struct{ source, output int }

// at returns the source frame under an output frame.
func (t timeline) at(output int) int {
	if t.source == 1 {
		return 0
	}
	period := 2 * (t.source - 1)
	i := output % period
	return min(i, period-i)
}

// backward tells whether an output frame is part of a run from the source's end to its beginning. Such a run ends at source frame
// 1, since the next one starts at frame 0.
func (t timeline) backward(output int) bool {
	return t.source > 1 && output%(2*(t.source-1)) >= t.source
}
