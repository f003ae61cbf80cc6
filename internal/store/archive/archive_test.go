package archive_test

import (
	"bytes"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/store/archive"
)

func files() map[string]string {
	return map[string]string{"a": "", "folder/b": "text", "folder/c ü": strings.Repeat("x", 100_000)}
}

func write(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b)
	for name, text := range files {
		if err := w.Add(name, strings.NewReader(text), int64(len(text))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(b []byte) (map[string]string, error) {
	got := make(map[string]string)
	err := archive.Read(bytes.NewReader(b), func(name string, content io.Reader) error {
		text, err := io.ReadAll(content)
		got[name] = string(text)
		return err
	})
	return got, err
}

func TestArchive(t *testing.T) {
	got, err := read(write(t, files()))
	if err != nil || !maps.Equal(got, files()) {
		t.Errorf("got %d files (%v), want %d", len(got), err, len(files()))
	}
}

// TestHoles reads archives of tar with a file that is nearly all hole. No byte of it is passed on.
func TestHoles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "a"), 1<<30); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"posix", "gnu"} {
		file := filepath.Join(dir, format)
		if out, err := exec.Command("tar", "--sparse", "--format="+format, "-cf", file, "-C", dir, "a").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		holes, err := os.ReadFile(file)
		if err != nil || len(holes) > 1<<20 {
			t.Fatalf("got %d bytes (%v), want few", len(holes), err)
		}
		err = archive.Read(bytes.NewReader(holes), func(name string, _ io.Reader) error {
			t.Errorf("%s: %s was read", format, name)
			return io.ErrUnexpectedEOF
		})
		if err == nil || err.Error() != `the archive has the entry "a" with holes, which no backup has` {
			t.Errorf("%s: got %v", format, err)
		}
	}
}

// TestDamage changes each significant byte, and truncates the archive at every place.
func TestDamage(t *testing.T) {
	whole := write(t, map[string]string{"a": "some text", "b": "more"})
	end := bytes.LastIndexFunc(whole, func(r rune) bool { return r != 0 })
	for at := range end + 1 {
		if _, err := read(whole[:at]); err == nil {
			t.Errorf("cut off at %d: got no error", at)
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		got, err := read(damaged)
		if err == nil && (len(got) != 2 || got["a"] != "some text" || got["b"] != "more") {
			t.Errorf("byte %d changed: got %q and no error", at, got)
		}
	}
}

func TestNames(t *testing.T) {
	w := archive.NewWriter(io.Discard)
	for _, name := range []string{"", ".", "/a", "../a", "a/../b", "a\nb", "SHA256SUMS"} {
		err := w.Add(name, strings.NewReader(""), 0)
		if err == nil {
			t.Errorf("%q was accepted", name)
		}
	}
	_ = w.Add("twice", strings.NewReader(""), 0)
	if err := w.Add("twice", strings.NewReader(""), 0); err == nil {
		t.Error("a name was accepted twice")
	}
	if err := w.Add("short", strings.NewReader("abc"), 4); err == nil {
		t.Error("a file that is too short was accepted")
	}
}

// TestTools reads an archive with tar and sha256sum.
func TestTools(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.tar")
	if err := os.WriteFile(path, write(t, files()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "cd "+dir+" && tar -xf a.tar && sha256sum --check --quiet SHA256SUMS").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// FuzzRead reads any bytes as an archive. If that gives no error, writing and reading the files
// again must give the same files.
func FuzzRead(f *testing.F) {
	f.Add(write(f, map[string]string{"a": "text", "b": ""}))
	f.Add([]byte("SHA256SUMS"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := read(b)
		if err != nil {
			return
		}
		again, err := read(write(t, got))
		if err != nil || !maps.Equal(again, got) {
			t.Errorf("got %d files, and %d when they were written again (%v)", len(got), len(again), err)
		}
	})
}
