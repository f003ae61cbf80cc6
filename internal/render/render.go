package render

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/sound/speaker"
)

// Renderer renders any number of jobs at once. Its fields are set once.
type Renderer struct {
	Tools   *ffmpeg.Tools
	Engines map[string]Engine // by the names that jobs give
	Limits  Limits
	// NewTracker makes the tracker of one video. fps is its frame rate.
	NewTracker func(fps float64) Tracker
	// Speaker helps to find the speaker among several people; nil: no network.
	Speaker *speaker.Network
	// Basis tells the program, the networks, and what computes these. Findings and pieces of another basis are not used. If it is
	// empty, none are used or kept.
	Basis string
	// Now tells the time since a piece of an output began. If it is nil, that is time.Now.
	Now func() time.Time
}

func (r *Renderer) clock() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
}

// Tracker follows faces; see tracking.Tracker.
type Tracker interface {
	Add(ctx context.Context, frame *image.YCbCr) (faces []tracking.Face, cut bool, err error)
}

// Job is one video to make. All its files are local.
type Job struct {
	Video, Audio string // paths
	Output       string // path; the file appears when it is complete
	Scratch      string // an existing folder for temporary files
	Engine       string // name of one of the renderer's engines
	// LargestFace syncs the largest face of each frame, no matter who speaks.
	LargestFace bool
	Findings    Findings // of earlier jobs with the same video; nil: none
	Options     lipsync.Options
	Boxes       string // path of the file of boxes, if the option face has one
	// With Segments the output is as long as the video, Audio isn't used, and of the Options only NoFace, Preview, Mask and Output.
	Segments lipsync.Segments
	Audios   map[string]string // paths of the audios of the segments, by their Ref
	Signed   bool              // the output must be signed later, which takes four times its size on the disk
	Poster   bool              // the result has a poster
	// Pieces keeps pieces of the output, and has those of earlier attempts at the job. If it is nil, the output isn't made in pieces.
	Pieces Pieces
	// VideoSum is the SHA-256 of the video. Pieces of jobs with another one aren't used.
	VideoSum [sha256.Size]byte
	// PieceTime is the time after which a piece ends; 0 means 40 s.
	PieceTime time.Duration
}

// Observer learns about a job while it is done. Its methods are never called concurrently.
type Observer interface {
	// Measured tells the lengths of the media before any frame is decoded. The length of the video is the one that its file states, 0 if it
	// states none. For a preview, so is that of the audio; if its file states none, it is as long as the preview needs.
	Measured(video, audio time.Duration)
	// Resumed tells the number of frames that are in pieces of earlier attempts, if there are any, and that of all frames.
	Resumed(frames, total int)
	Progress(Progress)
}

// ProgressFunc is an Observer that gets only the progress.
type ProgressFunc func(Progress)

func (ProgressFunc) Measured(_, _ time.Duration) {}
func (ProgressFunc) Resumed(_, _ int)            {}
func (f ProgressFunc) Progress(p Progress)       { f(p) }

// observed returns o, or an Observer that does nothing if o is nil.
func observed(o Observer) Observer {
	if o == nil {
		return ProgressFunc(func(Progress) {})
	}
	return o
}

// Reused is the work on a job that was done before.
type Reused struct {
	Findings bool // the findings of an earlier job were used
	Frames   int  // number of frames in pieces of earlier attempts
}

// Result describes an output.
type Result struct {
	Length   time.Duration
	Size     int64 // of the job: see lipsync.Speed
	Frames   lipsync.Frames
	Warnings lipsync.Warnings
	Sync     lipsync.SyncScore
	Poster   []byte // a small picture of the output (a JPEG), if the job asks for one
	NoPoster error  // the reason why none could be made
	Reused   Reused
	Again    bool // another try failed before, with findings or in pieces
}

// rendering is the work on one job.
type rendering struct {
	*Renderer
	job     Job
	by      Observer
	engine  Engine
	video   *ffmpeg.Info
	audio   *ffmpeg.Info
	dir     string // for temporary files
	encoded string // path of the speech track as the output will have it
	pcm     string // path of its samples
	samples int64  // in pcm
	speech  int    // length of the speech track in frames
	frames  int    // length of the output
	synced  int    // frames of the output in which a mouth was painted
	scored  *scored
	given   ffmpeg.Video // the video before its size and rate became those of the output
	boxes   []*rect      // of the option face, one for each frame of the file

	warnings lipsync.Warnings
	planned  string // see plan; "" until it is known
	reused   Reused
	anew     bool // reuses nothing, and makes no pieces
}

