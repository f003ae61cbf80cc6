package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// parted counts parts of objects, and fails after some.
type parted struct {
	lipsync.Objects
	mu     sync.Mutex
	left   int // parts that are delivered yet
	opened int
	atOnce int
	most   int // parts at once

	longer  bool   // parts never end
	halfway func() // is called before the 50th part, unless it is nil
}

var errCut = errors.New("cut")

func (p *parted) OpenPart(ctx context.Context, key, version string, offset, size int64) (io.ReadCloser, error) {
	p.mu.Lock()
	p.opened++
	p.left--
	p.atOnce++
	p.most = max(p.most, p.atOnce)
	cut := p.left < 0
	if p.opened == 50 && p.halfway != nil {
		p.halfway()
	}
	p.mu.Unlock()
	time.Sleep(10 * time.Millisecond)
	p.mu.Lock()
	p.atOnce--
	p.mu.Unlock()
	if cut {
		return nil, errCut
	}
	part, err := p.Objects.OpenPart(ctx, key, version, offset, size)
	if p.longer && err == nil {
		part = endless{part}
	}
	return part, err
}

// endless goes on after a part.
type endless struct{ io.ReadCloser }

func (e endless) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if err == io.EOF {
		return copy(p, "?"), nil
	}
	return n, err
}

// text has 100 parts of 7 bytes, and one of 3.
var text = strings.Repeat("A model. ", 78) + "!"

func (m *models) parted(t *testing.T, left int) *parted {
	t.Helper()
	former := partSize
	partSize = 7
	t.Cleanup(func() { partSize = former })
	m.put("models.json", catalogOf(text))
	m.put("w.onnx", text)
	return &parted{Objects: m.objects, left: left}
}

// part returns the folder of the model that is being fetched.
func (m *models) part() string {
	sum := sha256.Sum256([]byte(catalogOf(text)))
	return filepath.Join(m.folder, "part-"+hex.EncodeToString(sum[:]))
}

func (m *models) fetchFrom(o lipsync.Objects) error {
	_, err := m.modelFrom(o)
	return err
}

// modelFrom fetches the models, and returns the content of w.onnx.
func (m *models) modelFrom(o lipsync.Objects) (string, error) {
	folder, err := fetchModels(m.Context(), o, m.folder, lipsync.DoesAll, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	got, err := os.ReadFile(filepath.Join(folder, "w.onnx"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return string(got), err
}

// TestFetchGoesOn ends a job while it fetches a model. The next one fetches the other parts only.
func TestFetchGoesOn(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 60)
	if err := m.fetchFrom(p); !errors.Is(err, errCut) {
		t.Fatalf("got %v, want %v", err, errCut)
	}
	if p.most < 2 || p.most > partsAtOnce {
		t.Errorf("got %d parts at once, want 2 to %d", p.most, partsAtOnce)
	}
	p.left, p.opened = 1000, 0
	if err := m.fetchFrom(p); err != nil {
		t.Fatal(err)
	}
	if p.opened > 101-60+partsAtOnce || p.opened < 101-60 { // parts end with the first that fails
		t.Errorf("the next job fetched %d parts, want some %d", p.opened, 101-60)
	}
	m.fetch(text)
}

// TestFetchOfAnother changes a model between two jobs that fetch it. Neither parts of both nor those
// of the first may remain.
func TestFetchOfAnother(t *testing.T) {
	for name, other := range map[string]string{"as long": strings.ToUpper(text), "longer": text + text} {
		m := newModels(t)
		p := m.parted(t, 60)
		if err := m.fetchFrom(p); !errors.Is(err, errCut) {
			t.Fatalf("%s: got %v, want %v", name, err, errCut)
		}
		p.left = 1000
		m.put("w.onnx", other)
		if got, err := m.modelFrom(p); got != other || err != nil {
			t.Errorf("%s: got model %q, %v, want %q", name, got, err, other)
		}
		m.put("w.onnx", text)
		m.fetch(text)
	}
}

// TestFetchOfReplaced replaces a model while a job fetches it. The job must fetch the new one.
func TestFetchOfReplaced(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 1000)
	m.put("w.onnx", strings.ToUpper(text))
	p.halfway = func() { m.put("w.onnx", text) }
	if got, err := m.modelFrom(p); got != text || err != nil {
		t.Errorf("got model %q, %v, want the new one", got, err)
	}
}

// TestFetchOfLonger has a store that goes on after a part. The job must fail, and may not write
// beyond the part.
func TestFetchOfLonger(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 1000)
	p.longer = true
	if err := m.fetchFrom(p); !errors.Is(err, errLonger) {
		t.Errorf("got %v, want %v", err, errLonger)
	}
	got, err := os.ReadFile(filepath.Join(m.part(), "files", "w.onnx"))
	if err != nil || len(got) != len(text) || bytes.Contains(got, []byte("?")) {
		t.Errorf("got %q, %v, want only parts of the model", got, err)
	}
}

