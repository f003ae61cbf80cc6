package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/domain/lipsync"
)

// full has objects that a disk has no room for while it has one of the folders.
type full struct {
	lipsync.Objects
	folders []string
}

func (f *full) OpenPart(ctx context.Context, key, version string, offset, size int64) (io.ReadCloser, error) {
	for _, folder := range f.folders {
		if _, err := os.Stat(folder); err == nil {
			return io.NopCloser(iotest.ErrReader(&os.PathError{Op: "write", Path: key, Err: unix.ENOSPC})), nil
		}
	}
	return f.Objects.OpenPart(ctx, key, version, offset, size)
}

// folderOf makes a folder of the machine that was last used at an age.
func (m *models) folderOf(name string, age time.Duration) string {
	m.Helper()
	path, then := filepath.Join(m.folder, name), time.Now().Add(-age)
	if err := os.Mkdir(path, 0o700); err != nil {
		m.Fatal(err)
	}
	if err := os.Chtimes(path, then, then); err != nil {
		m.Fatal(err)
	}
	return path
}

// TestFullDisk fetches models to a full disk. First folders must go that are old, then all that are
// not needed. The models that were used last must stay.
func TestFullDisk(t *testing.T) {
	m := newModels(t)
	m.put("models.json", catalogOf("first"))
	m.put("w.onnx", "first")
	first, _ := m.fetch("first")
	young := []string{m.folderOf("today", time.Hour), m.folderOf("part-running", time.Minute)}
	old := m.folderOf("yesterday", 25*time.Hour)
	m.put("models.json", catalogOf("second"))
	m.put("w.onnx", "second")
	if err := m.fetchFrom(&full{m.objects, []string{old}}); err != nil {
		t.Fatalf("full of an old folder: %v", err)
	}
	for _, folder := range young {
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("with room after the old folder went: %v", err)
		}
	}
	m.put("models.json", catalogOf("third"))
	m.put("w.onnx", "third")
	if err := m.fetchFrom(&full{m.objects, append(young, first)}); err != nil {
		t.Fatalf("full of young folders: %v", err)
	}
	if left, err := os.ReadDir(m.folder); len(left) != 2 || err != nil {
		t.Errorf("got %v, %v, want the folders of the second and third models", left, err)
	}
}

// TestFullDiskStaysFull has a disk that has no room without any other models either.
func TestFullDiskStaysFull(t *testing.T) {
	m := newModels(t)
	m.put("models.json", catalogOf("first"))
	m.put("w.onnx", "first")
	first, _ := m.fetch("first")
	m.put("models.json", catalogOf("second"))
	if err := m.fetchFrom(&full{m.objects, []string{first}}); err == nil {
		t.Error("got models, want an error: the disk is full")
	}
	if _, err := os.Stat(first); err != nil {
		t.Errorf("the models that were used last: %v", err)
	}
}

// TestCleanLocked uses models while another job fetches some. It may not delete them.
func TestCleanLocked(t *testing.T) {
	m := newModels(t)
	m.put("models.json", catalogOf("good"))
	m.put("w.onnx", "good")
	m.fetch("good")
	part := m.folderOf("part-slow", 2*time.Hour)
	unlock, err := lock(t.Context(), m.folder)
	if err != nil {
		t.Fatal(err)
	}
	m.fetch("good")
	if _, err := os.Stat(part); err != nil {
		t.Errorf("while another job fetches models: %v", err)
	}
	unlock()
	m.fetch("good")
	if _, err := os.Stat(part); err == nil {
		t.Error("the part stays though no job fetches it")
	}
}
