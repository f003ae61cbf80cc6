package footage

import (
	"lipsync/internal/domain/order"
)

// Timeline maps the frames of the output to those of the video.
type Timeline struct {
	Frames int // of the output
	at     func(output int) moment
}

// moment is a time of the video: that of a source frame, or one between a source frame and the next.
type moment struct {
	source int
	next   uint8 // share of the next frame, of 255
}

// NewTimeline returns the timeline of a sync mode. source and speech are the lengths of the video and of the speech track in
// frames, at least 1. cuts has the source frames that begin a shot, in their order.
func NewTimeline(mode order.SyncMode, source, speech int, cuts []int) Timeline {
	switch mode {
	case order.Loop:
		return loop(source, speech)
	case order.CutOff:
		return hold(source, min(source, speech))
	case order.Pad:
		return hold(source, max(source, speech))
	case order.Remap:
		return remap(source, speech, cuts)
	default:
		return bounce(source, speech)
	}
}

// bounce plays the source forward, backward, forward and so on.
func bounce(source, output int) Timeline {
	period := max(1, 2*(source-1))
	return Timeline{output, func(output int) moment {
		i := output % period
		return moment{source: min(i, period-i)}
	}}
}

// loop plays the source again and again.
func loop(source, output int) Timeline {
	return Timeline{output, func(output int) moment { return moment{source: output % source} }}
}

// hold plays the source once, and then shows its last frame.
func hold(source, output int) Timeline {
	return Timeline{output, func(output int) moment { return moment{source: min(output, source-1)} }}
}

// remap plays the source once, faster or slower, so that it fills the output. The middle of each output frame, as a share of the
// output's length, is the time in the source that it shows. If the source plays slower, neighbouring frames of a shot are mixed.
func remap(source, output int, cuts []int) Timeline {
	if source >= output {
		return Timeline{output, func(o int) moment { return moment{source: (2*o + 1) * source / (2 * output)} }}
	}
	cut := make(map[int]bool, len(cuts))
	for _, c := range cuts {
		cut[c] = true
	}
	return Timeline{output, func(o int) moment {
		// The time is at ÷ unit, counted in source frames from the middle of the first one.
		at, unit := max((2*o+1)*source-output, 0), 2*output
		m := moment{source: at / unit, next: uint8(255 * (at % unit) / unit)}
		if m.source >= source-1 {
			return moment{source: source - 1}
		}
		if cut[m.source+1] {
			return moment{source: m.nearest()}
		}
		return m
	}}
}

// nearest returns the source frame that is nearest in time.
func (m moment) nearest() int {
	if m.next >= 128 {
		return m.source + 1
	}
	return m.source
}

// Source returns the source frame that an output frame shows, or the one with the larger share of it.
func (t Timeline) Source(output int) int { return t.at(output).nearest() }

// run returns the end of the longest run that begins with the output frame from, and whether the run plays backward. In a run the
// source frames descend one by one, or they don't descend.
func (t Timeline) run(from int) (to int, backward bool) {
	descends := func(o int) bool { return t.at(o).source < t.at(o-1).source }
	to = from + 1
	if to == t.Frames {
		return to, from > 0 && descends(from)
	}
	for backward = descends(to); to < t.Frames && descends(to) == backward; to++ {
	}
	return to, backward
}

// shownOnce reports whether each of the output frames in [from, to) shows a whole source frame that comes
// after that of the frame before.
func (t Timeline) shownOnce(from, to int) bool {
	last := -1
	for o := from; o < to; o++ {
		m := t.at(o)
		if m.next > 0 || m.source <= last {
			return false
		}
		last = m.source
	}
	return true
}
