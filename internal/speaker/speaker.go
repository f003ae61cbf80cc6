// Package speaker tells who of the faces in a video speaks, shot by shot.
package speaker

import (
	"math"

	"lipsync/internal/face"
	"lipsync/internal/smooth"
	"lipsync/internal/speech"
)

// Cast records the faces of a video, frame by frame: some ten bytes for each.
type Cast struct {
	fps    float64
	frames [][]sighting
	shots  []int // the first frame of each
	faces  int
	last   map[int]int // frame in which each track of the shot was last seen
}

// sighting is a face in a frame.
type sighting struct {
	track int32
	size  float32 // pixels
	lips  float32 // height of the lips by the distance of the pupils
}

// longestGap is how many frames a face may be missed and still be there.
const longestGap = 4

// New returns an empty cast of a video with a frame rate.
func New(fps float64) *Cast { return &Cast{fps: fps, last: map[int]int{}} }

// Add records the next frame's faces; cut tells that a new shot starts with it.
func (c *Cast) Add(faces []face.Face, cut bool) {
	at := len(c.frames)
	if cut || at == 0 {
		c.shots = append(c.shots, at)
		clear(c.last)
	}
	var seen []sighting
	for _, f := range faces {
		eyes := face.Distance(f.Points[face.LeftPupil], f.Points[face.RightPupil])
		lips := f.Points[face.LowerLip].Y - f.Points[face.UpperLip].Y
		s := sighting{int32(f.Track), f.Box.Size, lips / max(eyes, 1)}
		seen = append(seen, s)
		if last, ok := c.last[f.Track]; ok && at-last <= longestGap+1 {
			for k := last + 1; k < at; k++ {
				c.frames[k] = append(c.frames[k], s)
			}
		}
		c.last[f.Track] = at
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

// Active returns for each frame the track of who speaks, or -1. In each shot it
// is one person: who moves the lips most, and most when the source's own sound
// is loud (sound is nil if it has none); if no one moves them, the largest face.
func (c *Cast) Active(sound *speech.Speech) func(frame int) int {
	tracks := make([]int32, len(c.frames))
	for i, from := range c.shots {
		to := len(c.frames)
		if i+1 < len(c.shots) {
			to = c.shots[i+1]
		}
		speaker := c.speaker(from, to, sound)
		for k := from; k < to; k++ {
			tracks[k] = -1
			for _, s := range c.frames[k] {
				if s.track == speaker {
					tracks[k] = speaker
				}
			}
		}
	}
	return func(frame int) int { return int(tracks[frame]) }
}

// still is the deviation of lips that don't move.
const still = .012

// speaker returns the track that speaks in a shot, -1 if there is no face.
func (c *Cast) speaker(from, to int, sound *speech.Speech) int32 {
	best, most := int32(-1), float64(-1)
	for track, h := range c.histories(from, to) {
		motion := deviation(h.lips)
		if motion < still {
			motion = 0
		}
		with := 0.
		if sound != nil {
			with = max(correlation(h.activity(c.fps), sound.LevelsAt(c.fps, h.frames)), 0)
		}
		presence := float64(len(h.lips)) / float64(to-from)
		score := presence * (motion*(.3+with) + 1e-5*h.size)
		if score > most || score == most && track < best {
			best, most = track, score
		}
	}
	return best
}

// history is one track in one shot.
type history struct {
	frames []int
	lips   []float32
	size   float64 // mean
}

func (c *Cast) histories(from, to int) map[int32]*history {
	all := map[int32]*history{}
	for k := from; k < to; k++ {
		for _, s := range c.frames[k] {
			h := all[s.track]
			if h == nil {
				h = &history{}
				all[s.track] = h
			}
			h.frames = append(h.frames, k)
			h.lips = append(h.lips, s.lips)
			h.size += (float64(s.size) - h.size) / float64(len(h.lips))
		}
	}
	return all
}

// activity is how much the lips move around each frame, over a quarter second.
func (h *history) activity(fps float64) []float32 {
	moved := make([]float32, len(h.lips))
	for i := 1; i < len(moved); i++ {
		moved[i] = float32(math.Abs(float64(h.lips[i] - h.lips[i-1])))
	}
	return smooth.Gaussian(moved, fps/8)
}

func deviation(x []float32) float64 {
	x = smooth.Median(x, 3)
	var mean, sum float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		sum += (float64(v) - mean) * (float64(v) - mean)
	}
	return math.Sqrt(sum / float64(max(len(x), 1)))
}

// correlation is Pearson's, 0 where either doesn't change.
func correlation(a, b []float32) float64 {
	var ma, mb, ab, aa, bb float64
	for i := range a {
		ma += float64(a[i]) / float64(len(a))
		mb += float64(b[i]) / float64(len(a))
	}
	for i := range a {
		x, y := float64(a[i])-ma, float64(b[i])-mb
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa < 1e-12 || bb < 1e-12 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}
