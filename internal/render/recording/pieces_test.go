package recording

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzPiece reads any bytes as a kept piece.
func FuzzPiece(f *testing.F) {
	path := filepath.Join(f.TempDir(), "piece")
	p := piece{facts{Plan: "plan", From: 3, To: 9, Unsynced: []int{3, 5, 8}}, path}
	if err := os.WriteFile(path, []byte("video"), 0o600); err != nil {
		f.Fatal(err)
	}
	var kept bytes.Buffer
	if err := p.write(func(r io.Reader, _ int64) error { _, err := kept.ReadFrom(r); return err }); err != nil {
		f.Fatal(err)
	}
	f.Add(kept.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := readPiece(bytes.NewReader(b), path, "plan", 3, 20)
		if n := len(p.Unsynced); err == nil && (p.From != 3 || p.To <= 3 || p.To >= 20 || n > 0 && (p.Unsynced[0] < 3 || p.Unsynced[n-1] >= p.To)) {
			t.Errorf("accepted %+v", p)
		}
	})
}

// stalled is a store that answers only when its context ends.
type stalled struct{}

func (stalled) Find(ctx context.Context, _ int, _ func(io.Reader) error) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stalled) Keep(ctx context.Context, _ int, _ io.Reader, _ int64) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestStalledPieces looks for pieces in a store that doesn't answer. After a time it goes on without them.
func TestStalledPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r := Recorder{Output: Output{Pieces: stalled{}}}
		if all := r.resume(t.Context()); all != nil || time.Since(began) != keepTime {
			t.Errorf("found %v after %v, want nothing after %v", all, time.Since(began), keepTime)
		}
	})
}
