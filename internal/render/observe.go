package render

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/people"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/sound/speech"
)

// observation is what the first pass found out, or the findings of an earlier job.
type observation struct {
	footage       footage.Footage
	shown         int                 // number of source frames that the output may show
	crf           int                 // see medium.Video.CRF
	cuts          []int               // the source frames that begin a shot
	*people.Faces                     // in each source frame
	lost          []tracking.Lost     // why there is no face, for each source frame
	active        []int32             // the track of the speaker in each source frame, -1 for none
	hidden        *occlusion.Analyser // finds what hides mouths
	analyser      engine.Analyser     // the engine's
	// The video's own sound couldn't be read. Another time it may be.
	unheard bool
	spoken  []speech.Articulation // of the speech in each frame
	heard   []speech.Articulation // of the video's own sound in each frame of the video; nil if the engine doesn't need it
}

// waitingWindows is the largest number of windows of faces that wait for the video's own sound. Each takes 1.3 MB. The sound
// is analysed much faster than the pictures.
const waitingWindows = 32

// observe makes the first pass over the video, or reads what an earlier job found out in it. The caller closes the footage of what it returns, unless
// there is an error.
func (w work) observe(ctx context.Context, in input) (observation, error) {
	o, found, err := w.recall(ctx, in)
	switch {
	case err != nil:
		return o, err
	case found:
		w.progress(order.Analyzing, o.footage.Frames).done(o.footage.Frames)
	default:
		if o, err = w.firstPass(ctx, in); err != nil {
			return o, err
		}
		w.keep(ctx, in, o)
	}
	if !o.Faces.Any(o.shown) {
		o.footage.Close()
		return o, failure.Failure{Code: failure.NoFace}.Because(nil)
	}
	return o, nil
}

func (w work) newAnalyser(in input) (engine.Analyser, error) {
	v := in.video.Video
	engine, err := w.engine.Analyse(engine.Video{Width: v.Width, Height: v.Height, FPS: v.Rate.Float(), Scratch: w.scratch})
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	return engine, nil
}

func (w work) source(in input) footage.Source {
	return footage.Source{
		Media: w.Media, Video: in.video, Dir: w.dir, Expected: in.expected(), Needed: in.most(), Output: &in.job.Options.Output, Unkept: in.crowded,
		Limit:   int(min(float64(in.limit()), 1e9*in.limits.Gigapixels/in.sourcePixels()+1)),
		TooMany: in.checkSize(in.video.First()+in.most(), 0),
	}
}

// firstPass decodes, tracks and aligns each frame that the output may show, and analyses faces and sound, each in a goroutine of its own.
func (w work) firstPass(ctx context.Context, in input) (o observation, err error) {
	fps, network := in.video.Video.Rate.Float(), w.network(in)
	o = observation{Faces: people.NewFaces(w.faces), hidden: occlusion.New()}
	if o.analyser, err = w.newAnalyser(in); err != nil {
		return o, err
	}
	rows, err := flow.Scratch(w.dir) // of the MFCC of the video's own sound
	if err != nil {
		return o, err
	}
	defer rows.Close()
	speakers := speaker.New(fps, network)
	var sound *speech.Speech // the video's own, nil if it has none
	windows, heard := make(chan *speaker.Window, waitingWindows), make(chan *speaker.MFCC, 1)

	g, ctx := flow.NewGroup(ctx)
	g.Go(func() (err error) {
		o.spoken, err = w.hear(ctx, in)
		return err
	})
	g.Go(func() error {
		defer close(heard)
		features, err := flow.Scratch(w.dir)
		if err != nil {
			return err
		}
		defer features.Close()
		var mfcc *speaker.MFCC // of the video's own sound
		if network != nil {
			mfcc = speaker.NewMFCC(rows)
		}
		if sound, err = w.ownSound(ctx, in, features, mfcc); sound == nil {
			o.unheard = in.video.Audio != nil
			return err
		}
		heard <- mfcc
		if w.engine.Articulates() {
			o.heard, err = sound.ArticulationAt(fps, min(in.limit(), int(math.Ceil(sound.Seconds()*fps))))
		}
		return err
	})
	aligned := people.Align(ctx, g, w.source(in), w.NewTracker, &o.footage, &o.lost)
	g.Go(func() error {
		defer close(windows)
		return w.addAll(ctx, &o, w.progress(order.Analyzing, in.expected()), speakers, aligned, windows)
	})
	g.Go(func() error { return speakers.Score(ctx, windows, <-heard) })
	if err := g.Wait(); err != nil {
		o.footage.Close()
		return o, err
	}
	o.crf = o.footage.CRF
	o.heard = extend(o.heard, o.footage.Frames)
	o.shown = min(o.footage.Frames, in.most())
	active := speakers.Active(sound)
	for i := range o.footage.Frames {
		o.active = append(o.active, int32(active(i)))
	}
	return o, nil
}

// hear returns the articulation of the speech in each frame.
func (w work) hear(ctx context.Context, in input) ([]speech.Articulation, error) {
	f, err := os.Open(in.speech.PCM)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	features, err := flow.Scratch(w.dir)
	if err != nil {
		return nil, err
	}
	defer features.Close()
	s, err := speech.Read(flow.NewReader(ctx, f), features)
	if err != nil {
		return nil, err
	}
	return s.ArticulationAt(in.video.Video.Rate.Float(), in.spoken())
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

// addAll adds aligned frames to the engine's analyser and to those of speakers and of what hides mouths.
func (w work) addAll(ctx context.Context, o *observation, progress *progress, speakers *speaker.Analyser, aligned <-chan alignment.Frame, windows chan<- *speaker.Window) error {
	for f := range aligned {
		if f.Cut {
			o.cuts = append(o.cuts, f.Index)
		}
		if err := o.Faces.Add(f); err != nil {
			return err
		}
		o.hidden.Add(f)
		if err := o.analyser.Add(f); err != nil {
			return fmt.Errorf("analyse frame %d: %w", f.Index, err)
		}
		if err := flow.SendAll(ctx, windows, speakers.Add(f)); err != nil {
			return err
		}
		progress.done(f.Index + 1)
	}
	o.hidden.End()
	return flow.SendAll(ctx, windows, speakers.End())
}

// network returns the network that finds the speaker. It is nil if there is none, or if the job doesn't need it.
func (w work) network(in input) *speaker.Network {
	auto := slices.ContainsFunc(in.faceOptions(), func(f order.Face) bool { return f.By == order.AutoFace })
	if in.job.LargestFace || !auto || in.video.Audio == nil {
		return nil
	}
	return w.Speaker
}

// ownSound analyses the video's own sound, up to the last frame of the first pass, and writes its features to a file. If mfcc is not nil, it
// gets the samples too. If the sound can't be read, ownSound returns nil, and the job goes on: the sound only helps to tell who speaks, and
// what. The only errors are those of the machine.
func (w work) ownSound(ctx context.Context, in input, features *os.File, mfcc *speaker.MFCC) (*speech.Speech, error) {
	if in.video.Audio == nil {
		return nil, nil
	}
	sound, err := w.Media.OpenSound(ctx, in.video, in.length(in.limit()))
	if err != nil {
		return nil, nil
	}
	samples := flow.NewReader(ctx, sound)
	if mfcc != nil {
		samples = io.TeeReader(samples, mfcc)
	}
	heard, err := speech.Read(samples, features)
	switch closed := sound.Close(); {
	case failure.IsHostFault(err):
		return nil, err
	case closed != nil || err != nil:
		return nil, nil
	}
	return heard, nil
}
