package render

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
	"lipsync/internal/render/recording"
	"lipsync/internal/render/syncscore"
	"lipsync/internal/sound/speaker"
)

// Renderer renders any number of jobs at once. Its fields are set once.
type Renderer struct {
	Media   Media
	Engines map[string]engine.Engine // by the names that jobs give
	Limits  intake.Limits
	// NewTracker makes the tracker of one video. fps is its frame rate.
	NewTracker func(fps float64) people.Tracker
	// ReadLips reads the lips of painted mouths, for the score; nil: they aren't read.
	ReadLips syncscore.LipReader
	// Speaker helps to find the speaker among several people; nil: no network.
	Speaker *speaker.Network
	// Basis tells the program, the networks, and what computes these. Findings and pieces of another basis are not used. If it is
	// nil or tells nothing, none are used or kept. It may read the program, so it is called only for jobs with findings or pieces.
	Basis func() string
	// Now tells the time since a piece of an output began. If it is nil, that is time.Now.
	Now func() time.Time
}

func (r *Renderer) basis() string {
	if r.Basis == nil {
		return ""
	}
	return r.Basis()
}

func (r *Renderer) clock() time.Time {
	if r.Now == nil {
		return time.Now()
	}
	return r.Now()
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
	Options     order.Options
	Boxes       string // path of the file of boxes, if the option face has one
	// With Segments the output is as long as the video, Audio isn't used, and of the Options only Output and those that are order.BesideSegments.
	Segments order.Segments
	Audios   map[string]string // paths of the audios of the segments, by their Ref
	Signed   bool              // the output must be signed later, which takes four times its size on the disk
	Poster   bool              // the result has a poster
	// Pieces keeps pieces of the output, and has those of earlier attempts at the job. If it is nil, the output isn't made in pieces.
	Pieces recording.Pieces
	Space  Space // on the disk; if it is nil, there is always enough
	Stored bool  // the output is stored on the same disk later
	// Sums are the SHA-256 of the video, the audios and the boxes. Pieces of jobs with others aren't used.
	Sums [][sha256.Size]byte
	// PieceTime is the time after which a piece ends; 0 means 40 s.
	PieceTime time.Duration
}

// Space is the space that a job gets on the disk.
type Space interface {
	// Take replaces the bytes that the job has for its files by size, or changes nothing and returns why.
	Take(size int64) error
	// Spare adds size bytes for files that only save time, and reports whether the disk has them.
	Spare(size int64) bool
	// Fits returns an error if the disk has no room for size bytes even when it is empty.
	Fits(size int64) error
}

// ample is a Space that always has enough.
type ample struct{}

func (ample) Take(int64) error { return nil }
func (ample) Spare(int64) bool { return true }
func (ample) Fits(int64) error { return nil }

// Observer learns about a job while it is done. Except for Unkept, its methods are never called concurrently.
type Observer interface {
	// Measured tells the lengths of the media, which the Result tells too, before any frame is decoded. size is about the Size that the Result will
	// have.
	Measured(video, audio time.Duration, size int64)
	// Unkept tells why the piece with a number couldn't be kept. The render goes on, so another method may run meanwhile.
	Unkept(piece int, err error)
	Progress(Progress)
}

// ProgressFunc is an Observer that gets only the progress.
type ProgressFunc func(Progress)

func (ProgressFunc) Measured(_, _ time.Duration, _ int64) {}

func (ProgressFunc) Unkept(int, error) {}

func (f ProgressFunc) Progress(p Progress) { f(p) }

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

// Result describes an output, and its media.
type Result struct {
	// The length of the video is the one that its file states, 0 if it states none. For a preview, so is that of the audio; if its file states none,
	// it is as long as the preview needs. With an error, both are 0 unless they are known.
	VideoLength, AudioLength time.Duration

	Length   time.Duration
	Size     int64 // of the job: the number of pixels of the frames that it analyses and paints, in thousands
	Frames   order.Frames
	Unsynced order.Unsynced
	Warnings order.Warnings
	Sync     order.SyncScore
	Poster   []byte // a small picture of the output (a JPEG), if the job asks for one; of a standard range, so paler than a high dynamic range
	NoPoster error  // the reason why none could be made
	Reused   Reused
	Again    bool // another try failed before, with findings, in pieces or on a GPU
}

