package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/lipsync"
)

// timeline is the time line of an output, a thousand wide: where mouths follow the speech, where none is synced, and which sounds the lips miss.
type timeline struct {
	Synced, Gaps, Missed []spot
	Says                 string
}

// spot is a place on a time line.
type spot struct {
	X, Width float64
	Says     string
}

// newTimeline returns the time line of a request's output.
func newTimeline(r lipsync.Request) timeline {
	var l timeline
	length := r.Length.Seconds()
	if length <= 0 {
		return l
	}
	place := func(at float64) float64 { return 1000 * min(1, max(0, at/length)) }
	synced := func(from, to float64) {
		if to > from {
			l.Synced = append(l.Synced, spot{X: place(from), Width: place(to) - place(from)})
		}
	}
	end := 0.
	for _, g := range r.Unsynced.Gaps {
		synced(end, g.Start)
		l.Gaps = append(l.Gaps, spot{place(g.Start), max(2, place(g.End)-place(g.Start)), g.Says()})
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
			l.Missed = append(l.Missed, spot{X: place(at), Says: fmt.Sprintf("%.1f s: %s", at, part.what)})
		}
	}
	slices.SortFunc(l.Missed, func(a, b spot) int { return int(a.X - b.X) })
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

// FPS returns the number of frames a second of the output, 0 if it is unknown.
func (r requestPage) FPS() float64 {
	if r.Length <= 0 {
		return 0
	}
	return float64(r.Frames.Total) / r.Length.Seconds()
}

// Verdict returns sentences on how a completed request went.
func (r requestPage) Verdict() string {
	says := []string{}
	if !r.Sync.IsZero() {
		says = append(says, r.Sync.Says())
	} else {
		says = append(says, "The output is done.")
	}
	if gaps := r.Unsynced.Says(); gaps != "" {
		says = append(says, gaps)
	}
	return strings.Join(says, " ")
}

// Summary returns the numbers of a completed request in a line: 3.0 s · 75 frames · took 5.7 s.
func (r requestPage) Summary() string {
	var parts []string
	if r.Length > 0 {
		parts = append(parts, spell(r.Length))
	}
	if r.Frames.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d frames", r.Frames.Total))
	}
	if r.Size > 0 {
		parts = append(parts, size(r.Size))
	}
	return strings.Join(append(parts, "took "+spell(r.FinishedAt.Sub(r.StartedAt).Round(100*time.Millisecond))), " · ")
}
