// Package recording encodes the frames of an output, in pieces that a later attempt goes on after.
package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/render/flow"
	"lipsync/internal/render/syncscore"
)

// Media writes the files of outputs.
type Media interface {
	// Encode begins a file with pictures and, unless sound is "", with a sound, which it encodes.
	Encode(ctx context.Context, v *medium.Video, o order.Output, sound, output string) (ffmpeg.Encoder, error)
	// TakeReel writes the pictures of a file without its sound, as a reel for Join.
	TakeReel(ctx context.Context, v *medium.Video, o order.Output, from, to string) error
	// EncodeSound encodes a sound for Join, in any format but WebM.
	EncodeSound(ctx context.Context, o order.Output, sound, encoded string) error
	// Join joins reels and a sound to a file. EncodeSound wrote the sound; for WebM it is one as Encode takes it.
	Join(ctx context.Context, v *medium.Video, o order.Output, reels []ffmpeg.Reel, sound, output string) error
}

// Output is what is recorded.
type Output struct {
	Media       Media
	Video       *medium.Video
	Form        order.Output
	Frames      int
	Sound, Path string // the file with its sound, as Encode takes it, and its own
	Scorer      *syncscore.Scorer

	Pieces Pieces // nil: the output is made in one file
	Dir    string // for the files of pieces
	// Plan is a checksum of all that decides what the frames are and how they are encoded. Pieces of the same plan fit together.
	Plan      string
	PieceTime time.Duration              // after which a piece ends; 0 means 40 s
	Now       func() time.Time           // for PieceTime
	Unkept    func(piece int, err error) // tells why the piece with a number couldn't be kept; the recorder goes on
}

// Recorder encodes the frames of an output in their order: to one file or, if that takes long, to pieces, which Finish joins. So
// an attempt that ends early loses only its last piece.
type Recorder struct {
	Output
	encoder ffmpeg.Encoder
	path    string    // of the file that is being encoded
	began   time.Time // the piece that is being encoded
	now     facts
	mu      sync.Mutex    // of done
	done    []piece       // the earlier pieces
	kept    int           // how many of them are kept; KeepAll changes it
	more    chan struct{} // gets a value when a piece is finished
	sounded chan struct{} // is closed when the sound for Join is encoded; nil before it is begun
	unsound error         // why it couldn't be encoded; for those who saw sounded closed
}

// ErrPieces is the error of an output that can't be made in pieces.
var ErrPieces = errors.New("make an output in pieces")

// New begins an output. It goes on after the pieces of earlier attempts, if there are any, and adds to the scorer what they tell. The recorder isn't
// nil with an error.
func New(ctx context.Context, o Output) (*Recorder, error) {
	r := &Recorder{Output: o, more: make(chan struct{}, 1)}
	r.done = r.resume(ctx)
	for _, p := range r.done {
		o.Scorer.Recall(p.Measured)
	}
	if r.kept = len(r.done); r.kept > 0 {
		r.now.To = r.done[r.kept-1].To
	}
	return r, r.begin(ctx)
}

// Next returns the frame of the output that is recorded next.
func (r *Recorder) Next() int { return r.now.To }

// mostWhole bounds the sound of a first piece. When the piece ends, ffmpeg encodes the rest of its sound: 2 minutes in stereo in 3 s.
const mostWhole = 2 * time.Minute

// begin begins to encode the next piece. The first one is the whole output if it takes less than the time of a piece, so it has the
// sound, unless that is long.
func (r *Recorder) begin(ctx context.Context) error {
	sound := ""
	if r.path = r.piecePath(len(r.done)); r.Pieces == nil || len(r.done) == 0 && float64(r.Frames) <= mostWhole.Seconds()*r.Video.Rate.Float() {
		r.path, sound = r.Path, r.Sound
	}
	r.began, r.now = r.Now(), facts{From: r.now.To, To: r.now.To}
	encoder, err := r.Media.Encode(ctx, r.Video, r.Form, sound, r.path)
	if err != nil {
		return err
	}
	r.encoder = encoder
	if sound == "" && r.sounded == nil {
		r.sounded = make(chan struct{})
		go r.encodeSound(ctx)
	}
	return nil
}

