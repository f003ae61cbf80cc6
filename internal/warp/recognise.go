package warp

import "lipsync/internal/face"

// alike is how alike two faces must look to be taken for one person's. Measured
// on 19 takes of a second of three people: two in three pairs of one person's
// takes were above, and all takes but one, of a head turned far, had such a pair;
// of different people none was above .55. Better no examples than a stranger's.
const alike = .8

// memory is how many takes are remembered for recognising people in later ones.
const memory = 100

// acquaintance is a person as one take showed them.
type acquaintance struct {
	person  *person
	look    *face.Look
	aligner face.Aligner
}

// recognise finds out whose take it is from the frames that are aligned. One
// that is like an earlier take is aligned as that one was, so that the person's
// mouths fit on each other.
func (s *session) recognise(t *take) {
	look, most := t.aligner.Look(), float32(alike)
	var best *acquaintance
	for i := range s.known {
		k := &s.known[i]
		if l := look.Likeness(k.look); l > most && !k.person.isIn(t) {
			best, most = k, l
		}
	}
	if best == nil {
		t.person = &person{bank: bank{capacity: bankSize}}
		s.people = append(s.people, t.person)
	} else {
		t.person, t.aligner = best.person, best.aligner
		t.align()
		look = t.aligner.Look()
	}
	t.person.takes = append(t.person.takes, t)
	if len(s.known) == memory {
		s.known = s.known[1:]
	}
	s.known = append(s.known, acquaintance{t.person, look, t.aligner})
}

// isIn tells whether the person is seen in a frame of the take already: no one
// is there twice.
func (p *person) isIn(t *take) bool {
	for _, other := range p.takes {
		if other.first <= t.last && t.first <= other.last {
			return true
		}
	}
	return false
}
