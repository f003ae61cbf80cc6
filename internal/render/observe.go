package render

import (
	"context"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/sound/speaker"
	"lipsync/internal/sound/speech"
)

// observation is what the first pass found out, or the findings of an earlier job.
type observation struct {
	footage  footage
	shown    int                 // number of source frames that the output may show
	crf      int                 // see ffmpeg.Video.CRF
	cuts     []int               // the source frames that begin a shot
	*faces                       // in each source frame
	lost     []tracking.Lost     // why there is no face, for each source frame
	active   []int32             // the track of the speaker in each source frame, -1 for none
	hidden   *occlusion.Analyser // finds what hides mouths
	analyser Analyser            // the engine's
	// The video's own sound couldn't be read. Another time it may be.
	unheard bool
	spoken  []speech.Articulation // of the speech in each frame
	heard   []speech.Articulation // of the video's own sound in each frame of the video; nil if the engine doesn't need it
}

// In the first pass the mouths of aheadMost frames or fewer are placed at once, so that a network sees several of them together. So
// many full frames are in memory, and those that are decoded and tracked meanwhile. Of large frames there are fewer.
const (
	aheadMost  = 16
	aheadBytes = 64 << 20
	besides    = 4
)

// ahead returns the number of full frames in memory in the first pass.
func ahead(v *ffmpeg.Video) int { return besides + min(aheadMost, aheadBytes/v.FrameSize()) }

// waitingWindows is the largest number of windows of faces that wait for the video's own sound. Each takes 1.3 MB. The sound
// is analysed much faster than the pictures.
const waitingWindows = 32

// observe makes the first pass over the video, or reads what an earlier job found out in it. Meanwhile it encodes the speech
// track. The caller closes the footage of what it returns, unless there is an error.
func (w work) observe(ctx context.Context, in input) (o observation, err error) {
	var unsaid error
	g, seeing := newGroup(ctx)
	g.Go(func() error {
		unsaid = w.encodeSpeech(ctx, in.speech, in.job.Options.Preview.Length)
		return unsaid
	})
	g.Go(func() (err error) {
		o, err = w.see(seeing, in)
		return err
	})
	if err = g.Wait(); err == nil {
		return o, nil
	}
	o.footage.close()
	if unsaid != nil { // no matter which came first: findings are not to blame
		o.footage.recalled = false
		return o, unsaid
	}
	return o, err
}

// see returns what the first pass or an earlier job found out in the video. With an error, the footage is closed.
func (w work) see(ctx context.Context, in input) (observation, error) {
	o, found, err := w.recall(ctx, in)
	switch {
	case err != nil:
		return o, err
	case found:
		w.progress(order.Analyzing, o.footage.frames).done(o.footage.frames)
	default:
		if o, err = w.firstPass(ctx, in); err != nil {
			return o, err
		}
		w.keep(ctx, in, o)
	}
	if !o.faces.any(o.shown) {
		o.footage.close()
		return o, failure.Failure{Code: failure.NoFace}.Because(nil)
	}
	return o, nil
}

func (w work) newAnalyser(in input) (Analyser, error) {
	v := in.video.Video
	engine, err := w.engine.Analyse(Video{Width: v.Width, Height: v.Height, FPS: v.Rate.Float(), Scratch: w.scratch})
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	return engine, nil
}

func (w work) source(in input) source {
	return source{
		media: w.Media, video: in.video, dir: w.dir, expected: in.expected(), needed: in.most(), output: &in.job.Options.Output, crowded: in.crowded,
		limit:   int(min(float64(in.limit()), 1e9*in.limits.Gigapixels/in.sourcePixels()+1)),
		tooMany: in.checkSize(in.video.First()+in.most(), 0),
	}
}

