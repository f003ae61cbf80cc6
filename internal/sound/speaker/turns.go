package speaker

import (
	"cmp"
	"slices"

	"lipsync/internal/sound/speech"
)

// Active returns a function that returns the track of the speaker of a frame, -1 for none. People in a
// shot may speak in turn.
//
//   - The speaker is the person whose mouth moves with the video's own sound.
//   - If the sound tells nothing, or is nil (the video has none), the speaker is the largest of the faces
//     whose mouths move.
//   - While no one speaks, the speaker is the person who spoke last or speaks next.
//   - In a shot in which no one speaks, the speaker is the largest face.
func (a *Analyser) Active(sound *speech.Speech) func(frame int) int {
	tracks := make([]int32, 0, len(a.ends))
	for i, from := range a.shots {
		to := len(a.ends)
		if i+1 < len(a.shots) {
			to = a.shots[i+1]
		}
		s := newShot(a.fps, to-from, func(k int) []observation { return a.at(from + k) })
		if len(s.tracks) == 1 { // nobody else can be the speaker
			tracks = append(tracks, s.tracks[0].alone(s.frames)...)
			continue
		}
		var score scoring
		if len(a.scores) > 0 {
			score = func(track int32, k int) float32 { return a.score(track, from+k) }
		}
		s.weigh(newVoice(sound, a.fps, from, to), score)
		tracks = append(tracks, s.turns()...)
	}
	return func(frame int) int { return int(tracks[frame]) }
}

// shot is one shot of the video. Its frames are counted from 0.
type shot struct {
	fps    float64
	frames int
	tracks []*track // in order of appearance
}

// track is one person in a shot. Its slices have a value for each frame from the first to the last one
// with the face.
type track struct {
	number   int32
	from     int // first frame
	present  []bool
	size     []float32 // pixels
	usual    float32   // median size, pixels
	motion   []float32 // of the mouth, see half.motion
	active   []float32 // how much the mouth moves around the frame, 0 to 1
	evidence []float32 // that the person speaks: the sum over a second of speech is about 1
}

// newShot returns the shot of a number of frames, with the faces of each.
func newShot(fps float64, frames int, seen func(k int) []observation) *shot {
	s := &shot{fps: fps, frames: frames}
	byNumber := map[int32]*track{}
	for k := range frames {
		for _, f := range seen(k) {
			t := byNumber[f.track]
			if t == nil {
				t = &track{number: f.track, from: k}
				byNumber[f.track] = t
				s.tracks = append(s.tracks, t)
			}
			t.add(k, f)
		}
	}
	return s
}

// add records the face in frame k. The frames before, in which it was missed, get the same values.
func (t *track) add(k int, f observation) {
	for t.to() <= k {
		t.present = append(t.present, t.to() == k)
		t.size = append(t.size, f.size)
		t.motion = append(t.motion, f.motion)
	}
}

// to returns the frame after the last one with the face.
func (t *track) to() int { return t.from + len(t.present) }

// The costs that are compared with evidence, which is about 1 for a second of speech. They were chosen
// by the same scenes as the weights of evidence.
const (
	switchCost = .3 // of a change of speaker: evidence of less than .3 s makes no turn
	unseenCost = 1. // of a second in which the speaker isn't seen
	unseenTime = 1. // seconds: a person who isn't seen for longer can't be the speaker
)

// path is the best sequence of speakers that ends with a track in a frame.
type path struct {
	track  *track
	score  float64
	before int // index of the path in the frame before, -1 in the first
}

// turns returns the track of the speaker of each frame, -1 in frames in which that person isn't seen.
// The Viterbi algorithm (1967) finds the sequence with the most evidence less costs.
func (s *shot) turns() []int32 {
	steps := make([][]path, s.frames)
	var near []*track // larger faces first, which win if nothing else decides
	var last []path
	next, unseen := 0, int(unseenTime*s.fps)
	for k := range steps {
		for ; next < len(s.tracks) && s.tracks[next].from-unseen <= k; next++ {
			near = append(near, s.tracks[next])
		}
		near = slices.DeleteFunc(near, func(t *track) bool { return t.to()+unseen <= k })
		slices.SortStableFunc(near, func(a, b *track) int { return cmp.Compare(b.usual, a.usual) })
		last = s.step(k, near, last)
		steps[k] = last
	}
	return trace(steps)
}

// step returns the best path to each track that is near frame k. last are the paths to the frame
// before.
func (s *shot) step(k int, near []*track, last []path) []path {
	best := best(last)
	paths := make([]path, len(near))
	for i, t := range near {
		paths[i] = path{track: t, before: best}
		if best >= 0 {
			paths[i].score = last[best].score - switchCost
		}
		if own := slices.IndexFunc(last, func(p path) bool { return p.track == t }); own >= 0 && last[own].score >= paths[i].score {
			paths[i].score, paths[i].before = last[own].score, own
		}
		if t.seen(k) {
			paths[i].score += float64(t.evidence[k-t.from])
		} else {
			paths[i].score -= unseenCost / s.fps
		}
	}
	return paths
}

// best returns the index of the first of the paths with the highest score, -1 if there
// are none.
func best(paths []path) int {
	at := -1
	for i, p := range paths {
		if at < 0 || p.score > paths[at].score {
			at = i
		}
	}
	return at
}

func (t *track) seen(k int) bool { return k >= t.from && k < t.to() && t.present[k-t.from] }

// alone returns what turns returns for the only track of a shot of a number of frames.
func (t *track) alone(frames int) []int32 {
	out := make([]int32, frames)
	for k := range out {
		if out[k] = -1; t.seen(k) {
			out[k] = t.number
		}
	}
	return out
}

// trace returns the speakers of the best path, which it follows backward from its end.
func trace(steps [][]path) []int32 {
	out := make([]int32, len(steps))
	at := -1
	for k := len(steps) - 1; k >= 0; k-- {
		if at < 0 {
			at = best(steps[k])
		}
		out[k] = -1
		if at < 0 {
			continue
		}
		p := steps[k][at]
		if p.track.seen(k) {
			out[k] = p.track.number
		}
		at = p.before
	}
	return out
}
