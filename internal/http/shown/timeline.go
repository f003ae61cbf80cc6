package shown

import (
	"fmt"
	"slices"
	"strings"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Timeline is the time line of an output, a thousand wide: where mouths follow the speech, where none is synced, and which sounds the lips miss.
type Timeline struct {
	Synced, Gaps, Missed []Spot
	Says                 string
	Curve                Curve
}

// Curve is the sync score of each moment, as the path of an area a thousand wide and curveHeight high.
type Curve struct {
	Path, Says string // "" if no score is known
	Height     int
}

// curveHeight is the height of a curve.
const curveHeight = 36

// newCurve draws the curve of an output of that length in seconds.
func newCurve(c order.Curve, length float64) (drawn Curve) {
	least, at := 2., 0
	var path strings.Builder
	for m := range len(c) {
		worst, known := c.At(m)
		if !known {
			continue
		}
		if worst < least {
			least, at = worst, m
		}
		width := 1000 / float64(len(c))
		fmt.Fprintf(&path, "M%.1f %dV%.1fh%.1fV%dz", float64(m)*width, curveHeight, curveHeight-1-worst*(curveHeight-1), width, curveHeight)
	}
	if path.Len() == 0 {
		return Curve{}
	}
	drawn = Curve{Path: path.String(), Height: curveHeight, Says: "The sync score of each moment: as good as it can be throughout."}
	if least < 1 {
		drawn.Says = fmt.Sprintf("The sync score of each moment: the least is %.1f, at %.1f s.", least, (float64(at)+.5)*length/float64(len(c)))
	}
	return drawn
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
	l.Curve = newCurve(r.Sync.Curve, length)
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
