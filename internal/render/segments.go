package render

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/sound/speech"
)

// frameAt returns the number of the source frame that begins at a time of the video, rounded. It is negative for a time before the preview.
func (w *rendering) frameAt(t time.Duration) int {
	frames := func(t time.Duration) int { return int(math.Round(t.Seconds() * w.video.Video.Rate.Float())) }
	return frames(t) - frames(w.job.Options.Preview.Start)
}

// segmentAt returns the segment of a frame, nil if it is in none.
func (w *rendering) segmentAt(frame int) *lipsync.Segment {
	for i := range w.job.Segments {
		if s := &w.job.Segments[i]; frame >= w.frameAt(s.Start) && frame < w.frameAt(s.End) {
			return s
		}
	}
	return nil
}

// faceOptions returns the option face of each segment, or that of the job if it has no segments.
func (w *rendering) faceOptions() []lipsync.Face {
	if len(w.job.Segments) == 0 {
		return []lipsync.Face{w.job.Options.Face}
	}
	var all []lipsync.Face
	for _, s := range w.job.Segments {
		all = append(all, s.Options.Face)
	}
	return all
}

// keepsSilent reports whether a mouth stays as in the video somewhere because nobody speaks.
func (w *rendering) keepsSilent() bool {
	return w.hasOption(func(o lipsync.Options) bool { return o.Silence == lipsync.KeepSilent })
}

// assemble writes a speech track that has the audio of each segment in its place, and returns the path of the track.
func (w *rendering) assemble(ctx context.Context) (path string, err error) {
	audios := map[string]*ffmpeg.Info{}
	for _, ref := range w.job.Segments.Refs() {
		if audios[ref], err = w.probeAudio(ctx, w.job.Audios[ref]); err != nil {
			return "", err
		}
	}
	end := w.job.Segments[len(w.job.Segments)-1].End
	if end > w.Limits.Duration {
		return "", w.Limits.tooLong(lipsync.Audio, end)
	}
	path = filepath.Join(w.dir, "segments.wav")
	track, err := ffmpeg.NewAssembly(path, end)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, track.Close()) }()
	for rest := w.job.Segments; len(rest) > 0; {
		n := joined(rest)
		if err := w.place(ctx, track, audios[rest[0].Ref], rest[:n]); err != nil {
			return "", err
		}
		rest = rest[n:]
	}
	return path, nil
}

// heard returns how long the audio of a segment is heard, if it doesn't end before.
func heard(s lipsync.Segment) time.Duration {
	if s.To == 0 {
		return s.End - s.Start
	}
	return min(s.End-s.Start, s.To-s.From)
}

// joined returns the number of the first segments in which one audio goes on without a gap.
func joined(all lipsync.Segments) int {
	n := 1
	for ; n < len(all); n++ {
		a, b := all[n-1], all[n]
		if a.Ref != b.Ref || a.End != b.Start || a.From+heard(a) != b.From || heard(a) < a.End-a.Start {
			break
		}
	}
	return n
}

// place adds the audio of joined segments to the track.
func (w *rendering) place(ctx context.Context, track *ffmpeg.Assembly, audio *ffmpeg.Info, all lipsync.Segments) error {
	first, last := all[0], all[len(all)-1]
	sound := *audio
	sound.Begin = first.From
	if first.From >= w.Limits.Duration {
		return segmentAfterEnd(lipsync.Audio, first.From)
	}
	got, err := w.Tools.Place(ctx, track, ffmpeg.Piece{Sound: &sound, At: first.Start, Length: last.Start - first.Start + heard(last)})
	switch {
	case err != nil && got == 0 && ctx.Err() == nil:
		return unsupported(lipsync.Audio, err)
	case err != nil:
		return fmt.Errorf("decode audio: %w", err)
	}
	for _, s := range all {
		if got <= s.Start-first.Start {
			return segmentAfterEnd(lipsync.Audio, s.From)
		}
	}
	return nil
}

// segmentAfterEnd returns the error of a medium that ends before its part of a segment begins.
func segmentAfterEnd(kind lipsync.MediaKind, start time.Duration) error {
	f := lipsync.Failure{Code: lipsync.SegmentAfterEnd, Details: lipsync.Details{Kind: kind}}
	f.Value.Seconds = start.Seconds()
	return f.Because(nil)
}

