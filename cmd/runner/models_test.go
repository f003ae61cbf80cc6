package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/disk"
)

// models has a bucket and the folder of a machine.
type models struct {
	*testing.T
	objects *disk.Objects
	folder  string
	log     bytes.Buffer
}

func newModels(t *testing.T) *models {
	objects, err := disk.Open(t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = objects.Close() })
	return &models{T: t, objects: objects, folder: t.TempDir()}
}

func (m *models) put(name, content string) {
	m.Helper()
	if err := m.objects.Put(m.Context(), "models/"+name, strings.NewReader(content), -1); err != nil {
		m.Fatal(err)
	}
}

// catalogOf returns a models.json that names one file with the content.
func catalogOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return fmt.Sprintf(`{"models":[{"role":"wav2lip","file":"w.onnx","sha256":%q,"licence":"none"}]}`, hex.EncodeToString(sum[:]))
}

// fetch fetches the models, and checks that the model has the content, or that there is none if want
// is "". It returns the folder, and reports whether anything was logged.
func (m *models) fetch(want string) (folder string, logged bool) {
	m.Helper()
	m.log.Reset()
	folder, err := fetchModels(m.Context(), m.objects, m.folder, lipsync.DoesAll, slog.New(slog.NewTextHandler(&m.log, nil)))
	if err != nil {
		m.Fatal(err)
	}
	if want == "" && folder != "" {
		m.Errorf("got %s, want no models", folder)
	}
	if got, _ := os.ReadFile(filepath.Join(folder, "w.onnx")); folder != "" && string(got) != want {
		m.Errorf("got model %q, want %q", got, want)
	}
	return folder, m.log.Len() > 0
}

func TestFetchModels(t *testing.T) {
	m := newModels(t)
	m.fetch("")
	m.put("models.json", catalogOf("first"))
	m.put("w.onnx", "first")
	first, _ := m.fetch("first")
	if err := m.objects.Delete(t.Context(), "models/w.onnx"); err != nil {
		t.Fatal(err)
	}
	if again, _ := m.fetch("first"); again != first {
		t.Errorf("again on the same machine: got %q, want %q", again, first)
	}
	m.put("models.json", catalogOf("second"))
	m.put("w.onnx", "second")
	if second, logged := m.fetch("second"); second == first || logged {
		t.Errorf("a new catalog: got %q, log %s", second, &m.log)
	}
	if left, err := os.ReadDir(m.folder); len(left) != 2 || err != nil {
		t.Errorf("got %v, %v in the folder, want only the two catalogs' folders", left, err)
	}
}

// TestModelsOfDuty has a runner that does no requests of networks fetch none by which engines paint.
func TestModelsOfDuty(t *testing.T) {
	m, sum := newModels(t), sha256.Sum256([]byte("x"))
	m.put("models.json", fmt.Sprintf(`{"models":[{"role":"wav2lip","file":"w.onnx","sha256":%q,"licence":""},{"role":"face-detector","file":"f.onnx","sha256":%[1]q,"licence":""}]}`,
		hex.EncodeToString(sum[:])))
	m.put("w.onnx", "x")
	m.put("f.onnx", "x")
	for duty, want := range map[lipsync.Duty]string{lipsync.DoesPlain: "f.onnx models.json", lipsync.DoesNeural: "f.onnx models.json w.onnx"} {
		folder, err := fetchModels(t.Context(), m.objects, t.TempDir(), duty, slog.New(slog.DiscardHandler))
		files, err2 := os.ReadDir(folder)
		var names []string
		for _, f := range files {
			names = append(names, f.Name())
		}
		if got := strings.Join(names, " "); err != nil || err2 != nil || got != want {
			t.Errorf("%s: got %q (%v, %v), want %q", duty, got, err, err2, want)
		}
	}
}

