// Package speaker tells who of the faces in a video speaks, turn by turn.
package speaker

import (
	"image"
	"math"

	"lipsync/internal/face"
)

// Cast records the faces of a video, frame by frame: some tens of bytes for
// each, and four with a network.
type Cast struct {
	fps     float64
	network *Network // nil: none
	frames  [][]sighting
	shots   []int // the first frame of each
	faces   int
	seen    map[int32]int // frame in which each track of the shot was last seen
	ticks   int           // how many are past
	looks   map[int32]*look
	scores  map[int32]*scores // the network's, by track
}

// sighting is a face in a frame.
type sighting struct {
	track  int32
	size   float32 // pixels
	motion float32 // of the mouth, see look
}

// tickRate is how often faces are looked at, a second: in the frames next to
// these ticks. How much a mouth moves between two looks then doesn't depend on
// the frame rate, if that isn't lower.
const tickRate = 25

// slowest is the least frame rate of a video whose faces a network can judge.
const slowest = 10

// New returns an empty cast of a video with a frame rate. The network may be
// nil; with one, what Add and End return is to be given to Score.
func New(fps float64, network *Network) *Cast {
	if fps < slowest {
		network = nil
	}
	return &Cast{fps: fps, network: network, seen: map[int32]int{},
		looks: map[int32]*look{}, scores: map[int32]*scores{}}
}

// Add records the next frame and its faces; cut tells that a new shot starts
// with it. The frame is not kept. It returns windows that are complete.
func (c *Cast) Add(frame *image.YCbCr, faces []face.Face, cut bool) (complete []*Window) {
	if cut {
		complete = c.End()
	}
	ticks := c.tick()
	var seen []sighting
	for _, f := range faces {
		l := c.look(int32(f.Track))
		if ticks > 0 {
			l.at(frame, f)
		}
		if c.network != nil {
			complete = append(complete, l.gather(c.ticks-ticks, c.ticks, len(faces) > 1)...)
		}
		seen = append(seen, sighting{l.track, f.Box.Size, l.motion})
	}
	complete = append(complete, c.forget(face.LongestGap)...)
	c.record(seen, cut)
	return complete
}

// End returns the windows that are left after the last frame.
func (c *Cast) End() []*Window { return c.forget(-1) }

// look returns the look at a track, which may be a new one.
func (c *Cast) look(track int32) *look {
	l := c.looks[track]
	if l == nil {
		l = &look{track: track}
		c.looks[track] = l
	}
	l.frame = len(c.frames)
	return l
}

// forget ends the looks at tracks that were missed in more frames, up to the
// next one, and returns their windows.
func (c *Cast) forget(missed int) (complete []*Window) {
	for track, l := range c.looks {
		if len(c.frames)-l.frame > missed {
			delete(c.looks, track)
			complete = l.window.ready(complete)
		}
	}
	return complete
}

// tick returns how many ticks there are next to the next frame.
func (c *Cast) tick() int {
	past := int(math.Ceil((float64(len(c.frames)) + .5) / c.fps * tickRate))
	n := past - c.ticks
	c.ticks = past
	return n
}

// record adds what is seen in the next frame, and to frames before it whoever
// was missed there.
func (c *Cast) record(seen []sighting, cut bool) {
	at := len(c.frames)
	if cut || at == 0 {
		c.shots = append(c.shots, at)
		clear(c.seen)
	}
	for _, s := range seen {
		if last, ok := c.seen[s.track]; ok && at-last <= face.LongestGap+1 {
			for k := last + 1; k < at; k++ {
				c.frames[k] = append(c.frames[k], s)
			}
		}
		c.seen[s.track] = at
	}
	c.frames = append(c.frames, seen)
	if len(seen) > 0 {
		c.faces++
	}
}

// Faces tells in how many frames there is a face.
func (c *Cast) Faces() int { return c.faces }

// Largest returns the track of each frame's largest face, or -1.
func (c *Cast) Largest() func(frame int) int {
	return func(frame int) int {
		best := sighting{track: -1}
		for _, s := range c.frames[frame] {
			if s.size > best.size {
				best = s
			}
		}
		return int(best.track)
	}
}
