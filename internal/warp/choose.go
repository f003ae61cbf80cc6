package warp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"lipsync/internal/dsp"
)

// Costs of showing an example. A jump is dear: runs that the person really spoke
// look alive, and what is left of the opening is done by warping.
const (
	openingCost = .5  // of a squared opening off by half of the most
	poseCost    = 20  // of a squared turn of the head, canonical
	growthCost  = 4   // of a squared enlargement beyond a fifth, 1 for more by its size
	jumpCost    = 10  // of a jump to an example that is not a neighbour in time
	unlikeCost  = .05 // more, if it looks as different as two examples usually do
	backCost    = .02 // of playing on backward; forward and holding cost nothing
	candidates  = 48  // examples that are weighed for each frame
	lapse       = 3   // frames between examples that follow each other, at most
)

// plan decides a run of output frames in which the track's person speaks.
func (t *track) plan(ctx context.Context, wanted []float32, source func(int) int, out []target) error {
	first := 0 // of the targets that still want a choice
	for i := range out {
		at := source(i) - t.first
		if at < 0 || at >= len(t.frames) {
			if err := t.person.choose(ctx, out[first:i]); err != nil {
				return err
			}
			first = i + 1
			continue
		}
		out[i] = target{track: t, frame: at, example: -1, open: t.opening[at], want: wanted[i] * t.person.most}
	}
	return t.person.choose(ctx, out[first:])
}

// Decisions are made for windows of frames, each seeing some frames of the next.
const windowFrames, aheadFrames = 1500, 100

// choose picks the example of each target, if the person speaks: openings and
// poses that fit, in as long natural runs as can be had.
func (p *person) choose(ctx context.Context, targets []target) error {
	if len(targets) == 0 || !p.speaks {
		return nil
	}
	if p.chooser == nil {
		p.chooser = p.newChooser()
	}
	c := p.chooser
	before := -1
	for len(targets) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		path := c.path(targets[:min(windowFrames+aheadFrames, len(targets))], before)
		if len(path) < len(targets) {
			path = path[:windowFrames]
		}
		for i, e := range path {
			targets[i].example = e
			targets[i].open = p.bank.examples[e].opening()
		}
		before = path[len(path)-1]
		targets = targets[len(path):]
	}
	return nil
}

// step is a state of the Viterbi algorithm: an example in one frame.
type step struct {
	example int
	back    int // index of the step before
	cost    float32
}

// path returns the cheapest sequence of examples for the targets, after the
// example before them (-1 for none), by the Viterbi algorithm.
func (c *chooser) path(targets []target, before int) []int {
	last := []step{{example: before}}
	columns := make([][]step, len(targets))
	for i, r := range targets {
		for _, e := range c.best(r) {
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
	path := make([]int, len(targets))
	for i := len(targets) - 1; i >= 0; i-- {
		path[i], at = columns[i][at].example, columns[i][at].back
	}
	return path
}

// chooser holds what the costs need.
type chooser struct {
	p       *person
	usual   float32   // distance of two examples, the median
	blurred []bool    // examples that aren't shown
	far     []float32 // distances of all pairs
	next    []int     // example that follows in time, or -1
	scratch []candidate
}

type candidate struct {
	index int
	cost  float32
}

func (p *person) newChooser() *chooser {
	examples := p.bank.examples
	n := len(examples)
	c := &chooser{p: p, blurred: blurred(examples), far: make([]float32, n*n), next: make([]int, n)}
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
			d := e.shape.distance(&examples[k].shape)
			c.far[i*n+k], c.far[k*n+i] = d, d
		}
		c.next[i] = -1
		for later := lapse; later > 0; later-- {
			if k, ok := at[place{e.track, e.frame + later}]; ok {
				c.next[i] = k
			}
		}
	}
	c.usual = max(dsp.Quantile(c.far, .5), 1e-3)
	return c
}

// blurred tells which examples are, by the usual sharpness of their track: that
// of another one, with a larger or a smaller face, says nothing.
func blurred(examples []example) []bool {
	sharp := map[*track][]float32{}
	for _, e := range examples {
		sharp[e.track] = append(sharp[e.track], e.sharp)
	}
	least := map[*track]float32{}
	for t, s := range sharp {
		least[t] = sharpEnough * dsp.Quantile(s, .5)
	}
	out := make([]bool, len(examples))
	for i, e := range examples {
		out[i] = e.sharp < least[e.track]
	}
	return out
}

// best returns the candidates that fit a target best, by themselves.
func (c *chooser) best(r target) []candidate {
	p, all := c.p, c.scratch[:0]
	own := &r.track.frames[r.frame]
	for i, e := range p.bank.examples {
		if c.blurred[i] {
			continue
		}
		cost := openingCost*sq((r.want-e.opening())/(.5*p.most)) + own.unlike(e.shown())
		if low := .15 * p.most; r.want < low {
			cost += p.closed[i] * (1 - r.want/low)
		}
		all = append(all, candidate{i, cost})
	}
	c.scratch = all
	slices.SortFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.index, b.index))
	})
	return slices.Clone(all[:min(candidates, len(all))])
}

// unlike is the cost of showing another frame's mouth: its head is turned, or it
// is smaller and becomes blurred.
func (l *observation) unlike(shown *observation) float32 {
	grown := max(l.to.Scale()/shown.to.Scale()-1.2, 0)
	return poseCost*(sq(l.pose[0]-shown.pose[0])+sq(l.pose[1]-shown.pose[1])) + growthCost*sq(grown)
}

// transition is the cost of showing b after a; a is -1 at the start.
func (c *chooser) transition(a, b int) float32 {
	switch {
	case a < 0, a == b, c.next[a] == b:
		return 0
	case c.next[b] == a:
		return backCost
	}
	return jumpCost + unlikeCost*sq(c.far[a*len(c.next)+b]/c.usual)
}