// TestFetchTorn has marks whose last line was written in part: it is no mark.
func TestFetchTorn(t *testing.T) {
	for torn, more := range map[string][]int{ // the line is that of the last part
		"00000000000002bc": {1000}, "00000000000002": {10, 1000}, // the next mark follows in the torn line
	} {
		m := newModels(t)
		p := m.parted(t, 60)
		if err := m.fetchFrom(p); !errors.Is(err, errCut) {
			t.Fatalf("got %v, want %v", err, errCut)
		}
		marks, err := os.OpenFile(filepath.Join(m.part(), "marks", "w.onnx"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := marks.WriteString(torn); err != nil {
			t.Fatal(err)
		}
		_ = marks.Close()
		var got string
		for _, p.left = range more {
			got, err = m.modelFrom(p)
		}
		if got != text || err != nil {
			t.Errorf("%s: got model %q, %v", torn, got, err)
		}
	}
}

// TestFetchNotMoved ends a job that has fetched all, but did not move the files yet.
func TestFetchNotMoved(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 1000)
	whole := filepath.Join(m.folder, strings.TrimPrefix(filepath.Base(m.part()), "part-"))
	m.write(whole, "in the way")
	if err := m.fetchFrom(p); err == nil {
		t.Fatal("the files were moved")
	}
	if err := os.Remove(whole); err != nil {
		t.Fatal(err)
	}
	p.opened = 0
	if err := m.fetchFrom(p); err != nil || p.opened != 0 {
		t.Errorf("got %v and %d parts, want none", err, p.opened)
	}
	m.fetch(text)
}

// TestFetchOnce starts jobs at the same time on a machine. One fetches the models.
func TestFetchOnce(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 1000)
	var jobs sync.WaitGroup
	for range 4 {
		jobs.Go(func() {
			if err := m.fetchFrom(p); err != nil {
				t.Error(err)
			}
		})
	}
	jobs.Wait()
	if p.opened != 101 {
		t.Errorf("got %d parts for all jobs, want 101", p.opened)
	}
	m.fetch(text)
}

// TestFetchWaits ends a job that waits for another one's models.
func TestFetchWaits(t *testing.T) {
	m := newModels(t)
	p := m.parted(t, 1000)
	unlock, err := lock(t.Context(), m.folder)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := fetchModels(ctx, p, m.folder, lipsync.DoesAll, slog.New(slog.DiscardHandler)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the time", err)
	}
}

// catalogOfThree returns a models.json that names three files with the contents.
func catalogOfThree(contents ...string) string {
	roles := []string{"wav2lip", "face-detector", "face-landmarks"}
	var entries []string
	for i, c := range contents {
		sum := sha256.Sum256([]byte(c))
		entries = append(entries, fmt.Sprintf(`{"role":%q,"file":"%d.parts","sha256":%q,"licence":"none"}`, roles[i], i, hex.EncodeToString(sum[:])))
	}
	return `{"models":[` + strings.Join(entries, ",") + `]}`
}

// TestFetchOnlyWrong has a bucket in which a model is missing or wrong. Once it is right, only that
// model is fetched, whether the machine has other models to use meanwhile or not.
func TestFetchOnlyWrong(t *testing.T) {
	for _, c := range []struct{ name, second string }{{"missing", ""}, {"wrong", "another"}} {
		for _, former := range []bool{false, true} {
			t.Run(fmt.Sprint(c.name, former), func(t *testing.T) {
				m := newModels(t)
				p := m.parted(t, 1000)
				if former {
					m.fetch(text)
				}
				m.put("models.json", catalogOfThree("first", "second", "third"))
				m.put("0.parts", "first")
				m.put("2.parts", "third")
				if c.second != "" {
					m.put("1.parts", c.second)
				}
				if err := m.fetchFrom(p); err != nil {
					t.Fatal(err)
				}
				m.put("1.parts", "second")
				p.opened = 0
				if err := m.fetchFrom(p); err != nil {
					t.Fatal(err)
				}
				if p.opened != 1 {
					t.Errorf("got %d parts, want that of the second file", p.opened)
				}
				folder, err := fetchModels(t.Context(), p, m.folder, lipsync.DoesAll, slog.New(slog.DiscardHandler))
				for i, want := range []string{"first", "second", "third"} {
					if got, _ := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%d.parts", i))); string(got) != want || err != nil {
						t.Errorf("got %q, %v, want %q", got, err, want)
					}
				}
			})
		}
	}
}