// Render makes the job's output. o may be nil. An error of code Invalid means that the media are at fault.
func (r *Renderer) Render(ctx context.Context, j Job, o Observer) (made Result, err error) {
	job, err := r.begin(j, o)
	if err != nil {
		return made, err
	}
	defer os.RemoveAll(job.dir)
	w := job
	made, err = w.guarded(ctx)
	if (w.reused != Reused{} || errors.Is(err, errPieces)) && mayDiffer(err) && ctx.Err() == nil { // perhaps the findings or pieces are to blame
		w = job
		w.anew = true
		made, err = w.guarded(ctx)
		made.Again = true
	}
	if ctx.Err() != nil {
		return made, context.Cause(ctx) // other errors only follow from it
	}
	if errors.Is(err, ffmpeg.ErrNotRun) {
		return made, lipsync.Failure{Code: lipsync.HostFailing}.Because(err)
	}
	return made, err
}

// guarded renders. A panic becomes an error.
func (w *rendering) guarded(ctx context.Context) (made Result, err error) {
	err = Guard(func() (err error) {
		made, err = w.render(ctx)
		return err
	})
	return made, err
}

// mayDiffer reports whether a rendering that failed with err could succeed at once without findings and pieces: err is neither the
// machine's fault nor a failure of the input.
func mayDiffer(err error) bool {
	return err != nil && !ffmpeg.OfMachine(err) && lipsync.FailureOf(err).Code.Class() == lipsync.OfOurs
}

// begin returns the work on a job, with a folder that the caller removes.
func (r *Renderer) begin(j Job, o Observer) (w rendering, err error) {
	engine := r.Engines[j.Engine]
	if engine == nil {
		return w, lipsync.Failure{Code: lipsync.ModelNotInstalled, Details: lipsync.Details{Model: j.Engine}}.Because(nil)
	}
	dir, err := os.MkdirTemp(j.Scratch, "render-")
	if err != nil {
		return w, err
	}
	w = rendering{Renderer: r, job: j, by: observed(o), engine: engine, dir: dir,
		encoded: filepath.Join(dir, "speech"+j.Options.Output.Format.Extension()), pcm: filepath.Join(dir, "speech.pcm")}
	if len(j.Segments) > 0 {
		w.job.Options.SyncMode = lipsync.Pad // so that the first pass decodes the whole video
		w.job.Segments = j.Segments.Within(j.Options.Preview)
	}
	return w, nil
}

func (w *rendering) render(ctx context.Context) (made Result, err error) {
	if err := w.checkCodec(ctx); err != nil {
		return made, err
	}
	if err := w.inspect(ctx); err != nil {
		return made, err
	}
	v := w.video.Video
	w.speech = v.Rate.Frames(w.samples, ffmpeg.PCMRate)
	if v.LosesHDR() {
		w.warnings = w.warnings.With(lipsync.ConvertedHDR)
	}
	if v.LosesAlpha() {
		w.warnings = w.warnings.With(lipsync.LostAlpha)
	}
	if err := w.readBoxes(ctx); err != nil {
		return made, err
	}
	w.by.Measured(w.video.Duration, w.audioLength())
	a, engine, err := w.firstPass(ctx)
	if a != nil {
		defer a.source.close()
	}
	if err != nil {
		return made, err
	}
	if !slices.ContainsFunc(a.faces[:a.frames], func(all []seen) bool { return len(all) > 0 }) {
		return made, lipsync.Failure{Code: lipsync.NoFace}.Because(nil)
	}
	line, err := w.timeline(a)
	if err != nil {
		return made, err
	}
	w.frames = line.frames
	if err := w.checkSize(); err != nil {
		return made, err
	}
	if err := w.finishSound(ctx, a.frames); err != nil {
		return made, err
	}
	samples, err := os.Open(w.pcm)
	if err != nil {
		return made, err
	}
	defer samples.Close()
	out := Output{
		Frames: line.frames, Source: line.source, Spoken: extend(a.spoken, line.frames), Heard: a.heard,
		Samples: io.NewSectionReader(samples, 0, 2*w.samples), Mask: w.job.Options.Mask,
	}
	if out.Speaker, err = w.speaker(a); err != nil {
		return made, err
	}
	var cover func(output int) *occlusion.Cover
	if a.hidden.Covers() > 0 {
		out.Hidden = func(track, source int) bool { return a.hidden.Cover(track, source) != nil }
		cover = func(output int) *occlusion.Cover {
			source := line.source(output)
			return a.hidden.Cover(out.Speaker(source), source)
		}
	}
	painter, err := engine.Plan(ctx, out)
	if err != nil {
		return made, fmt.Errorf("plan: %w", err)
	}
	shares := w.shares(out.Spoken)
	w.scored = newScored(w.frames, func(output int) *seen {
		if shares != nil && shares[output] < 255 || cover != nil && cover(output) != nil {
			return nil
		}
		source := line.source(output)
		return a.faces.of(out.Speaker(source), source)
	})
	if err := w.paint(ctx, painter, &player{a.source, line}, shares, cover); err != nil {
		return made, err
	}
	made = Result{Length: w.length(w.frames), Size: w.size(a.frames), Frames: lipsync.Frames{Total: w.frames, Synced: w.synced}, Warnings: w.warnings, Reused: w.reused}
	if made.Sync, err = w.score(io.NewSectionReader(samples, 0, 2*w.samples)); err != nil {
		return made, err
	}
	if w.job.Poster {
		made.Poster, made.NoPoster = w.Tools.Poster(ctx, v, w.job.Output, made.Length/2)
	}
	return made, nil
}

