package warp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/pixels"
	"lipsync/internal/sound/speech"
)

// Costs of showing an example in a frame. They have no unit: only their proportions matter. If no
// source is given, they were chosen by eye and by the figures of make quality.
const (
	gapCost    = 1. // × (difference of the gaps ÷ half of the largest gap)²
	openCost   = 3  // × gap ÷ farOpen, at most 1, in frames in which the lips have to touch
	wideCost   = 1  // × height by which the gap is more than wideFree times the example's ÷ farOpen, at most 1: its lips are stretched
	wideFree   = 1.2
	farOpen    = .08 // canonical, some 5 mm
	shutUnder  = .15 // lips have to touch if the gap is a smaller share of a loud vowel's
	widthCost  = .5  // × ((width ÷ width that is asked for − 1) ÷ widthUnit)²
	widthUnit  = .16 // share of a width
	poseCost   = 150 // × squared distance of the tips of the noses, canonical: less than a usual jump up to a nod of some 5°
	tiltCost   = 6   // × ((difference of the slope of the line through the corners from that around the frame − askew) ÷ tiltUnit)²: a smirk, or a grimace
	tiltUnit   = .05 // slope
	askew      = .03 // slope: a difference that isn't seen
	lopCost    = 20  // × squared difference of the openings of both halves of the mouth, less the usual one, ÷ farOpen: an open grimace
	moodCost   = 1   // × ((difference of how far the corners are raised − moodFree) ÷ moodUnit)²: a smile in a serious face, or the reverse
	hangCost   = 1   // × ((height by which the corners hang below the mood around the frame − moodFree) ÷ moodUnit)²: a grimace of a few frames, which is no mood
	moodFree   = .04 // canonical: a difference that isn't seen
	moodUnit   = .03 // canonical
	growthCost = 4   // × (enlargement − growthFree)²: enlargement blurs
	growthFree = 1.2 // enlargement that isn't seen
	soundCost  = .5  // × unlikeSound
	dullCost   = 25  // × (dullness of shut lips − dullFree)²: where the line between them is blurred they look swollen
	dullFree   = 1.15
	dullMost   = 1.65 // a larger dullness counts as this, and costs as much as a jump
	dullLeast  = .008 // canonical, some .5 mm: a smaller blur across the lips isn't seen
)

// Costs of showing one example after another. A jump costs much, because natural sequences look
// best, and warping does the rest.
const (
	jumpCost   = 6   // for a jump to an example that isn't next to the one before it in time
	unlikeCost = .05 // × (distance of their appearances ÷ the usual distance)², added to jumpCost
	backCost   = .3  // for playing backward. At .02 the path went back and forth, which flickered; .3 lowers the step of the opening (docs/testing.md) from .84 to .75
	lapse      = 3   // frames between examples that are next to each other in time, at most
	candidates = 48  // examples that are compared for each frame: the time that a plan takes grows with the square
)

// leastUsual is the least usual distance of two appearances, for examples that are all the same.
const leastUsual = 1e-3

// plan passes on the targets of consecutive output frames in which the track's person speaks.
// spoken has the articulation of each of these frames. source returns the source frame under the
// i-th of them.
func (t *track) plan(ctx context.Context, fps float64, spoken []speech.Articulation, source func(int) int, next func(*target) error) error {
	frameAt := func(i int) int { return source(i) - t.first }
	for i := 0; i < len(spoken); {
		first := i
		for i < len(spoken) && frameAt(i) >= 0 && frameAt(i) < len(t.frames) {
			i++
		}
		at := func(k int) (w wanted, err error) {
			frame := frameAt(first + k)
			w.spoken = spoken[first+k]
			w.target = target{track: t, frame: frame, example: -1, shape: t.person.Shape(w.spoken, t.widths[frame])}
			w.own, err = t.frame(frame)
			return w, err
		}
		if err := t.person.show(ctx, fps, i-first, at, next); err != nil {
			return err
		}
		if i < len(spoken) {
			if err := next(&target{}); err != nil {
				return err
			}
			i++
		}
	}
	return nil
}

// wanted is what an output frame needs: a target without an example.
type wanted struct {
	target
	spoken speech.Articulation // the shape is made from it
	own    mouth.Observation   // of the source frame
}

