package shown

import (
	"fmt"
	"slices"
	"strings"

	"lipsync/internal/domain/lipsync"
)

// Timeline is the time line of an output, a thousand wide: where mouths follow the speech, where none is synced, and which sounds the lips miss.
type Timeline struct {
	Synced, Gaps, Missed []Spot
	Says                 string
}

// Spot is a place on a time line.
type Spot struct {
	X, Width float64
	Says     string
}

// NewTimeline returns the time line of a request's output.
func NewTimeline(r lipsync.Request) Timeline {
	var l Timeline
	length := r.Length.Seconds()
	if length <= 0 {
		return l
	}
	place := func(at float64) float64 { return 1000 * min(1, max(0, at/length)) }
	synced := func(from, to float64) {
		if to > from {
			l.Synced = append(l.Synced, Spot{X: place(from), Width: place(to) - place(from)})
		}
	}
	end := 0.
	for _, g := range r.Unsynced.Gaps {
		synced(end, g.Start)
		l.Gaps = append(l.Gaps, Spot{place(g.Start), max(2, place(g.End)-place(g.Start)), g.Says()})
		end = g.End
	}
	if r.Frames.Total == 0 || r.Frames.Synced > 0 {
		synced(end, length)
	}
	for _, part := range []struct {
		what string
		at   []float64
	}{{"the lips miss a closure", r.Sync.Closures.Missed}, {"the lips stay shut in an open vowel", r.Sync.Vowels.Missed}} {
		for _, at := range part.at {
			l.Missed = append(l.Missed, Spot{X: place(at), Says: fmt.Sprintf("%.1f s: %s", at, part.what)})
		}
	}
	slices.SortFunc(l.Missed, func(a, b Spot) int { return int(a.X - b.X) })
	l.Says = "The lips follow the speech in the whole output."
	if len(l.Gaps)+len(l.Missed) > 0 {
		var all []string
		for _, s := range slices.Concat(l.Gaps, l.Missed) {
			all = append(all, s.Says)
		}
		l.Says = strings.Join(all[:min(len(all), mostSaid)], "; ")
	}
	return l
}

// mostSaid is the number of places that the text of a time line names, at most.
const mostSaid = 10
