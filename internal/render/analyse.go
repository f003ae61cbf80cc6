package render

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/sound/speech"
)

// analysis is the result of the first pass.
type analysis struct {
	source *source
	frames int                 // number of source frames that the output may show
	cuts   []int               // the source frames that begin a shot
	faces                      // in each source frame
	active []int32             // the track of the speaker in each source frame, -1 for none
	hidden *occlusion.Analyser // finds what hides mouths
	// The video's own sound couldn't be read. Another time it may be.
	unheard bool
	// The articulation of the speech in each frame, and of the video's own sound in each frame of the video. Each is nil if
	// neither the engine nor the options need it.
	spoken, heard []speech.Articulation
}

// firstPassFrames is the number of full frames in memory in the first pass.
const firstPassFrames = 4

// waitingWindows is the largest number of windows of faces that wait for the video's own sound. Each takes 1.3 MB. The sound
// is analysed much faster than the pictures.
const waitingWindows = 32

// analyse is the first pass. It decodes, tracks and aligns each frame that the output may show, and analyses faces and sound,
// each in a goroutine of its own.
func (w *rendering) analyse(ctx context.Context, engine Analyser) (*analysis, error) {
	v := w.video.Video
	a, speakers := &analysis{source: newSource(w), hidden: occlusion.New()}, speaker.New(v.Rate.Float(), w.network())
	var sound *speech.Speech // the video's own, nil if it has none
	windows, heard := make(chan *speaker.Window, waitingWindows), make(chan *speaker.MFCC, 1)

	g, ctx := newGroup(ctx)
	g.Go(func() error { return w.hear(ctx, a) })
	g.Go(func() error {
		defer close(heard)
		var mfcc *speaker.MFCC // of the video's own sound
		if w.network() != nil {
			mfcc = speaker.NewMFCC()
		}
		if sound = w.ownSound(ctx, mfcc); sound == nil {
			a.unheard = w.video.Audio != nil
			return nil
		}
		heard <- mfcc
		if w.engine.Articulates() {
			fps := v.Rate.Float()
			a.heard = sound.ArticulationAt(fps, min(w.limit(), int(math.Ceil(sound.Seconds()*fps))))
		}
		return nil
	})
	aligned := w.aligned(ctx, g, a.source)
	g.Go(func() error {
		defer close(windows)
		return w.addAll(ctx, a, engine, speakers, aligned, windows)
	})
	g.Go(func() error { return speakers.Score(ctx, windows, <-heard) })
	if err := g.Wait(); err != nil {
		return a, err
	}
	a.heard = extend(a.heard, a.source.frames)
	a.frames = min(a.source.frames, w.most())
	active := speakers.Active(sound)
	for i := range a.source.frames {
		a.active = append(a.active, int32(active(i)))
	}
	return a, nil
}

// hear sets the articulation of the speech, if it is needed.
func (w *rendering) hear(ctx context.Context, a *analysis) (err error) {
	if w.engine.Articulates() || w.keepsSilent() {
		a.spoken, err = w.spoken(ctx)
	}
	return err
}

// extend returns articulation for exactly the number of frames: it cuts a, or appends rest. It returns nil for nil.
func extend(a []speech.Articulation, frames int) []speech.Articulation {
	if a == nil {
		return nil
	}
	for len(a) < frames {
		a = append(a, speech.Rest)
	}
	return a[:frames]
}

// aligned decodes the source's frames, and tracks and aligns their faces, in goroutines of the group. It returns the channel of the
// aligned frames.
func (w *rendering) aligned(ctx context.Context, g group, s *source) <-chan alignment.Frame {
	fps := w.video.Video.Rate.Float()
	free := newBuffers(firstPassFrames, w.video.Video.NewFrame)
	decoded, aligned := make(chan *image.YCbCr, firstPassFrames-1), make(chan alignment.Frame)
	g.Go(func() error {
		defer close(decoded)
		return s.decode(ctx, free, decoded)
	})
	g.Go(func() error {
		defer close(aligned)
		return align(ctx, w.NewTracker(fps), alignment.NewAligner(fps), decoded, free, aligned)
	})
	return aligned
}

// align tracks and aligns the faces of decoded frames, and sends the aligned frames. It puts the decoded frames back into free.
func align(ctx context.Context, tracker Tracker, aligner *alignment.Aligner, decoded <-chan *image.YCbCr, free buffers[*image.YCbCr], aligned chan<- alignment.Frame) error {
	for frame := range decoded {
		faces, cut, err := tracker.Add(ctx, frame)
		free.put(frame)
		if err != nil {
			return fmt.Errorf("find faces: %w", err)
		}
		if err := sendAll(ctx, aligned, aligner.Add(faces, cut)); err != nil {
			return err
		}
	}
	return sendAll(ctx, aligned, aligner.End())
}

// addAll adds aligned frames to the engine's analyser and to those of speakers and of what hides mouths.
func (w *rendering) addAll(ctx context.Context, a *analysis, engine Analyser, speakers *speaker.Analyser, aligned <-chan alignment.Frame, windows chan<- *speaker.Window) error {
	progress := w.progress(lipsync.Analyzing, w.expected())
	for f := range aligned {
		if f.Cut {
			a.cuts = append(a.cuts, f.Index)
		}
		a.faces = a.faces.add(f)
		a.hidden.Add(f)
		if err := engine.Add(f); err != nil {
			return fmt.Errorf("analyse frame %d: %w", f.Index, err)
		}
		if err := sendAll(ctx, windows, speakers.Add(f)); err != nil {
			return err
		}
		progress.done(f.Index + 1)
	}
	a.hidden.End()
	return sendAll(ctx, windows, speakers.End())
}

// spoken returns the articulation of the speech in each frame.
func (w *rendering) spoken(ctx context.Context) ([]speech.Articulation, error) {
	f, err := os.Open(w.pcm)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := speech.Read(reader{ctx, f})
	if err != nil {
		return nil, err
	}
	return s.ArticulationAt(w.video.Video.Rate.Float(), w.speech), nil
}

// network returns the network that finds the speaker. It is nil if there is none, or if the job doesn't need it.
func (w *rendering) network() *speaker.Network {
	auto := slices.ContainsFunc(w.faceOptions(), func(f lipsync.Face) bool { return f.By == lipsync.AutoFace })
	if w.job.LargestFace || !auto || w.video.Audio == nil {
		return nil
	}
	return w.Speaker
}

// expected estimates the number of frames of the first pass.
func (w *rendering) expected() int {
	n := int((w.video.Duration - w.video.Begin).Seconds() * w.video.Video.Rate.Float())
	if n <= 0 {
		n = w.speech
	}
	return min(n, w.limit())
}

// ownSound analyses the video's own sound, up to the last frame of the first pass. If mfcc is not nil, it gets the samples too. If
// the sound can't be read, ownSound returns nil, and the job goes on: the sound only helps to tell who speaks, and what.
func (w *rendering) ownSound(ctx context.Context, mfcc *speaker.MFCC) *speech.Speech {
	if w.video.Audio == nil {
		return nil
	}
	sound, err := w.Tools.OpenSound(ctx, w.video, w.length(w.limit()))
	if err != nil {
		return nil
	}
	var samples io.Reader = reader{ctx, sound}
	if mfcc != nil {
		samples = io.TeeReader(samples, mfcc)
	}
	heard, err := speech.Read(samples)
	if sound.Close() != nil || err != nil {
		return nil
	}
	return heard
}
