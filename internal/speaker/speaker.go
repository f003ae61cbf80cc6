// Package speaker tells who of the faces in a video speaks, turn by turn.
package speaker

import (
	"image"
	"math"

	"lipsync/internal/face"
)

// Cast records the faces of a video, frame by frame: some twenty bytes for each.
type Cast struct {
	fps    float64
	frames [][]sighting
	shots  []int // the first frame of each
	faces  int
	ticks  int           // how many are past
	seen   map[int32]int // frame in which each track of the shot was last seen
	looks  map[int]*look // at each track of the shot
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

// longestGap is how many frames a face may be missed and still be there.
const longestGap = 4

// New returns an empty cast of a video with a frame rate.
func New(fps float64) *Cast {
	return &Cast{fps: fps, seen: map[int32]int{}, looks: map[int]*look{}}
}

// Add records the next frame and its faces; cut tells that a new shot starts
// with it. The frame is not kept.
func (c *Cast) Add(frame *image.YCbCr, faces []face.Face, cut bool) {
	if cut {
		clear(c.looks)
	}
	ticks := c.tick()
	var seen []sighting
	for _, f := range faces {
		l := c.looks[f.Track]
		if l == nil {
			l = &look{}
			c.looks[f.Track] = l
		}
		if ticks {
			l.at(frame, f)
		}
		seen = append(seen, sighting{int32(f.Track), f.Box.Size, l.motion})
	}
	c.record(seen, cut)
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
		if last, ok := c.seen[s.track]; ok && at-last <= longestGap+1 {
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

// tick tells whether the next frame is the one next to a tick.
func (c *Cast) tick() (is bool) {
	at := len(c.frames)
	for int(math.Round(float64(c.ticks)/tickRate*c.fps)) <= at {
		c.ticks++
		is = true
	}
	return is
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
