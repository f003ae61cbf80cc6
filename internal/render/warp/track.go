package warp

import (
	"slices"

	"lipsync/internal/face/alignment"
	"lipsync/internal/render/warp/mouth"
	"lipsync/internal/signal/dsp"
	"lipsync/internal/signal/serial"
)

// track is a person in a shot, with an observation of each frame.
type track struct {
	number int // as in alignment.Face
	person *person
	first  int                                // index in the video of the first frame
	missed int                                // number of frames since the last one in which the face was seen
	rows   *serial.Records[mouth.Observation] // the observations of all tracks of the video
	frames []int32                            // the row of each frame from the first on
	last   mouth.Observation                  // of the last frame, before smooth
	widths []float32                          // canonical width that the mouth would have in each frame if it were silent; set by measureExpression
	raised []float32                          // how far the corners are raised around each frame; likewise, and only of a person who speaks
	tilts  []float32                          // slope of the line through the corners around each frame; likewise, and only of a person who speaks
}

// append adds the observation of the next frame.
func (t *track) append(o mouth.Observation) error {
	row, err := t.rows.Add(&o)
	t.frames, t.last = append(t.frames, int32(row)), o
	return err
}

// frame reads the observation of a frame.
func (t *track) frame(i int) (o mouth.Observation, err error) {
	err = t.rows.Get(int(t.frames[i]), &o)
	return o, err
}

// each calls f with the observation of each frame, and keeps what f changes.
func (t *track) each(f func(i int, o *mouth.Observation)) error {
	for i, row := range t.frames {
		o, err := t.frame(i)
		if err != nil {
			return err
		}
		before := o
		if f(i, &o); o == before {
			continue
		}
		if err := t.rows.Set(int(row), &o); err != nil {
			return err
		}
	}
	return nil
}

// add adds the face in the next frame. Frames in which the face was missed are added together with
// the next one in which it is seen. Their observations are interpolated.
func (t *track) add(f *alignment.Face) error {
	if f.Crop == nil {
		t.missed++
		return nil
	}
	o := mouth.Observe(f)
	if len(t.frames) > 0 {
		last := t.last
		for k := range t.missed {
			if err := t.append(mouth.Lerp(last, o, float32(k+1)/float32(t.missed+1))); err != nil {
				return err
			}
		}
	}
	t.missed = 0
	t.person.observe(t, o, f.Crop)
	return t.append(o)
}

// placeSmooth is the standard deviation, in frames, of the Gaussian that filters corners and edges. The distance of the inner edges isn't
// filtered: lips touch for a frame or two only. By eye, at 25 frames/s.
const placeSmooth = 1

// smoothFrames is the number of frames that are smoothed at once, so that memory is bounded.
const smoothFrames = 512

// smooth filters the places of the edges and corners of the lips.
func (t *track) smooth() error {
	for ; t.missed > 0 && len(t.frames) > 0; t.missed-- { // the missed frames at the end of a track become like the last seen one
		if err := t.append(t.last); err != nil {
			return err
		}
	}
	reach, n := dsp.Radius(placeSmooth), len(t.frames)
	first := 0                   // frame of read[0]
	var read []mouth.Observation // as they were before
	for from := 0; from < n; from += smoothFrames {
		to := min(from+smoothFrames, n)
		for i := first + len(read); i < min(to+reach, n); i++ {
			o, err := t.frame(i)
			if err != nil {
				return err
			}
			read = append(read, o)
		}
		smoothed := slices.Clone(read)
		mouth.Smooth(smoothed, placeSmooth)
		for i := from; i < to; i++ {
			if err := t.rows.Set(int(t.frames[i]), &smoothed[i-first]); err != nil {
				return err
			}
		}
		next := max(to-reach, 0)
		read, first = append(read[:0], read[next-first:]...), next
	}
	return nil
}

// expression is the standard deviation of the filter of widths, in seconds. A smile that lasts as long as the shot stays. Of one of 4 s,
// which is long (Ekman and Friesen, "Felt, false, and miserable smiles", 1982), the middle keeps two thirds, of one of 1 s a fifth. Little
// of the articulation is left: by .4 s the mouths of seven people became up to 7 % wider or narrower without a reason.
const expression = 2

// mood is the standard deviation of the filter of raised corners and of tilts, in seconds: what a vowel does to the corners is gone, the smile
// of a second stays.
const mood = .5

// measureExpression sets widths, raised and tilts. Of a person who speaks in the video it filters them, by the frames in which the mouth is
// not hidden.
func (t *track) measureExpression(fps float64) error {
	n := len(t.frames)
	t.widths = make([]float32, n)
	raised, tilts, weights := make([]float32, n), make([]float32, n), make([]float32, n)
	err := t.each(func(i int, o *mouth.Observation) {
		t.widths[i], raised[i], tilts[i] = o.Width(), o.Raised(), o.Tilt()
		if !t.person.hides(t, i) {
			weights[i] = 1
		}
	})
	if err != nil || !t.person.speaks {
		return err
	}
	t.widths = dsp.GaussianMean(t.widths, weights, expression*fps)
	t.raised, t.tilts = dsp.GaussianMean(raised, weights, mood*fps), dsp.GaussianMean(tilts, weights, mood*fps)
	return nil
}
