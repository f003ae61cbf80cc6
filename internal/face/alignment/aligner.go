package alignment

import (
	"maps"
	"slices"

	"lipsync/internal/face/tracking"
	"lipsync/internal/signal/geom"
)

// Aligner aligns the faces of one video. It works on some seconds of frames at a time, since it smooths
// over the frames before and after each frame.
type Aligner struct {
	stride  int            // frames from one tracked frame to the next
	index   int            // of the next frame
	pending []Frame        // frames whose faces are not aligned yet
	bytes   int            // of the crops of pending frames
	tracks  map[int]*track // those that may go on, by number
	recent  []shown        // the last tracks, by which people are recognised
	persons int            // number of people so far
}

// track is a person in a shot.
type track struct {
	number, person int
	reference      *reference // nil until some frames are aligned
	samples        []sample   // of pending frames, and of those before that their smoothing needs
	first, last    int        // frames
}

const (
	smoothFrames  = 16       // number of tracked frames that smoothing needs before a frame, and after it: noiseAround, and the reach of rigidFilter with around
	mostPending   = 96       // largest number of pending tracked frames: the pixels of 4 s at 25 frames/s
	pendingPixels = 32 << 20 // with more bytes of pending crops, only the frames that smoothing needs stay pending
)

// NewAligner returns the aligner of one video. fps is its frame rate.
func NewAligner(fps float64) *Aligner {
	return &Aligner{stride: tracking.Stride(fps), tracks: map[int]*track{}}
}

// Add adds the faces of the video's next frame. cut tells whether a new shot starts with it. Add returns
// frames that are aligned, in their order. It returns each frame once, but only some calls later.
func (a *Aligner) Add(faces []tracking.Face, cut bool) (aligned []Frame) {
	if cut {
		aligned = a.End()
	}
	for _, f := range faces {
		t := a.tracks[f.Track]
		if t == nil {
			t = &track{number: f.Track, first: a.index}
			a.tracks[f.Track] = t
		}
		t.last = a.index
		t.samples = append(t.samples, sample{a.index, f.Face, f.Crop})
		a.bytes += len(f.Crop.Y) * 3 / 2
	}
	a.pending = append(a.pending, Frame{Index: a.index, Cut: cut})
	a.index++
	around := smoothFrames * a.stride
	if n := len(a.pending); n >= mostPending*a.stride || n > 2*around && a.bytes > pendingPixels {
		aligned = append(aligned, a.emit(n-around)...)
	}
	return aligned
}

// End returns the frames that are left at the end of a shot.
func (a *Aligner) End() []Frame { return a.emit(len(a.pending)) }

// emit aligns the pending frames and returns the first n of them.
func (a *Aligner) emit(n int) []Frame {
	if n == 0 {
		return nil
	}
	done := a.pending[:n]
	until := done[n-1].Index + 1
	final := n == len(a.pending)
	for _, number := range slices.Sorted(maps.Keys(a.tracks)) { // in order of appearance
		t := a.tracks[number]
		ended := final || t.last < until // it was missed in all pending frames that stay
		if t.first >= until {
			continue // none of its frames is among the first n
		}
		for _, f := range a.align(t) {
			if f.frame >= done[0].Index && f.frame < until {
				f.Track, f.Person = t.number, t.person
				at := &done[f.frame-done[0].Index]
				at.Faces = append(at.Faces, f.Face)
			}
		}
		t.forget(until - smoothFrames*a.stride)
		if ended {
			t.samples = nil
			delete(a.tracks, number)
		}
	}
	a.pending, a.bytes = slices.Clone(a.pending[n:]), 0
	return done
}

// forget drops samples before a frame.
func (t *track) forget(before int) {
	t.samples = slices.Clone(slices.DeleteFunc(t.samples, func(s sample) bool { return s.frame < before }))
}

// faceIn is a face with its frame.
type faceIn struct {
	Face
	frame int
}

// align returns the aligned samples of a track, and also faces of the frames between them, in which the
// face was missed or not tracked. In untracked frames at the end of a shot, the face stays as it was.
func (a *Aligner) align(t *track) (faces []faceIn) {
	var to []geom.Similarity
	if t.reference == nil {
		to = a.recognise(t)
	} else {
		to = t.reference.align(t.samples)
	}
	shifts := t.reference.shifts(t.samples, to)
	marks := canonical(t.samples, to, shifts)
	for i, s := range t.samples {
		f := faceIn{Face{Box: s.Box, To: to[i], Shift: shifts[i], Landmarks: marks[i], Crop: s.crop}, s.frame}
		f.Lips = s.Lips.Map(f.ToMouth().Inverse())
		if i > 0 {
			before := faces[len(faces)-1]
			for k := before.frame + 1; k < s.frame; k++ {
				part := float32(k-before.frame) / float32(s.frame-before.frame)
				faces = append(faces, faceIn{lerp(&before.Face, &f.Face, part), k})
			}
		}
		faces = append(faces, f)
	}
	last := faces[len(faces)-1]
	last.Crop = nil
	for range min(a.stride, a.index-last.frame) - 1 {
		last.frame++
		faces = append(faces, last)
	}
	return faces
}
