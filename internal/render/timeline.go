package render

// timeline says which source frame is under each output frame: the source plays
// forward and backward until the output is full.
type timeline struct{ source, output int } // lengths in frames, source ≥ 1

func (t timeline) at(output int) int {
	if t.source == 1 {
		return 0
	}
	period := 2 * (t.source - 1)
	i := output % period
	return min(i, period-i)
}

// backward tells whether the output frame belongs to a run from the source's
// end to its beginning. Such a run ends at source frame 1: the next one starts
// at 0.
func (t timeline) backward(output int) bool {
	return t.source > 1 && output%(2*(t.source-1)) >= t.source
}
