package render

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/face/occlusion"
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

// Serial is an Analyser whose findings can be kept for later jobs.
type Serial interface {
	Analyser
	// Code codes what Plan needs, after the last Add. Read into a new Analyser, it makes Plan plan the same.
	Code(*serial.Coder)
}

// mostFindings bounds the findings of a video, in bytes. Those of an hour with 25 frames/s and one face take about 130 MB, most of them
// the examples of package warp.
const mostFindings = 512 << 20

// findingsTime bounds the reading and the keeping of findings, so that a store that answers slowly costs only time. The largest take 2.4
// minutes at 30 Mbit/s.
const findingsTime = 3 * time.Minute

// firstPass makes the first pass over the video, or reads what an earlier job found out in it.
func (w *rendering) firstPass(ctx context.Context) (*analysis, Analyser, error) {
	engine, err := w.newAnalyser()
	if err != nil {
		return nil, nil, err
	}
	kept, _ := engine.(Serial)
	if w.job.Findings == nil || w.Basis == "" || w.video.Still {
		kept = nil
	}
	if kept != nil && !w.anew {
		if a := w.recall(ctx, kept); a != nil {
			w.reused.Findings = true
			w.progress(lipsync.Analyzing, a.source.frames).done(a.source.frames)
			return a, engine, w.hear(ctx, a)
		}
		if engine, err = w.newAnalyser(); err != nil { // a file that ends early has filled the other one
			return nil, nil, err
		}
		kept = engine.(Serial)
	}
	a, err := w.analyse(ctx, engine)
	if err == nil && kept != nil && !a.source.damaged && !a.unheard {
		w.keep(ctx, a, kept)
	}
	return a, engine, err
}

func (w *rendering) newAnalyser() (Analyser, error) {
	v := w.video.Video
	engine, err := w.engine.Analyse(Video{Width: v.Width, Height: v.Height, FPS: v.Rate.Float()})
	if err != nil {
		return nil, fmt.Errorf("start the engine: %w", err)
	}
	return engine, nil
}

// findingsName returns the name of the job's findings. It tells all that they depend on, except for the video itself.
func (w *rendering) findingsName() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %+v from %v, %d frames, scores %t, NVIDIA %t",
		w.Basis, w.job.Engine, *w.video.Video, w.video.Begin, w.limit(), w.network() != nil, w.Tools.NVIDIA))
	return fmt.Sprintf("%x", sum)
}

// recall reads the findings of an earlier job. It returns nil if there are none that can be used.
func (w *rendering) recall(ctx context.Context, engine Serial) *analysis {
	ctx, cancel := context.WithTimeout(ctx, findingsTime)
	defer cancel()
	file, err := w.job.Findings.Open(ctx, w.findingsName())
	if err != nil {
		return nil
	}
	defer file.Close()
	a := &analysis{source: newSource(w), hidden: occlusion.New()}
	a.source.recalled = true
	limit := a.source.frames
	err = Guard(func() error {
		return serial.Read(io.LimitReader(reader{ctx, file}, mostFindings), func(c *serial.Coder) { a.code(c, engine) })
	})
	if err != nil || a.source.frames < 1 || a.source.frames > limit {
		return nil
	}
	a.frames = min(a.source.frames, w.most())
	return a
}

// keep keeps the findings for later jobs.
func (w *rendering) keep(ctx context.Context, a *analysis, engine Serial) {
	r, out := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		out.CloseWithError(Guard(func() error {
			return serial.Write(&bounded{out, mostFindings}, func(c *serial.Coder) { a.code(c, engine) })
		}))
	}()
	ctx, cancel := context.WithTimeout(ctx, findingsTime)
	defer cancel()
	err := w.job.Findings.Keep(ctx, w.findingsName(), r)
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
func (a *analysis) code(c *serial.Coder, engine Serial) {
	serial.Slice(c, &a.source.sums, c.Uint32)
	frames := len(a.source.sums)
	serial.Slice(c, &a.cuts, func(cut *int) {
		c.Int(cut)
		c.Check(*cut >= 0 && *cut < frames)
	})
	serial.Slice(c, (*[][]seen)(&a.faces), func(all *[]seen) {
		serial.Slice(c, all, func(s *seen) {
			c.Int32(&s.track)
			c.Int32(&s.person)
			c.Floats(&s.box.X, &s.box.Y, &s.box.Size)
			c.Floats(&s.toMouth.A, &s.toMouth.B, &s.toMouth.X, &s.toMouth.Y)
		})
	})
	serial.Slice(c, &a.active, c.Int32)
	serial.Slice(c, &a.heard, func(h *speech.Articulation) {
		c.Floats(&h.Opening, &h.Closure, &h.Labiodental, &h.Rounding, &h.Spread, &h.Silence)
	})
	c.Check(len(a.faces) == frames && len(a.active) == frames && (a.heard == nil || len(a.heard) == frames))
	a.source.frames = frames
	a.hidden.Code(c)
	engine.Code(c)
}
