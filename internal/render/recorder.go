package render

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
)

// recorder encodes the frames of an output in their order: to one file or, if that takes long, to pieces, which finish joins. So
// an attempt that ends early loses only its last piece.
type recorder struct {
	work
	plan
	scored  *scored
	sum     string // see planSum; "" until it is known
	encoder ffmpeg.Encoder
	path    string    // of the file that is being encoded
	began   time.Time // the piece that is being encoded
	now     pieceFacts
	mu      sync.Mutex    // of done
	done    []piece       // the earlier pieces
	kept    int           // how many of them are kept; keepAll changes it
	more    chan struct{} // gets a value when a piece is finished
}

// errPieces is the error of an output that can't be made in pieces.
var errPieces = errors.New("make an output in pieces")

// newRecorder begins an output. It goes on after the pieces of earlier attempts, if there are any, and adds to s what they tell.
func (w work) newRecorder(ctx context.Context, p plan, s *scored) (*recorder, error) {
	r := &recorder{work: w, plan: p, scored: s, more: make(chan struct{}, 1)}
	r.done = r.resume(ctx)
	for _, p := range r.done {
		s.recall(p.measured)
	}
	if r.kept = len(r.done); r.kept > 0 {
		r.now.To = r.done[r.kept-1].To
		w.by.Resumed(r.now.To, p.line.frames)
	}
	return r, r.begin(ctx)
}

// begin begins to encode the next piece. The first one is the whole output if it takes less than the time of a piece, so it has the
// sound.
func (r *recorder) begin(ctx context.Context) error {
	sound := ""
	if r.path = r.piecePath(len(r.done)); len(r.done) == 0 {
		r.path, sound = r.input.job.Output, r.sound.encoded
	}
	r.began, r.now = r.clock(), pieceFacts{From: r.now.To, To: r.now.To}
	encoder, err := r.Media.Encode(ctx, r.input.video.Video, r.input.job.Options.Output, sound, r.path)
	if err == nil {
		r.encoder = encoder
	}
	return err
}

// write encodes painted frames in their order and completes the file.
func (r *recorder) write(ctx context.Context, line <-chan *task, free buffers[[]byte]) error {
	progress := r.progress(order.Rendering, r.line.frames)
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
	if !t.synced {
		r.now.Unsynced = append(r.now.Unsynced, t.output)
	}
	if !r.inPieces() || min(r.now.To-r.now.From, r.line.frames-r.now.To) < leastPiece || r.clock().Sub(r.began) < cmp.Or(r.input.job.PieceTime, pieceTime) {
		return nil
	}
	if err := r.end(ctx); err != nil {
		return err
	}
	return r.begin(ctx)
}

// end completes the file of a piece. Of the first one it keeps only the pictures.
func (r *recorder) end(ctx context.Context) error {
	if err := r.encoder.Finish(); err != nil {
		return err
	}
	p := piece{r.now, r.path}
	p.measured = r.scored.tell(p.From, p.To)
	if len(r.done) == 0 {
		p.path = r.piecePath(0)
		err := r.Media.TakeReel(ctx, r.input.video.Video, r.input.job.Options.Output, r.path, p.path)
		if err = errors.Join(err, os.Remove(r.path)); err != nil {
			return fmt.Errorf("%w: %w", errPieces, err)
		}
	}
	r.mu.Lock()
	r.done = append(r.done, p)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default: // keepAll has yet to look
	}
	return nil
}

// keepAll keeps pieces in their order until ctx ends. If one can't be kept, it tries again when the next one is finished, since those
// after it are of no use without it.
func (r *recorder) keepAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.more:
		}
		r.mu.Lock()
		waiting := r.done[r.kept:]
		r.mu.Unlock()
		for _, p := range waiting {
			if err := r.keep(ctx, r.kept, p); err != nil {
				if !errors.Is(ctx.Err(), context.Canceled) { // otherwise the render ends
					r.by.Unkept(r.kept, err)
				}
				break
			}
			r.kept++
		}
	}
}

// keep keeps a piece for later attempts.
func (r *recorder) keep(ctx context.Context, n int, p piece) (err error) {
	if p.Plan, err = r.planSum(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	return p.write(func(content io.Reader, size int64) error {
		return r.input.job.Pieces.Keep(ctx, n, newReader(ctx, content), size)
	})
}

// finish completes the output.
func (r *recorder) finish(ctx context.Context) error {
	if err := r.encoder.Finish(); err != nil {
		return err
	}
	if len(r.done) == 0 {
		return nil
	}
	var reels []ffmpeg.Reel
	for _, p := range append(r.done, piece{r.now, r.path}) {
		reels = append(reels, ffmpeg.Reel{Path: p.path, Frames: p.To - p.From})
	}
	if err := r.Media.Join(ctx, r.input.video.Video, r.input.job.Options.Output, reels, r.sound.encoded, r.input.job.Output); err != nil {
		return fmt.Errorf("%w: %w", errPieces, err)
	}
	return nil
}

// unsynced returns the frames of the finished output in which no mouth was painted.
func (r *recorder) unsynced() (frames []int) {
	for _, p := range r.done {
		frames = append(frames, p.Unsynced...)
	}
	return append(frames, r.now.Unsynced...)
}