// show decides which mouths n consecutive frames show, and where. If the person speaks in the video,
// the frames show mouths of examples, which flow into each other. Otherwise each shows its own mouth.
func (p *person) show(ctx context.Context, fps float64, n int, at func(i int) (wanted, error), next func(*target) error) error {
	if p.speaks {
		examples, err := p.choose(ctx, n, at)
		if err != nil {
			return err
		}
		return p.flow(fps, n, func(i int) (wanted, error) {
			w, err := at(i)
			w.example = int(examples[i])
			return w, err
		}, next)
	}
	for i := range n {
		w, err := at(i)
		if err != nil {
			return err
		}
		m, s := &w.own.Lips, &w.shape
		o := mouth.OutlineOf(m, m, s.Gap)
		*s = o.Give(m, *s)
		if err := next(&w.target); err != nil {
			return err
		}
	}
	return nil
}

// Examples are chosen for a window of windowFrames frames at a time (a minute at 25 frames/s), so
// that memory doesn't grow with the video. Each choice also sees the first aheadFrames frames of the
// next window (four seconds). Later frames no longer change it.
const windowFrames, aheadFrames = 1500, 100

// choose returns the example of each of n frames. The examples fit the frames' shapes and poses, and come
// in runs of neighbouring frames that are as long as possible.
func (p *person) choose(ctx context.Context, n int, at func(i int) (wanted, error)) ([]int32, error) {
	if p.chooser == nil {
		p.chooser = p.newChooser()
	}
	before, chosen := -1, make([]int32, 0, n)
	window := make([]wanted, 0, min(windowFrames+aheadFrames, n))
	for len(chosen) < n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		window = window[:0]
		for i := len(chosen); i < min(len(chosen)+windowFrames+aheadFrames, n); i++ {
			w, err := at(i)
			if err != nil {
				return nil, err
			}
			window = append(window, w)
		}
		path := p.chooser.path(window, before)
		if len(chosen)+len(path) < n {
			path = path[:windowFrames]
		}
		for _, e := range path {
			chosen = append(chosen, int32(e))
		}
		before = path[len(path)-1]
	}
	return chosen, nil
}

// step is a state of the Viterbi algorithm: an example in one frame.
type step struct {
	example int
	back    int     // index of the step in the frame before
	cost    float32 // of the cheapest sequence up to this step
}

// path returns the cheapest sequence of examples for consecutive frames, by the Viterbi algorithm.
// before is the example of the frame before them, -1 for none.
func (c *chooser) path(frames []wanted, before int) []int {
	last := []step{{example: before}}
	columns := make([][]step, len(frames))
	for i := range frames {
		for _, e := range c.best(&frames[i]) {
			s := step{example: e.index, cost: math.MaxFloat32}
			for k, p := range last {
				if cost := p.cost + c.transition(p.example, e.index) + e.cost; cost < s.cost {
					s.cost, s.back = cost, k
				}
			}
			columns[i] = append(columns[i], s)
		}
		last = columns[i]
	}
	at := 0
	for k, s := range last {
		if s.cost < last[at].cost {
			at = k
		}
	}
	path := make([]int, len(frames))
	for i := len(frames) - 1; i >= 0; i-- {
		path[i], at = columns[i][at].example, columns[i][at].back
	}
	return path
}

// chooser holds the examples of one person as the costs need them.
type chooser struct {
	p       *person
	usual   float32   // median of the distances of two examples' appearances
	blurred []bool    // by example; those are not shown
	dull    []float32 // by example: the cost of its blur
	far     []float32 // distances of the appearances of examples: n × n
	next    []int     // by example: index of the example that follows it in time, or -1
	scratch []candidate
}

// candidate is an example and the cost of showing it in a frame.
type candidate struct {
	index int
	cost  float32
}

// newChooser returns the chooser of a person whose bank is complete.
func (p *person) newChooser() *chooser {
	examples := p.bank.examples
	n := len(examples)
	c := &chooser{p: p, blurred: blurred(examples), dull: dull(examples), far: make([]float32, n*n), next: make([]int, n)}
	type place struct {
		track *track
		frame int
	}
	at := map[place]int{}
	for i, e := range examples {
		at[place{e.track, e.frame}] = i
	}
	for i, e := range examples {
		for k := range i {
			d := e.appearance.distance(&examples[k].appearance)
			c.far[i*n+k], c.far[k*n+i] = d, d
		}
		c.next[i] = -1
		for later := lapse; later > 0; later-- {
			if k, ok := at[place{e.track, e.frame + later}]; ok {
				c.next[i] = k
			}
		}
	}
	c.usual = max(dsp.Quantile(c.far, .5), leastUsual)
	return c
}

// blurred tells which examples are blurred: much less sharp than is usual in their track.
func blurred(examples []example) []bool {
	out := make([]bool, len(examples))
	sharp := func(e *example) float32 { return max(e.sharp, math.SmallestNonzeroFloat32) } // of black pictures none is less sharp than the others
	for i, share := range ofUsual(examples, sharp) {
		out[i] = share < sharpEnough
	}
	return out
}

