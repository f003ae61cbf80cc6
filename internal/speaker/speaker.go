// Package speaker tells who of the faces in a video speaks, turn by turn: active
// speaker detection.
package speaker

import (
	"math"

	"lipsync/internal/alignment"
	"lipsync/internal/tracking"
)

// Analyser records the faces of a video, frame by frame: some tens of bytes for
// each, and four more with a network.
type Analyser struct {
	fps      float64
	network  *Network // nil: none
	frames   [][]observation
	shots    []int // the first frame of each
	faces    int   // frames with a face
	ticks    int   // how many are past
	observed map[int32]*observed
	scores   map[int32]*scores // the network's, by track
}

// observation is a face in a frame.
type observation struct {
	track  int32
	size   float32 // pixels
	motion float32 // of the mouth, see observed
}

// tickRate is the number of ticks a second. Faces are looked at in the frames next to
// the ticks, or in the next one that has their pixels. So the motion of a mouth from
// one tick to the next doesn't depend on the frame rate, if that is at least as high.
const tickRate = 25

// slowest is the least frame rate of a video whose faces a network can judge.
const slowest = 10

// New returns the analyser of a video with a frame rate. The network may be nil;
// with one, the windows that Add and End return are to be given to Score.
func New(fps float64, network *Network) *Analyser {
	if fps < slowest {
		network = nil
	}
	return &Analyser{fps: fps, network: network, observed: map[int32]*observed{}, scores: map[int32]*scores{}}
}

// Add records the next frame. It returns windows that are complete.
func (a *Analyser) Add(f alignment.Frame) (complete []*Window) {
	if f.Cut {
		complete = a.End()
	}
	ticks := a.tick()
	var seen []observation
	for i := range f.Faces {
		face := &f.Faces[i]
		o := a.observe(int32(face.Track))
		if o.due = o.due || ticks > 0; o.due {
			o.see(face)
		}
		if a.network != nil {
			complete = append(complete, o.gather(a.ticks-ticks, a.ticks, len(f.Faces) > 1)...)
		}
		seen = append(seen, observation{o.track, face.Size, o.motion})
	}
	complete = append(complete, a.forget(tracking.LongestGap+1)...)
	a.record(seen, f.Cut)
	return complete
}

// End returns the windows that are left after the last frame.
func (a *Analyser) End() []*Window { return a.forget(-1) }

// observe returns the record of a track, which may be a new one.
func (a *Analyser) observe(track int32) *observed {
	o := a.observed[track]
	if o == nil {
		o = &observed{track: track}
		a.observed[track] = o
	}
	o.frame = len(a.frames)
	return o
}

// forget ends the tracks that were missed in more frames, up to the next one, and
// returns their windows.
func (a *Analyser) forget(missed int) (complete []*Window) {
	for track, o := range a.observed {
		if len(a.frames)-o.frame > missed {
			delete(a.observed, track)
			complete = o.window.ready(complete)
		}
	}
	return complete
}

// tick returns how many ticks there are next to the next frame.
func (a *Analyser) tick() int {
	past := int(math.Ceil((float64(len(a.frames)) + .5) / a.fps * tickRate))
	n := past - a.ticks
	a.ticks = past
	return n
}

// record adds the faces of the next frame.
func (a *Analyser) record(seen []observation, cut bool) {
	if at := len(a.frames); cut || at == 0 {
		a.shots = append(a.shots, at)
	}
	a.frames = append(a.frames, seen)
	if len(seen) > 0 {
		a.faces++
	}
}

// Faces tells in how many frames there is a face.
func (a *Analyser) Faces() int { return a.faces }

// Largest returns the track of each frame's largest face, or -1.
func (a *Analyser) Largest() func(frame int) int {
	return func(frame int) int {
		best := observation{track: -1}
		for _, s := range a.frames[frame] {
			if s.size > best.size {
				best = s
			}
		}
		return int(best.track)
	}
}
