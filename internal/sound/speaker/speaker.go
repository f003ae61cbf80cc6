// Package speaker finds the person who speaks in each frame of a video: active speaker detection.
package speaker

import (
	"math"

	"lipsync/internal/face/alignment"
	"lipsync/internal/face/tracking"
)

// Analyser records the faces of a video, frame by frame. It keeps some tens of bytes for each face of
// each frame, and four more with a network.
type Analyser struct {
	fps       float64
	network   *Network      // nil: none
	seen      []observation // the faces of all frames
	ends      []int32       // for each frame the number of faces in all frames up to it
	shots     []int         // the first frame of each shot
	ticks     int           // number of ticks so far
	followers map[int32]*follower
	scores    map[int32]*scores // of the network, by track
}

// observation is a face in a frame.
type observation struct {
	track  int32
	size   float32 // side of its box, pixels
	motion float32 // of the mouth, see half.motion
}

// tickRate is the number of ticks a second: the frame rate that Light-ASD was trained with. A face is
// compared in the frame next to each tick, or in the next frame that has its pixels. So the motion of
// a mouth doesn't depend on the frame rate, if that is tickRate or more.
const tickRate = 25

// slowest is the least frame rate at which the network is used. At a lower rate it would see each
// picture for more than two ticks.
const slowest = 10

// New returns the analyser of a video with a frame rate. The network may be nil. With a network, the
// windows that Add and End return must be sent to Score.
func New(fps float64, network *Network) *Analyser {
	if fps < slowest {
		network = nil
	}
	return &Analyser{fps: fps, network: network, followers: map[int32]*follower{}, scores: map[int32]*scores{}}
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
		o := a.follower(int32(face.Track))
		if o.due = o.due || ticks > 0; o.due {
			o.add(face)
		}
		if a.network != nil {
			complete = append(complete, o.gather(a.ticks-ticks, a.ticks, len(f.Faces) > 1)...)
		}
		seen = append(seen, observation{o.track, face.Box.Size, o.motion})
	}
	complete = append(complete, a.forget(tracking.LongestGap+1)...)
	a.record(seen, f.Cut)
	return complete
}

// End returns the windows that are left after the last frame.
func (a *Analyser) End() []*Window { return a.forget(-1) }

// follower returns the follower of a track, which may be a new one.
func (a *Analyser) follower(track int32) *follower {
	o := a.followers[track]
	if o == nil {
		o = &follower{track: track}
		a.followers[track] = o
	}
	o.frame = len(a.ends)
	return o
}

// forget drops the followers of tracks that were missed in more than that many of the last frames, and
// returns their windows.
func (a *Analyser) forget(missed int) (complete []*Window) {
	for track, o := range a.followers {
		if len(a.ends)-o.frame > missed {
			delete(a.followers, track)
			complete = o.window.ready(complete)
		}
	}
	return complete
}

// tick moves on to the next frame, and returns the number of ticks that belong to it.
func (a *Analyser) tick() int {
	past := int(math.Ceil((float64(len(a.ends)) + .5) / a.fps * tickRate))
	n := past - a.ticks
	a.ticks = past
	return n
}

// record adds the faces of the next frame.
func (a *Analyser) record(seen []observation, cut bool) {
	if at := len(a.ends); cut || at == 0 {
		a.shots = append(a.shots, at)
	}
	a.seen = append(a.seen, seen...)
	a.ends = append(a.ends, int32(len(a.seen)))
}

// at returns the faces of a frame.
func (a *Analyser) at(frame int) []observation {
	from := int32(0)
	if frame > 0 {
		from = a.ends[frame-1]
	}
	return a.seen[from:a.ends[frame]]
}