// TestBrokenModels has incomplete models in the bucket, as there are while an operator copies them.
func TestBrokenModels(t *testing.T) {
	m := newModels(t)
	for _, c := range []struct{ put, content string }{
		{"models.json", catalogOf("new")}, // and no model yet
		{"w.onnx", "old"},
		{"models.json", "{"},
	} {
		m.put(c.put, c.content)
		folder, err := fetchModels(t.Context(), m.objects, m.folder, lipsync.DoesAll, slog.New(slog.NewTextHandler(&m.log, nil)))
		if err != nil || m.log.Len() == 0 {
			t.Errorf("%s is %s: got %v and log %q", c.put, c.content, err, &m.log)
		}
		if _, err := os.Stat(filepath.Join(folder, "models.json")); folder == "" || err != nil {
			t.Errorf("%s is %s: got %q, want the models as they are: %v", c.put, c.content, folder, err)
		}
		m.log.Reset()
	}
	m.put("models.json", catalogOf("good"))
	m.put("w.onnx", "good")
	good, _ := m.fetch("good")
	m.put("models.json", catalogOf("newer"))
	if folder, logged := m.fetch("good"); folder != good || !logged {
		t.Errorf("after complete ones: got %q, logged %t, want %q", folder, logged, good)
	}
}

// TestFetchAtOnce begins jobs at the same time on a new machine. All must get the models, and none
// may delete files that another uses, even if the bucket's models are incomplete.
func TestFetchAtOnce(t *testing.T) {
	for _, named := range []string{"model", "another model"} {
		for range 20 {
			m := newModels(t)
			m.put("w.onnx", "model")
			m.put("models.json", catalogOf(named))
			m.fetchAtOnce("model")
		}
	}
}

// fetchAtOnce starts jobs that want the model with the content.
func (m *models) fetchAtOnce(want string) {
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for range 8 {
		jobs.Go(func() {
			folder, err := fetchModels(m.Context(), m.objects, m.folder, lipsync.DoesAll, slog.New(slog.DiscardHandler))
			if err != nil {
				m.Error(err)
			}
			for range 20 {
				if got, err := os.ReadFile(filepath.Join(folder, "w.onnx")); string(got) != want || err != nil {
					m.Errorf("got model %q, %v, want %q", got, err, want)
					return
				}
			}
		})
	}
}

// TestRottenModels damages the machine's own copy of the models.
func TestRottenModels(t *testing.T) {
	m := newModels(t)
	m.put("models.json", catalogOf("good"))
	m.put("w.onnx", "good")
	folder, _ := m.fetch("good")
	m.write(filepath.Join(folder, "w.onnx"), "rotten")
	if again, _ := m.fetch("good"); again != folder {
		t.Errorf("got %q, want %q", again, folder)
	}
}

// TestForeignModels replaces the models in the machine's folder and their models.json, as a hijacked
// job could. No other job may use them.
func TestForeignModels(t *testing.T) {
	m := newModels(t)
	m.put("models.json", catalogOf("good"))
	m.put("w.onnx", "good")
	folder, _ := m.fetch("good")
	m.write(filepath.Join(folder, "models.json"), catalogOf("evil"))
	m.write(filepath.Join(folder, "w.onnx"), "evil")
	if again, _ := m.fetch("good"); again != folder {
		t.Errorf("got %q, want %q", again, folder)
	}

	// The bucket's models are incomplete, so the folder that was used last is tried.
	m.write(filepath.Join(folder, "models.json"), catalogOf("evil"))
	m.write(filepath.Join(folder, "w.onnx"), "evil")
	m.put("models.json", catalogOf("newer"))
	if foreign, logged := m.fetch("good"); foreign == folder || !logged {
		t.Errorf("got %q, logged %t, want the bucket's as they are", foreign, logged)
	}
}

func (m *models) write(path, content string) {
	m.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		m.Fatal(err)
	}
}

// TestOldModels has folders that killed jobs left, and folders that no job has used for a day. They
// must be deleted.
func TestOldModels(t *testing.T) {
	m := newModels(t)
	for name, age := range map[string]time.Duration{
		"part-killed": 2 * time.Hour, "part-running": time.Minute, "yesterday": 25 * time.Hour, "today": 23 * time.Hour,
	} {
		m.folderOf(name, age)
	}
	m.put("models.json", catalogOf("good"))
	m.put("w.onnx", "good")
	folder, _ := m.fetch("good")
	var left []string
	entries, err := os.ReadDir(m.folder)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	want := []string{filepath.Base(filepath.Dir(folder)), "part-running", "today"}
	if err != nil || strings.Join(left, " ") != strings.Join(want, " ") {
		t.Errorf("got %v, %v, want %v", left, err, want)
	}
}