// Render makes the job's output. o may be nil. An error of code Invalid means that the media are at fault.
func (r *Renderer) Render(ctx context.Context, j Job, o Observer) (Result, error) {
	w, err := r.begin(j, o)
	if err != nil {
		return Result{}, err
	}
	defer os.RemoveAll(w.dir)
	j = j.normal()
	made, err := w.try(ctx, j)
	if (made.Reused != Reused{} || slices.ContainsFunc([]error{recording.ErrPieces, ffmpeg.ErrGPU, ffmpeg.ErrUnproved}, func(e error) bool { return errors.Is(err, e) })) && mayDiffer(err) && ctx.Err() == nil { // perhaps the findings, pieces or the GPU are to blame
		if j.Pieces = nil; j.Findings != nil && !errors.Is(err, ffmpeg.ErrGPU) {
			j.Findings = unread{j.Findings}
		}
		first := made
		made, err = w.try(ctx, j)
		made.Again = true
		made.VideoLength, made.AudioLength = cmp.Or(made.VideoLength, first.VideoLength), cmp.Or(made.AudioLength, first.AudioLength) // an error may keep them from one
	}
	return made, w.reason(ctx, err)
}

// try makes one try at a job. With an error, the result tells only the lengths of the media and what the try has reused.
func (w work) try(ctx context.Context, j Job) (made Result, err error) {
	for _, f := range []**os.File{&w.scratch, &w.faces} {
		if *f, err = flow.Scratch(w.dir); err != nil {
			return made, err
		}
		defer (*f).Close()
	}
	err = failure.Guard(func() (err error) {
		in, err := w.inspect(ctx, j)
		if err != nil {
			return err
		}
		made.VideoLength, made.AudioLength = in.video.Duration, in.audioLength()
		w.by.Measured(made.VideoLength, made.AudioLength, in.size(in.expected(), in.spoken()))
		seen, err := w.observe(ctx, in)
		made.Reused.Findings = seen.footage.Recalled
		if err != nil {
			return err
		}
		defer seen.footage.Close()
		defer func() { err = cmp.Or(seen.Faces.Failed(), err) }() // what followed from faces that couldn't be read doesn't count
		p, err := w.plan(ctx, in, seen)
		if err != nil {
			return err
		}
		defer p.pcm.Close()
		out, err := w.paint(ctx, p)
		made.Reused.Frames = out.resumed
		if err != nil {
			return err
		}
		proof := ffmpeg.Proof{Frames: p.line.Frames, Sound: p.sound.length}
		if err := w.Media.Prove(ctx, in.video.Video, j.Options.Output, proof, j.Output); err != nil {
			return errors.Join(err, os.Remove(j.Output))
		}
		made, err = p.finish(out, made)
		return err
	})
	return made, err
}

// mayDiffer reports whether a rendering that failed with err could succeed at once without findings and pieces: err is neither the
// machine's fault nor a failure of the input.
func mayDiffer(err error) bool {
	return err != nil && !ffmpeg.OfMachine(err) && failure.Of(err).Code.Class() == failure.OfOurs
}

// work is what all stages of a job work with. It doesn't change.
type work struct {
	*Renderer
	engine  engine.Engine
	by      Observer
	dir     string   // for temporary files
	scratch *os.File // the engine's
	faces   *os.File
}

// begin returns the work on a job, with a folder that the caller removes.
func (r *Renderer) begin(j Job, o Observer) (w work, err error) {
	engine := r.Engines[j.Engine]
	if engine == nil {
		return w, failure.Failure{Code: failure.ModelNotInstalled, Details: failure.Details{Model: j.Engine}}.Because(nil)
	}
	dir, err := os.MkdirTemp(j.Scratch, "render-")
	return work{Renderer: r, engine: engine, by: observed(o), dir: dir}, err
}

// normal returns the job as the stages need it.
func (j Job) normal() Job {
	if len(j.Segments) > 0 {
		j.Options.SyncMode = order.Pad // so that the first pass decodes the whole video
		j.Segments = j.Segments.Within(j.Options.Preview)
	}
	if j.Space == nil {
		j.Space = ample{}
	}
	return j
}

// reason returns the error of work that ended with err.
func (w work) reason(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // other errors only follow from it
	case errors.Is(err, ffmpeg.ErrNotRun):
		return failure.Failure{Code: failure.HostFailing}.Because(err)
	}
	return err
}

// Progress is the progress of a job.
type Progress struct {
	Stage order.Stage // order.Analyzing or order.Rendering
	Done  int         // frames
	Total int         // frames; may be an estimate
}

// progress passes a stage's progress on, a few times a second.
type progress struct {
	by    Observer
	stage order.Stage
	total int
	next  time.Time
}

func (w work) progress(stage order.Stage, total int) *progress {
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
