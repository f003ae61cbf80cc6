package recording

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lipsync/internal/render/flow"
	"lipsync/internal/render/syncscore"
)

// Pieces keeps the finished pieces of an output, so that a later attempt at the same job goes on after them. A job can do without: it
// ignores all errors, which an implementation may log.
type Pieces interface {
	// Find passes each kept piece with the number n, the newest first, to read, until read returns nil. It returns an error if
	// read accepts none.
	Find(ctx context.Context, n int, read func(io.Reader) error) error
	// Keep keeps size bytes as the piece with the number n. After an error it is called again when the next piece is finished.
	Keep(ctx context.Context, n int, r io.Reader, size int64) error
}

const (
	// pieceTime is the time after which a piece of an output ends, if the job sets no other. A worker that dies loses this work, and
	// that of the time in which the piece is kept.
	pieceTime = 40 * time.Second
	// keepTime bounds each keeping and each finding of a piece, so that a store that answers slowly costs only time.
	keepTime = time.Minute
	// leastPiece is the smallest number of frames of a piece. In a file of fewer frames than an encoder puts into another order, their
	// decoding times differ.
	leastPiece = 8
)

// piece is a finished part of an output: a file with its pictures, and without sound.
type piece struct {
	facts
	path string
}

// facts is what a kept piece tells of itself.
type facts struct {
	Plan     string // see Output.Plan
	From, To int    // the first frame of the output in it, and the first one after it
	Unsynced []int  // the frames of the output in it in which no mouth was painted, in their order
	syncscore.Measured
}

// mostFacts bounds the facts of a piece as JSON, in bytes. Those of 2,048 mouths take about 1.5 MB.
const mostFacts = 8 << 20

// A kept piece has the SHA-256 of what follows it, then its facts as a line of JSON, and then the file.

// write calls keep with the piece as it is kept.
func (p piece) write(keep func(r io.Reader, size int64) error) error {
	file, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer file.Close()
	facts, err := json.Marshal(p.facts)
	if err != nil {
		return err
	}
	facts = append(facts, '\n')
	sum := sha256.New()
	size, err := io.Copy(sum, io.MultiReader(bytes.NewReader(facts), file))
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	head := bytes.NewReader(append(sum.Sum(nil), facts...))
	return keep(io.MultiReader(head, file), sha256.Size+size)
}

// readPiece reads a kept piece, and writes its file to a path. It returns an error if the piece is damaged, or belongs to another plan or
// doesn't begin with the frame from.
func readPiece(r io.Reader, path, plan string, from, frames int) (p piece, err error) {
	var want [sha256.Size]byte
	if _, err := io.ReadFull(r, want[:]); err != nil {
		return p, err
	}
	sum := sha256.New()
	rest := bufio.NewReader(io.TeeReader(r, sum))
	facts, err := readLine(rest, mostFacts)
	if err == nil {
		err = json.Unmarshal(facts, &p.facts)
	}
	if err != nil {
		return p, fmt.Errorf("facts of a piece: %w", err)
	}
	if p.Plan != plan {
		return p, errors.New("a piece of another plan")
	}
	if p.From != from || p.To <= from || p.To >= frames {
		return p, fmt.Errorf("a piece of frames from %d to %d, after frame %d of %d", p.From, p.To, from, frames)
	}
	before := from - 1
	for _, o := range p.Unsynced {
		if o <= before || o >= p.To {
			return p, fmt.Errorf("a piece of frames from %d to %d, with frame %d among those that are not synced", p.From, p.To, o)
		}
		before = o
	}
	file, err := os.Create(path)
	if err != nil {
		return p, err
	}
	_, err = io.Copy(file, rest)
	if err == nil && [sha256.Size]byte(sum.Sum(nil)) != want {
		err = errors.New("a damaged piece")
	}
	p.path = path
	return p, errors.Join(err, file.Close())
}

// readLine reads a line of at most most bytes, without its end.
func readLine(r *bufio.Reader, most int) (line []byte, err error) {
	for len(line) < most {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if err == nil {
			return line[:len(line)-1], nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
	return nil, fmt.Errorf("a line of more than %d bytes", most)
}

// resume returns the pieces that earlier attempts kept, from the beginning of the output on. They are as good as if this attempt had made
// them.
func (r *Recorder) resume(ctx context.Context) (all []piece) {
	for r.Pieces != nil {
		from := 0
		if len(all) > 0 {
			from = all[len(all)-1].To
		}
		var next piece
		path := r.piecePath(len(all))
		err := r.find(ctx, len(all), func(content io.Reader) (err error) {
			next, err = readPiece(content, path, r.Plan, from, r.Frames)
			return err
		})
		if err != nil {
			_ = os.Remove(path)
			break
		}
		all = append(all, next)
	}
	return all
}

// find reads the piece n of an earlier attempt.
func (r *Recorder) find(ctx context.Context, n int, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	return r.Pieces.Find(ctx, n, func(content io.Reader) error { return read(flow.NewReader(ctx, content)) })
}

func (r *Recorder) piecePath(n int) string {
	return filepath.Join(r.Dir, fmt.Sprintf("piece-%d%s", n, r.Form.Extension()))
}