// firstPass decodes, tracks and aligns each frame that the output may show, and analyses faces and sound, each in a goroutine of its own.
func (w work) firstPass(ctx context.Context, in input) (o observation, err error) {
	fps, network := in.video.Video.Rate.Float(), w.network(in)
	o = observation{faces: newFaces(w.faces), hidden: occlusion.New()}
	if o.analyser, err = w.newAnalyser(in); err != nil {
		return o, err
	}
	rows, err := newScratch(w.dir) // of the MFCC of the video's own sound
	if err != nil {
		return o, err
	}
	defer rows.Close()
	speakers := speaker.New(fps, network)
	var sound *speech.Speech // the video's own, nil if it has none
	windows, heard := make(chan *speaker.Window, waitingWindows), make(chan *speaker.MFCC, 1)

	g, ctx := newGroup(ctx)
	g.Go(func() (err error) {
		o.spoken, err = w.hear(ctx, in)
		return err
	})
	g.Go(func() error {
		defer close(heard)
		features, err := newScratch(w.dir)
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
	aligned := w.aligned(ctx, g, w.source(in), &o.footage, &o.lost)
	g.Go(func() error {
		defer close(windows)
		return w.addAll(ctx, &o, w.progress(order.Analyzing, in.expected()), speakers, aligned, windows)
	})
	g.Go(func() error { return speakers.Score(ctx, windows, <-heard) })
	if err := g.Wait(); err != nil {
		o.footage.close()
		return o, err
	}
	o.crf = o.footage.crf
	o.heard = extend(o.heard, o.footage.frames)
	o.shown = min(o.footage.frames, in.most())
	active := speakers.Active(sound)
	for i := range o.footage.frames {
		o.active = append(o.active, int32(active(i)))
	}
	return o, nil
}

// hear returns the articulation of the speech in each frame.
func (w work) hear(ctx context.Context, in input) ([]speech.Articulation, error) {
	f, err := os.Open(in.speech.pcm)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	features, err := newScratch(w.dir)
	if err != nil {
		return nil, err
	}
	defer features.Close()
	s, err := speech.Read(newReader(ctx, f), features)
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

// aligned decodes the source's frames, and tracks and aligns their faces, in goroutines of the group. It returns the channel of the
// aligned frames, and sets the footage and why each frame has no face.
func (w work) aligned(ctx context.Context, g group, s source, f *footage, lost *[]tracking.Lost) <-chan alignment.Frame {
	fps := s.video.Video.Rate.Float()
	free := newBuffers(ahead(s.video.Video), s.video.Video.NewFrame)
	decoded, tracked, aligned := make(chan *image.YCbCr, besides-1), make(chan placing, cap(free)), make(chan alignment.Frame)
	g.Go(func() (err error) {
		defer close(decoded)
		*f, err = s.decode(ctx, free, decoded)
		return err
	})
	g.Go(func() error {
		defer close(tracked)
		return track(ctx, g, w.NewTracker(fps), decoded, free, tracked)
	})
	g.Go(func() error {
		defer close(aligned)
		return align(ctx, alignment.NewAligner(fps), tracked, aligned, lost)
	})
	return aligned
}

// placing is a tracked frame whose mouths are being placed.
type placing struct {
	*tracking.Seen
	done chan struct{} // closed when they are
}

// track follows the faces of decoded frames, and places their mouths in goroutines of the group. It puts the decoded frames back into
// free.
func track(ctx context.Context, g group, tracker Tracker, decoded <-chan *image.YCbCr, free buffers[*image.YCbCr], tracked chan<- placing) error {
	for frame := range decoded {
		seen, err := tracker.Add(ctx, frame)
		if err != nil {
			return fmt.Errorf("find faces: %w", err)
		}
		p := placing{seen, make(chan struct{})}
		g.Go(func() error {
			if err := p.Place(ctx, frame); err != nil {
				return fmt.Errorf("find mouths: %w", err)
			}
			free.put(frame)
			close(p.done)
			return nil
		})
		if err := send(ctx, tracked, p); err != nil {
			return err
		}
	}
	return nil
}

// align aligns the faces of tracked frames, and sends the aligned frames. It appends to lost why each has no face.
func align(ctx context.Context, aligner *alignment.Aligner, tracked <-chan placing, aligned chan<- alignment.Frame, lost *[]tracking.Lost) error {
	for p := range tracked {
		select {
		case <-p.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		*lost = append(*lost, p.Lost)
		if err := sendAll(ctx, aligned, aligner.Add(p.Faces, p.Cut)); err != nil {
			return err
		}
	}
	return sendAll(ctx, aligned, aligner.End())
}

// addAll adds aligned frames to the engine's analyser and to those of speakers and of what hides mouths.
func (w work) addAll(ctx context.Context, o *observation, progress *progress, speakers *speaker.Analyser, aligned <-chan alignment.Frame, windows chan<- *speaker.Window) error {
	for f := range aligned {
		if f.Cut {
			o.cuts = append(o.cuts, f.Index)
		}
		if err := o.faces.add(f); err != nil {
			return err
		}
		o.hidden.Add(f)
		if err := o.analyser.Add(f); err != nil {
			return fmt.Errorf("analyse frame %d: %w", f.Index, err)
		}
		if err := sendAll(ctx, windows, speakers.Add(f)); err != nil {
			return err
		}
		progress.done(f.Index + 1)
	}
	o.hidden.End()
	return sendAll(ctx, windows, speakers.End())
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
	var samples io.Reader = newReader(ctx, sound)
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
