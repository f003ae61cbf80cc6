package alignment

import (
	"slices"

	"lipsync/internal/geom"
)

// leastAlike is how similar two descriptors must be to be taken for one person's.
// Measured on 19 tracks of a second of three people: two in three pairs of one
// person's tracks were above, and all tracks except one, of a head turned far, had
// such a pair; of different people none was above .55. Better no examples than a
// stranger's.
const leastAlike = .8

// memory is how many tracks are remembered for recognising people in later ones.
const memory = 100

// known is a person as one track shows them.
type known struct {
	*track
	descriptor descriptor
}

// recognise finds out who a new track shows, and aligns its samples. A track that
// is like an earlier one is aligned with that one's model, so that the person's
// mouths fit on each other.
func (a *Aligner) recognise(t *track) []geom.Similarity {
	t.model = &model{}
	to := t.model.align(t.samples)
	seen, most := t.model.descriptor(), float32(leastAlike)
	var best *track
	for _, k := range a.people {
		if s := seen.similarity(k.descriptor); s > most && !a.isSeen(k.person, t) {
			best, most = k.track, s
		}
	}
	if best == nil {
		t.person = a.persons
		a.persons++
	} else {
		copied := *best.model
		t.person, t.model = best.person, &copied
		to = t.model.align(t.samples)
		seen = t.model.descriptor()
	}
	if len(a.people) == memory {
		a.people = a.people[1:]
	}
	a.people = append(a.people, known{t, seen})
	return to
}

// isSeen tells whether a person is seen in a frame of the track already: no one is
// there twice.
func (a *Aligner) isSeen(person int, t *track) bool {
	return slices.ContainsFunc(a.people, func(k known) bool {
		return k.person == person && k.first <= t.last && t.first <= k.last
	})
}