// audioLength returns the length of the audio. For a preview it is the one that the file states, or at least what the preview needs.
func (w *rendering) audioLength() time.Duration {
	audio := w.audio.Begin + time.Duration(w.samples)*time.Second/ffmpeg.PCMRate
	if w.job.Options.Preview.Length > 0 { // the samples are a part of it
		audio = min(max(audio, w.audio.Duration), w.Limits.Duration)
	}
	return audio
}

// size returns the size of the job: see lipsync.Speed. source is the number of frames of the first pass.
func (w *rendering) size(source int) int64 {
	v := w.video.Video
	return int64(source+w.frames) * int64(v.Width*v.Height) / 1000
}

// mostBytes bounds outputs of ProRes in bytes, whose files are far larger than those of other codecs. The disk of a runner on AWS has space for
// one of them, or for one of lipsync.MostSigned and its three copies while it is signed.
const mostBytes = 32 << 30

// proResBits has the bits of a pixel in each quality of ProRes. Apple's white paper (2022) gives 220, 147 and 45 Mbit/s for 1920 × 1080
// pixels and 29.97 frames/s.
var proResBits = map[lipsync.Quality]float64{lipsync.High: 3.54, lipsync.Medium: 2.37, lipsync.Low: .72}

// proRes4444Bits has the bits of a pixel in ProRes 4444, from the same paper: 330 Mbit/s. Alpha takes little more, unless it is noise.
const proRes4444Bits = 5.31

// proResSize returns the size of an output of ProRes in bytes, 0 of other codecs.
func (w *rendering) proResSize() float64 {
	o, v := w.job.Options.Output, w.video.Video
	if o.VideoCodec() != lipsync.ProRes {
		return 0
	}
	bits := proResBits[o.Quality]
	if v.Pixels.Alpha() {
		bits = proRes4444Bits
	}
	return float64(w.frames) * float64(v.Width*v.Height) * bits / 8
}

// checkSize returns an error if the output would be too large.
func (w *rendering) checkSize() error {
	most := int64(mostBytes)
	if w.job.Signed {
		most = lipsync.MostSigned
	}
	if w.proResSize() <= float64(most) {
		return nil
	}
	f := lipsync.Failure{Code: lipsync.MediaLargerThan, Details: lipsync.Details{Kind: lipsync.OutputFile}}
	f.Limit.Bytes = most
	return f.Because(nil)
}

// checkCodec returns an error if ffmpeg lacks an encoder that only some outputs need.
func (w *rendering) checkCodec(ctx context.Context) error {
	o := w.job.Options.Output
	if o.VideoCodec() == lipsync.H264 {
		return nil
	}
	err := w.Tools.CheckOutput(ctx, o)
	if errors.Is(err, ffmpeg.ErrNoEncoder) {
		return lipsync.Failure{Code: lipsync.CodecNotInstalled, Details: lipsync.Details{Codec: o.VideoCodec().String()}}.Because(err)
	}
	return err
}

// Progress is the progress of a job.
type Progress struct {
	Stage lipsync.Stage // lipsync.Analyzing or lipsync.Rendering
	Done  int           // frames
	Total int           // frames; may be an estimate
}

// progress passes a stage's progress on, a few times a second.
type progress struct {
	by    Observer
	stage lipsync.Stage
	total int
	next  time.Time
}

func (w *rendering) progress(stage lipsync.Stage, total int) *progress {
	return &progress{by: w.by, stage: stage, total: total}
}

func (p *progress) done(frames int) {
	now := time.Now()
	if frames < p.total && now.Before(p.next) {
		return
	}
	p.next = now.Add(200 * time.Millisecond)
	p.by.Progress(Progress{Stage: p.stage, Done: frames, Total: max(p.total, frames)})
}
