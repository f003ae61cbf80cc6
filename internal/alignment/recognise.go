package alignment

import (
	"slices"

	"lipsync/internal/geom"
)

// leastAlike is how similar the descriptors of two tracks of one person must be. Measured on 19 tracks of a second
// of three people: two in three pairs of one person's tracks were above it, and all tracks except one, of a
// head turned far, had such a pair. No pair of different people was above .55. Someone who isn't recognised
// only has fewer examples, but another person's mouth would be seen.
const leastAlike = .8

// mostRecent is how many tracks are kept to recognise people in later ones.
const mostRecent = 100

// shown is a track with the descriptor of its person.
type shown struct {
	*track
	descriptor descriptor
}

// recognise sets the person of a new track, and aligns its samples. A track that is like an earlier one is aligned
// with that one's reference, so that the person's mouths fit on each other.
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

// seenWith tells whether another track shows the person in a frame of t: no one is in a frame twice.
func (a *Aligner) seenWith(person int, t *track) bool {
	return slices.ContainsFunc(a.recent, func(k shown) bool {
		return k.person == person && k.first <= t.last && t.first <= k.last
	})
}
