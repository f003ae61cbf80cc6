package render

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/face/occlusion"
	"lipsync/internal/face/tracking"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/people"
	"lipsync/internal/signal/serial"
	"lipsync/internal/sound/speech"
)

// Findings keeps what first passes found out about one video, for later jobs with the same video. A job can do without: it ignores all
// errors, which an implementation may log.
type Findings interface {
	// Open opens the findings with a name.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Keep keeps what it reads under a name.
	Keep(ctx context.Context, name string, r io.Reader) error
}

// mostFindings bounds the findings of a video, in bytes. Those of an hour with 25 frames/s and one face take about 130 MB, most of them
// the examples of package warp.
const mostFindings = 512 << 20

// findingsTime bounds the reading and the keeping of findings, so that a store that answers slowly costs only time. The largest take 2.4
// minutes at 30 Mbit/s.
const findingsTime = 3 * time.Minute

// findingsName returns the name of the job's findings. It tells all that they depend on, except for the video itself.
func (w work) findingsName(in input) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %+v from %v, %d frames, scores %t, %s",
		w.basis(), in.job.Engine, *in.video.Video, in.video.Begin, in.limit(), w.network(in) != nil, in.job.Options.Output.VideoCodec()))
	return fmt.Sprintf("%x", sum)
}

// unread are findings of which none is read.
type unread struct{ Findings }

func (unread) Open(context.Context, string) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

// usesFindings reports whether a job may use findings and keep some.
func (w work) usesFindings(in input) bool {
	return in.job.Findings != nil && !in.video.Still && w.basis() != ""
}

// recall reads the findings of an earlier job. It finds nothing if there are none that can be used.
func (w work) recall(ctx context.Context, in input) (o observation, found bool, err error) {
	if !w.usesFindings(in) {
		return o, false, nil
	}
	analyser, err := w.newAnalyser(in)
	if err != nil {
		return o, false, err
	}
	engine, ok := analyser.(engine.Serial)
	if !ok {
		return o, false, nil
	}
	if o, found = w.readFindings(ctx, in, engine); found {
		o.spoken, err = w.hear(ctx, in)
	}
	return o, found, err
}

func (w work) readFindings(ctx context.Context, in input, engine engine.Serial) (o observation, found bool) {
	ctx, cancel := context.WithTimeout(ctx, findingsTime)
	defer cancel()
	file, err := in.job.Findings.Open(ctx, w.findingsName(in))
	if err != nil {
		return o, false
	}
	defer file.Close()
	o = observation{footage: footage.Footage{Source: w.source(in), Recalled: true}, Faces: people.NewFaces(w.faces), hidden: occlusion.New(), analyser: engine}
	err = failure.Guard(func() error {
		return serial.Read(io.LimitReader(flow.NewReader(ctx, file), mostFindings), func(c *serial.Coder) { o.code(c, engine) })
	})
	o.shown = min(o.footage.Frames, in.most())
	return o, err == nil && o.footage.Frames >= 1 && o.footage.Frames <= o.footage.Limit
}

// keep keeps what the first pass found out for later jobs.
func (w work) keep(ctx context.Context, in input, o observation) {
	engine, ok := o.analyser.(engine.Serial)
	if !ok || !w.usesFindings(in) || o.footage.Damaged || o.unheard {
		return
	}
	r, out := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		out.CloseWithError(failure.Guard(func() error {
			return serial.Write(&bounded{out, mostFindings}, func(c *serial.Coder) { o.code(c, engine) })
		}))
	}()
	ctx, cancel := context.WithTimeout(ctx, findingsTime)
	defer cancel()
	err := in.job.Findings.Keep(ctx, w.findingsName(in), r)
	r.CloseWithError(err)
	<-written // the plan changes the analyser
}

// bounded is a writer of at most left bytes.
type bounded struct {
	io.Writer
	left int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, fmt.Errorf("findings of more than %d bytes", mostFindings)
	}
	return b.Writer.Write(p)
}

// code codes the findings.
func (o *observation) code(c *serial.Coder, engine engine.Serial) {
	serial.Slice(c, &o.footage.Sums, c.Uint32)
	frames := len(o.footage.Sums)
	c.Int(&o.crf)
	serial.Slice(c, &o.cuts, func(cut *int) {
		c.Int(cut)
		c.Check(*cut >= 0 && *cut < frames)
	})
	o.Faces.Code(c)
	serial.Slice(c, &o.lost, func(l *tracking.Lost) { c.Int32((*int32)(l)) })
	serial.Slice(c, &o.active, c.Int32)
	serial.Slice(c, &o.heard, func(h *speech.Articulation) {
		c.Floats(&h.Opening, &h.Closure, &h.Labiodental, &h.Rounding, &h.Spread, &h.Silence)
	})
	c.Check(o.Faces.Frames() == frames && len(o.lost) == frames && len(o.active) == frames && (o.heard == nil || len(o.heard) == frames))
	o.footage.Frames = frames
	o.hidden.Code(c)
	engine.Code(c)
}