// dull returns the cost of the blur of each example's mouth. It is that of shut lips only, since open ones have edges of teeth, or none: what they
// cost fades between a gap at which they touch and twice that. Their dullness is their blur as a share of the usual one.
func dull(examples []example) []float32 {
	apart := func(e *example) float32 { return e.Shown.Gap() / alignment.Touching }
	out := ofUsual(examples, func(e *example) float32 {
		if apart(e) >= 2 {
			return 0
		}
		return max(e.Softness(), dullLeast)
	})
	for i, dullness := range out {
		out[i] = dullCost * square(max(min(dullness, dullMost)-dullFree, 0)) * pixels.Unit(2-apart(&examples[i]))
	}
	return out
}

// ofUsual returns a value of each example as a share of its median in the example's track: other tracks are no measure, since faces of another
// size are less or more sharp. Examples with the value 0 don't count, and keep it.
func ofUsual(examples []example, value func(*example) float32) []float32 {
	shares, all := make([]float32, len(examples)), map[*track][]float32{}
	for i := range examples { // by index, since examples are large to copy
		if shares[i] = value(&examples[i]); shares[i] > 0 {
			all[examples[i].track] = append(all[examples[i].track], shares[i])
		}
	}
	usual := map[*track]float32{}
	for t, values := range all {
		usual[t] = dsp.Quantile(values, .5)
	}
	for i := range shares {
		if shares[i] > 0 {
			shares[i] /= usual[examples[i].track]
		}
	}
	return shares
}

// best returns the candidates that fit a frame best, without regard to the frames before and
// after it.
func (c *chooser) best(w *wanted) []candidate {
	p, all := c.p, c.scratch[:0]
	for i := range p.bank.examples { // by index, since examples are large to copy
		if e := &p.bank.examples[i]; !c.blurred[i] {
			cost := p.misfit(w.shape, &e.Shown) + p.unlike(&w.own, &e.Shown, w.track.tilts[w.frame])
			mood := w.track.raised[w.frame]
			cost += c.dull[i] + moodCost*square(max(abs(e.track.raised[e.frame]-mood)-moodFree, 0)/moodUnit)
			cost += hangCost * square(max(mood-e.Shown.Raised()-moodFree, 0)/moodUnit)
			if e.heard != nil {
				cost += soundCost * unlikeSound(e.heard, &w.spoken)
			}
			all = append(all, candidate{i, cost})
		}
	}
	c.scratch = all
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.index, b.index))
	})
	return slices.Clone(all[:min(candidates, len(all))])
}

// misfit returns the cost of giving the mouth of an observation a shape.
func (p *person) misfit(to mouth.Shape, shown *mouth.Observation) float32 {
	cost := gapCost*square((to.Gap-shown.Gap())/(.5*p.Most)) + widthCost*square((shown.Width()/to.Width-1)/widthUnit)
	cost += wideCost * pixels.Unit((to.Gap-wideFree*shown.Gap())/farOpen)
	if low := shutUnder * p.Most; to.Gap < low {
		cost += openCost * (1 - to.Gap/low) * min(shown.Gap()/farOpen, 1)
	}
	return cost
}

// unlike returns the cost of showing another frame's mouth in a frame: for a head that is turned differently, a smaller face, which
// becomes blurred, and a mouth that is a grimace. tilt is that of the mouth around the frame.
func (p *person) unlike(o, shown *mouth.Observation, tilt float32) float32 {
	slanted := max(abs(shown.Tilt()-tilt)-askew, 0)
	grown := max(o.To.Scale()/shown.To.Scale()-growthFree, 0)
	lop := (shown.Lop() - p.lop*shown.Gap()) / farOpen
	return lopCost*square(lop) + poseCost*(square(o.Pose[0]-shown.Pose[0])+square(o.Pose[1]-shown.Pose[1])) + tiltCost*square(slanted/tiltUnit) + growthCost*square(grown)
}

// jumps tells whether example b isn't next to example a in time.
func (c *chooser) jumps(a, b int) bool { return a != b && c.next[a] != b && c.next[b] != a }

// transition returns the cost of showing example b after example a, which is -1 at the start.
func (c *chooser) transition(a, b int) float32 {
	switch {
	case a < 0, a == b, c.next[a] == b:
		return 0
	case c.next[b] == a:
		return backCost
	}
	return jumpCost + unlikeCost*square(c.far[a*len(c.next)+b]/c.usual)
}