// encodeSound encodes the sound for Join, unless Join takes it as it is.
func (r *Recorder) encodeSound(ctx context.Context) {
	defer close(r.sounded)
	if path := r.soundPath(); path != r.Sound {
		r.unsound = failure.Guard(func() error { return r.Media.EncodeSound(ctx, r.Form, r.Sound, path) })
	}
}

// soundPath returns the path of the sound for Join.
func (r *Recorder) soundPath() string {
	if r.Form.Format == order.WebM {
		return r.Sound
	}
	return filepath.Join(r.Dir, "sound"+r.Form.Extension())
}

// Add encodes the next frame. synced tells whether a mouth was painted in it. It fails as soon as the sound can't be encoded.
func (r *Recorder) Add(ctx context.Context, frame []byte, synced bool) error {
	select {
	case <-r.sounded:
		if r.unsound != nil {
			return r.unsound
		}
	default:
	}
	if err := r.encoder.WritePixels(frame); err != nil {
		return err
	}
	if !synced {
		r.now.Unsynced = append(r.now.Unsynced, r.now.To)
	}
	r.now.To++
	if r.Pieces == nil || min(r.now.To-r.now.From, r.Frames-r.now.To) < leastPiece || r.Now().Sub(r.began) < cmp.Or(r.PieceTime, pieceTime) {
		return nil
	}
	if err := r.end(ctx); err != nil {
		return err
	}
	return r.begin(ctx)
}

// Abort ends the recorder, whose context has ended, and leaves no file of the output.
func (r *Recorder) Abort() {
	r.encoder.Abort()
	if r.sounded != nil {
		<-r.sounded
	}
}

// end completes the file of a piece. Of the first one it keeps only the pictures.
func (r *Recorder) end(ctx context.Context) error {
	if err := r.encoder.Finish(); err != nil {
		return err
	}
	p := piece{r.now, r.path}
	p.Measured = r.Scorer.Tell(p.From, p.To)
	if r.path == r.Path {
		p.path = r.piecePath(0)
		err := r.Media.TakeReel(ctx, r.Video, r.Form, r.path, p.path)
		if err = errors.Join(err, os.Remove(r.path)); err != nil {
			return fmt.Errorf("%w: %w", ErrPieces, err)
		}
	}
	r.mu.Lock()
	r.done = append(r.done, p)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default: // KeepAll has yet to look
	}
	return nil
}

// KeepAll keeps pieces in their order until ctx ends. If one can't be kept, it tries again when the next one is finished, since those
// after it are of no use without it.
func (r *Recorder) KeepAll(ctx context.Context) {
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
					r.Unkept(r.kept, err)
				}
				break
			}
			r.kept++
		}
	}
}

// keep keeps a piece for later attempts.
func (r *Recorder) keep(ctx context.Context, n int, p piece) error {
	p.Plan = r.Plan
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	return p.write(func(content io.Reader, size int64) error {
		return r.Pieces.Keep(ctx, n, flow.NewReader(ctx, content), size)
	})
}

// Finish completes the output.
func (r *Recorder) Finish(ctx context.Context) error {
	if err := r.encoder.Finish(); err != nil {
		return err
	}
	if r.path == r.Path {
		return nil
	}
	var reels []ffmpeg.Reel
	for _, p := range append(r.done, piece{r.now, r.path}) {
		reels = append(reels, ffmpeg.Reel{Path: p.path, Frames: p.To - p.From})
	}
	if <-r.sounded; r.unsound != nil {
		return r.unsound
	}
	if err := r.Media.Join(ctx, r.Video, r.Form, reels, r.soundPath(), r.Path); err != nil {
		return fmt.Errorf("%w: %w", ErrPieces, err)
	}
	return nil
}

// Unsynced returns the frames of the finished output in which no mouth was painted.
func (r *Recorder) Unsynced() (frames []int) {
	for _, p := range r.done {
		frames = append(frames, p.Unsynced...)
	}
	return append(frames, r.now.Unsynced...)
}
