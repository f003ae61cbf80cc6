package render

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"lipsync/internal/ffmpeg"
	"lipsync/internal/lipsync"
)

// recorder encodes the frames of an output in their order: to one file or, if that takes long, to pieces, which finish joins. So
// an attempt that ends early loses only its last piece.
type recorder struct {
	*rendering
	encoder *ffmpeg.Encoder
	path    string    // of the file that is being encoded
	began   time.Time // the piece that is being encoded
	now     pieceFacts
	done    []piece    // the earlier pieces
	kept    int        // how many of them earlier attempts have made
	toKeep  chan piece // pieces that keepAll keeps
}

// newRecorder begins an output. It goes on after the pieces of earlier attempts, if there are any.
func (w *rendering) newRecorder(ctx context.Context) (*recorder, error) {
	r := &recorder{rendering: w, toKeep: make(chan piece, 1), done: w.resume(ctx)}
	r.kept = len(r.done)
	w.resumed = r.kept > 0
	if w.resumed {
		r.now.To = r.done[r.kept-1].To
	}
	return r, r.begin(ctx)
}

// begin begins to encode the next piece. The first one is the whole output if it takes less than the time of a piece, so it has the
// sound.
func (r *recorder) begin(ctx context.Context) (err error) {
	sound := ""
	if r.path = r.piecePath(len(r.done)); len(r.done) == 0 {
		r.path, sound = r.job.Output, r.encoded
	}
	r.began, r.now = r.clock(), pieceFacts{From: r.now.To, To: r.now.To}
	r.encoder, err = r.Tools.Encode(ctx, r.video.Video, r.job.Options.Output, sound, r.path)
	return err
}

// write encodes painted frames in their order and completes the file.
func (r *recorder) write(ctx context.Context, line <-chan *task, free buffers[[]byte]) error {
	progress := r.progress(lipsync.Rendering, r.frames)
	for t := range line {
		select {
		case <-t.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := r.add(ctx, t); err != nil {
			return err
		}
		output := t.output
		free.put(t.frame) // and the task with it
		progress.done(output + 1)
	}
	if err := ctx.Err(); err != nil {
		return err // the frames ended early
	}
	return r.finish(ctx)
}

// add encodes the next frame, which is painted.
func (r *recorder) add(ctx context.Context, t *task) error {
	if err := r.encoder.WritePixels(t.frame); err != nil {
		return err
	}
	r.now.To++
	if t.synced {
		r.now.Synced++
	}
	if !r.inPieces() || min(r.now.To-r.now.From, r.frames-r.now.To) < leastPiece || r.clock().Sub(r.began) < cmp.Or(r.job.PieceTime, pieceTime) {
		return nil
	}
	p, err := r.end(ctx)
	if err != nil {
		return err
	}
	if err := send(ctx, r.toKeep, p); err != nil {
		return err
	}
	return r.begin(ctx)
}

// end completes the file of a piece. Of the first one it keeps only the pictures.
func (r *recorder) end(ctx context.Context) (p piece, err error) {
	if err := r.encoder.Finish(); err != nil {
		return p, err
	}
	p = piece{r.now, r.path}
	p.Mouths = r.scored.mouths(p.From, p.To)
	if len(r.done) == 0 {
		p.path = r.piecePath(0)
		err = r.Tools.TakeReel(ctx, r.video.Video, r.job.Options.Output, r.path, p.path)
		err = errors.Join(err, os.Remove(r.path))
	}
	r.done = append(r.done, p)
	return p, err
}

// keepAll keeps pieces until ctx ends, or until one can't be kept, since those after it are of no use.
func (r *recorder) keepAll(ctx context.Context) {
	n, lost := r.kept, false
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-r.toKeep:
			lost = lost || r.keep(ctx, n, p) != nil
			n++
		}
	}
}

// keep keeps a piece for later attempts.
func (r *recorder) keep(ctx context.Context, n int, p piece) (err error) {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	if p.Plan, err = r.plan(ctx); err != nil {
		return err
	}
	return p.write(func(content io.Reader, size int64) error {
		return r.job.Pieces.Keep(ctx, n, reader{ctx, content}, size)
	})
}

// finish completes the output.
func (r *recorder) finish(ctx context.Context) error {
	if err := r.encoder.Finish(); err != nil {
		return err
	}
	r.synced = r.now.Synced
	if len(r.done) == 0 {
		return nil
	}
	var reels []ffmpeg.Reel
	for _, p := range append(r.done, piece{r.now, r.path}) {
		reels = append(reels, ffmpeg.Reel{Path: p.path, Frames: p.To - p.From})
	}
	for _, p := range r.done {
		r.synced += p.Synced
	}
	return r.Tools.Join(ctx, r.video.Video, r.job.Options.Output, reels, r.encoded, r.job.Output)
}
