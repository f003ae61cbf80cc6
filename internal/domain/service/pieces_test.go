package service_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/test/check"
)

// TestPieces keeps pieces of an output in two claims, and ends the request in each way. The pieces stay until then, also when the service starts
// again.
func TestPieces(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *fixture, lipsync.Request){
		"completed": func(t *testing.T, f *fixture, r lipsync.Request) {
			check.Must(t, f.Complete(t.Context(), r, strings.NewReader("v"), 1))
			check.Must(t, f.Objects.Delete(t.Context(), "outputs/"+r.ID+"/2.mp4"))
		},
		"failed": func(t *testing.T, f *fixture, r lipsync.Request) {
			check.Must(t, f.Fail(t.Context(), r, failure.Failure{Code: failure.NoFace}))
		},
		"canceled": func(t *testing.T, f *fixture, r lipsync.Request) {
			_, err := f.Cancel(t.Context(), f.caller, r.ID)
			check.Must(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			id := f.generate(t, "")
			first, err := f.Claim(t.Context(), id)
			check.Must(t, err)
			check.Must(t, f.KeepPiece(t.Context(), first, 0, strings.NewReader("0"), 1))
			check.Must(t, f.Recover(t.Context()))
			second, err := f.Claim(t.Context(), id)
			check.Must(t, err)
			check.Must(t, f.KeepPiece(t.Context(), second, 1, strings.NewReader("12"), 2))
			// The first worker doesn't know that it lost the request.
			check.Must(t, f.KeepPiece(t.Context(), first, 1, strings.NewReader("3"), 1))
			f.clock.Advance(lipsync.OrphanAge)
			check.Must(t, f.Tidy(t.Context(), 0))
			check.Want(t, "first piece", f.piece(t, second, 1, 0), "0")
			check.Want(t, "second piece of the first claim", f.piece(t, second, 1, 1), "3")
			check.Want(t, "second piece", f.piece(t, second, 2, 1), "12")
			check.Want(t, "a piece that nobody kept", f.piece(t, second, 2, 0), "")
			end(t, f, second)
			f.wantEmpty(t)
			check.Must(t, f.KeepPiece(t.Context(), first, 2, strings.NewReader("4"), 1))
			check.Must(t, f.Tidy(t.Context(), lipsync.OrphanAge))
			f.wantEmpty(t)
		})
	}
}

// piece returns the content of a piece, "" if there is none.
func (f *fixture) piece(t *testing.T, r lipsync.Request, claim, n int) string {
	t.Helper()
	content, err := f.OpenPiece(t.Context(), r, claim, n)
	if failure.CodeOf(err) == failure.NotFound {
		return ""
	}
	check.Must(t, err)
	defer content.Close()
	text, err := io.ReadAll(content)
	check.Must(t, err)
	return string(text)
}

// TestPiecesNeedRoom keeps no piece if the disk has too little space.
func TestPiecesNeedRoom(t *testing.T) {
	f := newFixture(t)
	r, err := f.Claim(t.Context(), f.generate(t, ""))
	check.Must(t, err)
	f.Service.Room = func(int64) error { return failure.ErrNoSpace(nil) }
	check.Want(t, "error", failure.CodeOf(f.KeepPiece(t.Context(), r, 0, strings.NewReader("0"), 1)), failure.NoSpace)
	f.wantEmpty(t)
}

// TestMostPieces keeps more pieces than may be. The newest of the request with the most go, and those of another one stay.
func TestMostPieces(t *testing.T) {
	f := newFixture(t)
	f.Objects = &dated{f.Objects, f.clock.Now, map[string]time.Time{}}
	f.MaxPieces = 30
	small, err := f.Claim(t.Context(), f.generate(t, ""))
	check.Must(t, err)
	large, err := f.Claim(t.Context(), f.generate(t, ""))
	check.Must(t, err)
	check.Must(t, f.KeepPiece(t.Context(), small, 0, strings.NewReader("01234"), 5))
	for n := range 5 {
		f.clock.Advance(time.Second)
		check.Must(t, f.KeepPiece(t.Context(), large, n, strings.NewReader("0123456789"), 10))
	}
	check.Want(t, "piece of the other request", f.piece(t, small, 1, 0), "01234")
	for n, want := range []string{"0123456789", "0123456789", "", "", ""} {
		check.Want(t, fmt.Sprint("piece ", n), f.piece(t, large, 1, n), want)
	}
}

// TestFullDiskEmptiesCaches sweeps a full disk: pieces and findings go, and inputs stay.
func TestFullDiskEmptiesCaches(t *testing.T) {
	f := newFixture(t)
	f.Limits.Keep.Findings = time.Hour
	found := f.keepFindings(t, f.caller, "video", "x", "content")
	r, err := f.Claim(t.Context(), f.generate(t, ""))
	check.Must(t, err)
	check.Must(t, f.KeepPiece(t.Context(), r, 0, strings.NewReader("01"), 2))
	check.Must(t, f.Objects.Put(t.Context(), "inputs/"+r.ID+"/video", strings.NewReader("0"), 1))
	for _, full := range []bool{false, true} {
		f.Room = func(int64) error {
			if full {
				return failure.ErrNoSpace(nil)
			}
			return nil
		}
		check.Must(t, f.Sweep(t.Context()))
		if kept := f.piece(t, r, 1, 0) != ""; kept == full {
			t.Errorf("on a full disk %t: kept a piece %t", full, kept)
		}
	}
	f.wantFindings(t, found, "video", "x", "")
	_, err = f.Objects.Size(t.Context(), "inputs/"+r.ID+"/video")
	check.Must(t, err)
}

// TestShortDiskKeepsCaches sweeps a disk that lacks the space of one piece. The other one stays.
func TestShortDiskKeepsCaches(t *testing.T) {
	f := newFixture(t)
	r, err := f.Claim(t.Context(), f.generate(t, ""))
	check.Must(t, err)
	for n := range 2 {
		check.Must(t, f.KeepPiece(t.Context(), r, n, strings.NewReader("01"), 2))
	}
	kept := func() (n int) {
		for i := range 2 {
			if f.piece(t, r, 1, i) != "" {
				n++
			}
		}
		return n
	}
	f.Room = func(int64) error {
		if kept() > 1 {
			return failure.ErrNoSpace(nil)
		}
		return nil
	}
	check.Must(t, f.Sweep(t.Context()))
	check.Want(t, "pieces that are kept", kept(), 1)
}
