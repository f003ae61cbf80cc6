package render

import (
	"slices"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/geom"
)

// unsynced returns where the output isn't synced, and why. frames are those in which no mouth was painted.
func (p plan) unsynced(frames []int) order.Unsynced {
	var gaps []order.Gap
	at := func(output int) float64 { return order.Rounded(p.input.length(output).Seconds()) }
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
	return p.share(output) > 0 && (!inBoxes || p.input.boxOf(p.line.Source(output)) != nil)
}

// cause returns why no mouth is painted in an output frame.
func (p plan) cause(output int) order.Cause {
	for p.island(output) {
		output++ // to the gap after the island
	}
	source := p.line.Source(output)
	switch face := p.seen.Of(p.speaker(source), source); {
	case face != nil && p.outside(face):
		return order.OutOfPicture
	case face != nil:
		return order.MouthHidden
	case p.seen.Count(source) > 0:
		return order.OtherPerson
	}
	return map[tracking.Lost]order.Cause{
		tracking.Unseen: order.NoFaceSeen, tracking.TooSmall: order.FaceTooSmall, tracking.Outside: order.OutOfPicture, tracking.TurnedAway: order.TurnedAway,
	}[p.seen.lost[source]]
}

// sight is how much is seen of the mouth that is to be synced in an output frame.
type sight int

const (
	unasked sight = iota // no mouth is to be synced
	nothing              // there is no face, or its mouth is hidden or outside of the picture
	little               // more than half of the mouth is hidden
	most
)

// sight returns that of an output frame.
func (p plan) sight(output int) sight {
	source := p.line.Source(output)
	face, cover := p.seen.Of(p.speaker(source), source), p.cover(output)
	switch {
	case !p.asked(output):
		return unasked
	case face == nil || p.outside(face) || cover != nil && cover.Hidden() == 255:
		return nothing
	case cover != nil && cover.Hidden() > 127:
		return little
	}
	return most
}

// mouthCentre is the middle of a mouth on the canonical face.
var mouthCentre = geom.Point{X: 1.2, Y: 1.55}

// outside tells whether the middle of a mouth is outside of the picture. Then the rest of it stays as it is: half a mouth says nothing.
func (p plan) outside(face *people.Seen) bool {
	c, v := face.ToMouth.Apply(mouthCentre), p.input.video.Video
	return !(c.X >= 0 && c.Y >= 0 && c.X < float32(v.Width) && c.Y < float32(v.Height))
}

// leastIsland is the length of the shortest part of a shot that is synced between parts that aren't, in seconds: a mouth that changes
// for a syllable or two looks like a fault.
const leastIsland = .4

// findIslands tells of each output frame whether its mouth stays as it is because it would be synced for a moment only.
func (p plan) findIslands() []bool {
	cut := func(o int) bool { // before the frame
		if o == 0 {
			return true
		}
		from, to := p.line.Source(o-1), p.line.Source(o)
		next, _ := slices.BinarySearch(p.seen.cuts, min(from, to)+1)
		again := to < from-1 // the video starts again
		return again || next < len(p.seen.cuts) && p.seen.cuts[next] <= max(from, to)
	}
	return islands(p.line.Frames, int(leastIsland*p.input.video.Video.Rate.Float()), cut, p.sight)
}

// islands finds the runs of frames between two in which nothing of a mouth is seen, without a cut within, if most of the mouth is seen in fewer
// than least of them.
func islands(frames, least int, cut func(int) bool, at func(int) sight) []bool {
	found := make([]bool, frames)
	after, clear := -1, 0 // the first frame after nothing was seen in this shot, -1 for none, and the number of those from there in which most is
	for o := range frames {
		if cut(o) {
			after = -1
		}
		switch at(o) {
		case unasked:
			after = -1
		case nothing:
			if after >= 0 && clear < least {
				for i := after; i < o; i++ {
					found[i] = true
				}
			}
			after, clear = o+1, 0
		case most:
			clear++
		}
	}
	return found
}

// due tells of each output frame whether a mouth should be painted in it: somebody speaks, and there is a face in it or both before and after
// it in its shot.
func (p plan) due() []bool {
	there := make([]bool, p.seen.Frames()) // in source frames
	from := 0
	for _, to := range append(slices.Clone(p.seen.cuts), len(there)) {
		first, last := to, from
		for i := from; i < to; i++ {
			if p.seen.Count(i) > 0 {
				first, last = min(first, i), i
			}
		}
		for i := first; i <= last && i < to; i++ {
			there[i] = true
		}
		from = to
	}
	due := make([]bool, p.line.Frames)
	for o := range due {
		due[o] = p.share(o) == 255 && p.spoken[o].Silence <= silentOver && there[p.line.Source(o)]
	}
	return due
}