// checkSegments returns an error if a segment begins after a time at which the video ends. The segments of a picture must have
// the same face, since they show the same frame.
func (w *rendering) checkSegments(end time.Duration) error {
	for _, s := range w.job.Segments {
		switch {
		case w.video.Still && s.Options.Face != w.job.Segments[0].Options.Face:
			return lipsync.Failure{Code: lipsync.FacesOfPicture}.Because(nil)
		case !w.video.Still && w.frameAt(s.Start) >= w.frameAt(end):
			return segmentAfterEnd(lipsync.Video, s.Start)
		}
	}
	return nil
}

// speaker returns a function for the speaker in each source frame. With segments that is the speaker of the frame's segment.
func (w *rendering) speaker(a *analysis) (func(source int) int, error) {
	speakers := map[lipsync.Face]func(source int) int{}
	for _, face := range w.faceOptions() {
		var err error
		switch {
		case face.By != lipsync.AutoFace:
			speakers[face], err = w.chosen(a.faces, face)
		case w.job.LargestFace:
			speakers[face] = a.largest()
		default:
			speakers[face] = func(source int) int { return int(a.active[source]) }
		}
		if err != nil {
			return nil, err
		}
	}
	if len(w.job.Segments) == 0 {
		return speakers[w.job.Options.Face], nil
	}
	return func(source int) int {
		s := w.segmentAt(source)
		if w.video.Still { // see checkSegments
			s = &w.job.Segments[0]
		}
		if s == nil {
			return -1
		}
		return speakers[s.Options.Face](source)
	}, nil
}

// shares returns the share for blender.blend of each frame of the output, nil if it is 255 for all.
func (w *rendering) shares(spoken []speech.Articulation) []uint8 {
	fps := w.video.Video.Rate.Float()
	if len(w.job.Segments) == 0 {
		if w.keepsSilent() {
			return shares(spoken, fps)
		}
		return nil
	}
	all := make([]uint8, w.frames)
	for _, s := range w.job.Segments {
		from, to := max(0, w.frameAt(s.Start)), min(w.frameAt(s.End), w.frames)
		for i := from; i < to; i++ {
			all[i] = 255
		}
		if s.Options.Silence == lipsync.KeepSilent && from < to {
			copy(all[from:to], shares(spoken[from:to], fps))
		}
		w.fade(all, from, to)
	}
	return all
}

// fade makes the first and the last mouths of a segment, which has the frames in [from, to), fade into those of the video. It makes no fade
// where another segment with the same face follows at once, nor at the ends of the video.
func (w *rendering) fade(shares []uint8, from, to int) {
	frames := int(math.Round(fadeSeconds * w.video.Video.Rate.Float()))
	for i := range min(frames, (to-from)/2) {
		share := uint8(255 * (i + 1) / (frames + 1))
		if from > 0 && !w.sameFace(from-1, from) {
			shares[from+i] = min(shares[from+i], share)
		}
		if to < len(shares) && !w.sameFace(to-1, to) {
			shares[to-1-i] = min(shares[to-1-i], share)
		}
	}
}

// sameFace reports whether two frames are in segments with the same option face.
func (w *rendering) sameFace(frame, other int) bool {
	a, b := w.segmentAt(frame), w.segmentAt(other)
	return a != nil && b != nil && a.Options.Face == b.Options.Face
}

// parts returns the segments as parts of the output's sound with the gains that their options have for it.
func (w *rendering) parts(gain func(lipsync.Options) float64) []ffmpeg.Part {
	var all []ffmpeg.Part
	begin := w.job.Options.Preview.Start
	for _, s := range w.job.Segments {
		all = append(all, ffmpeg.Part{From: max(0, s.Start-begin), To: s.End - begin, Gain: gain(s.Options)})
	}
	return all
}

// hasOption reports whether the options of the job or of a segment are such.
func (w *rendering) hasOption(is func(lipsync.Options) bool) bool {
	for _, s := range w.job.Segments {
		if is(s.Options) {
			return true
		}
	}
	return is(w.job.Options)
}
