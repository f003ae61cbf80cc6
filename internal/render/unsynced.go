package render

import (
	"slices"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
)

// unsynced returns where the output isn't synced, and why. frames are those in which no mouth was painted.
func (p plan) unsynced(frames []int) order.Unsynced {
	var gaps []order.Gap
	at := func(output int) float64 { return round(p.input.length(output).Seconds()) }
	last := -1 // frame of the last gap
	for _, o := range frames {
		if !p.asked(o) {
			continue
		}
		cause := p.cause(o)
		if n := len(gaps) - 1; n < 0 || gaps[n].Reason != cause || last != o-1 {
			gaps = append(gaps, order.Gap{Start: at(o), Reason: cause})
		}
		gaps[len(gaps)-1].End, last = at(o+1), o
	}
	return order.NewUnsynced(gaps)
}

// asked tells whether the client wants a mouth to be synced in an output frame.
func (p plan) asked(output int) bool {
	inBoxes := p.input.job.Options.Face.By == order.FaceInBoxes
	return p.share(output) > 0 && (!inBoxes || p.input.boxOf(p.line.source(output)) != nil)
}

// cause returns why no mouth is painted in an output frame.
func (p plan) cause(output int) order.Cause {
	for p.island(output) {
		output++ // to the gap after the island
	}
	source := p.line.source(output)
	switch face := p.seen.of(p.speaker(source), source); {
	case face != nil && p.cover(output) != nil:
		return order.MouthHidden
	case face != nil:
		return order.OutOfPicture // the mouth
	case len(p.seen.faces[source]) > 0:
		return order.OtherPerson
	}
	return map[tracking.Lost]order.Cause{
		tracking.Unseen: order.NoFaceSeen, tracking.TooSmall: order.FaceTooSmall, tracking.Outside: order.OutOfPicture, tracking.TurnedAway: order.TurnedAway,
	}[p.seen.lost[source]]
}

// leastIsland is the length of the shortest part of a shot that is synced between parts that aren't, in seconds: a mouth that changes
// for a syllable or two looks like a fault.
const leastIsland = .4

// findIslands tells of each output frame whether its mouth stays as it is because it would be synced for a moment only.
func (p plan) findIslands() []bool {
	gap := func(o int) bool {
		source := p.line.source(o)
		cover := p.cover(o)
		return p.asked(o) && (p.seen.of(p.speaker(source), source) == nil || cover != nil && cover.Whole())
	}
	cut := func(o int) bool { // before the frame
		if o == 0 {
			return true
		}
		from, to := p.line.source(o-1), p.line.source(o)
		next, _ := slices.BinarySearch(p.seen.cuts, min(from, to)+1)
		again := to < from-1 // the video starts again
		return again || next < len(p.seen.cuts) && p.seen.cuts[next] <= max(from, to)
	}
	islands := make([]bool, p.line.frames)
	least := int(leastIsland * p.input.video.Video.Rate.Float())
	after := -1 // the first frame after a gap of this shot, -1 for none
	for o := range p.line.frames {
		if cut(o) || !p.asked(o) {
			after = -1
		}
		if gap(o) {
			if after >= 0 && o-after < least {
				for i := after; i < o; i++ {
					islands[i] = true
				}
			}
			after = o + 1
		}
	}
	return islands
}
