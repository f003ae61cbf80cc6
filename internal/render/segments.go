package render

import (
	"math"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/render/intake"
	"lipsync/internal/sound/speech"
)

// frameAt returns the number of the source frame that begins at a time of the video, rounded. It is negative for a time before the preview.
func (in input) frameAt(t time.Duration) int {
	frames := func(t time.Duration) int { return int(math.Round(t.Seconds() * in.video.Video.Rate.Float())) }
	return frames(t) - frames(in.job.Options.Preview.Start)
}

// segmentAt returns the segment of a frame, nil if it is in none.
func (in input) segmentAt(frame int) *order.Segment {
	for i := range in.job.Segments {
		if s := &in.job.Segments[i]; frame >= in.frameAt(s.Start) && frame < in.frameAt(s.End) {
			return s
		}
	}
	return nil
}

// faceOptions returns the option face of each segment, or that of the job if it has no segments.
func (in input) faceOptions() []order.Face {
	if len(in.job.Segments) == 0 {
		return []order.Face{in.job.Options.Face}
	}
	var all []order.Face
	for _, s := range in.job.Segments {
		all = append(all, s.Options.Face)
	}
	return all
}

// keepsSilent reports whether a mouth stays as in the video somewhere because nobody speaks.
func (in input) keepsSilent() bool {
	return in.hasOption(func(o order.Options) bool { return o.Silence == order.KeepSilent })
}

// checkSegments returns an error if a segment begins after a time at which the video ends. The segments of a picture must have
// the same face, since they show the same frame.
func (in input) checkSegments(end time.Duration) error {
	for _, s := range in.job.Segments {
		switch {
		case in.video.Still && s.Options.Face != in.job.Segments[0].Options.Face:
			return failure.Failure{Code: failure.FacesOfPicture}.Because(nil)
		case !in.video.Still && in.frameAt(s.Start) >= in.frameAt(end):
			return intake.SegmentAfterEnd(failure.Video, s.Start)
		}
	}
	return nil
}

// speaker returns a function for the speaker in each source frame. With segments that is the speaker of the frame's segment.
func (in input) speaker(seen observation) (func(source int) int, error) {
	speakers := map[order.Face]func(source int) int{}
	for _, face := range in.faceOptions() {
		var err error
		switch {
		case face.By != order.AutoFace:
			speakers[face], err = in.chosen(seen.Faces, face)
		case in.job.LargestFace:
			speakers[face] = seen.Largest()
		default:
			speakers[face] = func(source int) int { return int(seen.active[source]) }
		}
		if err != nil {
			return nil, err
		}
	}
	if len(in.job.Segments) == 0 {
		return speakers[in.job.Options.Face], nil
	}
	return func(source int) int {
		s := in.segmentAt(source)
		if in.video.Still { // see checkSegments
			s = &in.job.Segments[0]
		}
		if s == nil {
			return -1
		}
		return speakers[s.Options.Face](source)
	}, nil
}

// shares returns the share of the mask in each frame of an output of a number of frames, nil if it is 255 for all.
func (in input) shares(spoken []speech.Articulation, frames int) []uint8 {
	fps := in.video.Video.Rate.Float()
	if len(in.job.Segments) == 0 {
		if in.keepsSilent() {
			return shares(spoken, fps)
		}
		return nil
	}
	all := make([]uint8, frames)
	for _, s := range in.job.Segments {
		from, to := max(0, in.frameAt(s.Start)), min(in.frameAt(s.End), frames)
		for i := from; i < to; i++ {
			all[i] = 255
		}
		if s.Options.Silence == order.KeepSilent && from < to {
			copy(all[from:to], shares(spoken[from:to], fps))
		}
		in.fade(all, from, to)
	}
	return all
}

// fade makes the first and the last mouths of a segment, which has the frames in [from, to), fade into those of the video. It makes no fade
// where another segment with the same face follows at once, nor at the ends of the video.
func (in input) fade(shares []uint8, from, to int) {
	frames := int(math.Round(fadeSeconds * in.video.Video.Rate.Float()))
	for i := range min(frames, (to-from)/2) {
		share := uint8(255 * (i + 1) / (frames + 1))
		if from > 0 && !in.sameFace(from-1, from) {
			shares[from+i] = min(shares[from+i], share)
		}
		if to < len(shares) && !in.sameFace(to-1, to) {
			shares[to-1-i] = min(shares[to-1-i], share)
		}
	}
}

// sameFace reports whether two frames are in segments with the same option face.
func (in input) sameFace(frame, other int) bool {
	a, b := in.segmentAt(frame), in.segmentAt(other)
	return a != nil && b != nil && a.Options.Face == b.Options.Face
}

// hasOption reports whether the options of the job or of a segment are such.
func (in input) hasOption(is func(order.Options) bool) bool {
	for _, s := range in.job.Segments {
		if is(s.Options) {
			return true
		}
	}
	return is(in.job.Options)
}

const (
	// silentOver is the Silence of an articulation over which nobody speaks: the middle of its range.
	silentOver = .5
	// leastPause is the length of the shortest pause in seconds. Shorter silences are a part of articulation, such as the
	// closures of p, t and k (Goldman-Eisler, "Psycholinguistics: Experiments in Spontaneous Speech", 1968).
	leastPause = .25
	// fadeSeconds is the length of the fade between the painted mouth and the video's own: one movement of lips that open and
	// close 5 times a second, which is about as fast as they can.
	fadeSeconds = .1
)

// shares returns the share of the mask in each frame, if the mouth stays as in the video while nobody speaks: 255 in speech,
// and 0 in pauses. The fades between lie within the pauses, so that nothing jumps and all speech is painted.
func shares(spoken []speech.Articulation, fps float64) []uint8 {
	out := make([]uint8, len(spoken))
	fade := int(math.Round(fadeSeconds * fps))
	least := max(int(math.Ceil(leastPause*fps)), 2*fade+1) // some frame lies between the fades
	for from := 0; from < len(spoken); {
		silent := spoken[from].Silence > silentOver
		to := from + 1
		for to < len(spoken) && (spoken[to].Silence > silentOver) == silent {
			to++
		}
		for i := from; i < to; i++ {
			distance := fade + 1 // from the nearest frame in which somebody speaks
			if from > 0 {
				distance = min(distance, i-from+1)
			}
			if to < len(spoken) {
				distance = min(distance, to-i)
			}
			if !silent || to-from < least {
				distance = 0
			}
			out[i] = uint8(255 * (fade + 1 - distance) / (fade + 1))
		}
		from = to
	}
	return out
}
