package alignment

import (
	"slices"

	"lipsync/internal/signal/geom"
)

// leastAlike is the least similarity of the descriptors of two tracks of one person. It was measured on 19
// tracks of a second, of three people. Two in three pairs of tracks of one person were above it. Only one
// track, of a head turned far, had no such pair. No pair of different people was above .55. A person who isn't
// recognised only has fewer examples, but the mouth of another person would be seen.
const leastAlike = .8

// mostRecent is the number of tracks that are kept to recognise people in later tracks.
const mostRecent = 100

// shown is a track with the descriptor of its person.
type shown struct {
	*track
	descriptor descriptor
}

// recognise sets the person of a new track, and aligns its samples. A track that is like an earlier one is
// aligned with the reference of the earlier one, so that the person's mouths fit on each other.
func (a *Aligner) recognise(t *track) []geom.Similarity {
	t.reference = &reference{}
	to := t.reference.align(t.samples)
	own, most := t.reference.descriptor(), float32(leastAlike)
	var best *track
	for _, k := range a.recent {
		if s := own.similarity(k.descriptor); s > most && !a.seenWith(k.person, t) {
			best, most = k.track, s
		}
	}
	if best == nil {
		t.person = a.persons
		a.persons++
	} else {
		copied := *best.reference
		t.person, t.reference = best.person, &copied
		to = t.reference.align(t.samples)
		own = t.reference.descriptor()
	}
	if len(a.recent) == mostRecent {
		a.recent = a.recent[1:]
	}
	a.recent = append(a.recent, shown{t, own})
	return to
}

// seenWith tells whether another track shows the person in a frame of t. No person is in a frame twice.
func (a *Aligner) seenWith(person int, t *track) bool {
	return slices.ContainsFunc(a.recent, func(k shown) bool {
		return k.person == person && k.first <= t.last && t.first <= k.last
	})
}
