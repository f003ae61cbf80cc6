package c2pa_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/c2pa"
	"lipsync/internal/test/c2patest"
	"lipsync/internal/test/ffmpegtest"
)

// TestSign signs outputs of each kind of file, and reads their manifests by another program. The frames must stay as they are.
func TestSign(t *testing.T) {
	c2patest.Install(t)
	home := t.TempDir() // its settings must not count
	if err := os.MkdirAll(filepath.Join(home, ".config", "c2pa"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".config", "c2pa", "c2pa.toml"), []byte("no settings"))
	t.Setenv("HOME", home)
	s := find(t)
	at := time.Date(2026, 11, 24, 12, 30, 0, 0, time.UTC)
	for _, extension := range []string{".mp4", ".mov"} {
		path := clip(t, extension)
		before := frames(t, path)
		if err := s.Sign(t.Context(), path, order.Origin{Engine: "warp", At: at}); err != nil {
			t.Fatal(err)
		}
		if got := frames(t, path); got != before {
			t.Errorf("%s: the frames changed:\n%s\nwant\n%s", extension, got, before)
		}
		m := c2patest.Read(t, path)
		if !m.Signed || !m.Valid || !slices.Contains(m.Statuses, "claimSignature.validated") || !slices.Contains(m.Statuses, "assertion.bmffHash.match") {
			t.Errorf("%s: got %+v, want a valid manifest of the file's bytes", extension, m)
		}
		slices.Sort(m.Assertions)
		if got, want := fmt.Sprint(m.Title, m.Assertions), "output[c2pa.actions.v2 c2pa.hash.bmff.v3]"; got != want {
			t.Errorf("%s: got title and assertions %s, want %s", extension, got, want)
		}
		action := m.Actions[0]
		if len(m.Actions) != 1 || action["action"] != "c2pa.created" || !strings.HasPrefix(fmt.Sprint(action["when"]), "2026-11-24T12:30:00") ||
			!strings.Contains(fmt.Sprint(action["softwareAgent"]), "lipsync, engine warp") ||
			!strings.HasSuffix(fmt.Sprint(action["digitalSourceType"]), "/compositeWithTrainedAlgorithmicMedia") {
			t.Errorf("%s: got actions %v", extension, m.Actions)
		}

		content := read(t, path)
		content[len(content)-1000] ^= 1 // in its pictures or its sound
		write(t, path, content)
		if m := c2patest.Read(t, path); m.Valid || !slices.Contains(m.Statuses, "assertion.bmffHash.mismatch") {
			t.Errorf("%s: got %+v for a changed file, want a mismatch", extension, m)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
			t.Errorf("%s: files left: %v (%v)", extension, left, err)
		}
	}
}

// TestNotSigned tries files that can't be signed. They must stay as they are.
func TestNotSigned(t *testing.T) {
	c2patest.Install(t)
	s := find(t)
	webm, text := clip(t, ".webm"), filepath.Join(t.TempDir(), "text.mp4")
	write(t, text, []byte("no video"))
	for _, path := range []string{webm, text} {
		before := read(t, path)
		if err := s.Sign(t.Context(), path, order.Origin{Engine: "warp", At: time.Now()}); err == nil || !strings.Contains(err.Error(), "c2patool") {
			t.Errorf("%s: got error %v", path, err)
		}
		if !bytes.Equal(read(t, path), before) {
			t.Errorf("%s changed", path)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Sign(ctx, clip(t, ".mp4"), order.Origin{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
}

// TestFullDisk has a program that signs the sample, and then says that the disk is full, as c2patool does. The request must be postponed for that.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	for said, want := range map[string]failure.Reason{
		"Error: embedding manifest\n\nCaused by:\n    No space left on device (os error 28)": failure.HostFailing,
		"Error: embedding manifest\n\nCaused by:\n    type is unsupported":                   failure.InternalFault,
	} {
		script := "#!/bin/sh\ncase $1 in */sample.mp4) cp \"$1\" \"$5\" ;; *) echo '" + said + "' >&2; exit 1 ;; esac\n"
		if err := os.WriteFile(filepath.Join(dir, "c2patool"), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		err := find(t).Sign(t.Context(), clip(t, ".mp4"), order.Origin{})
		if got := failure.Of(err).Code; got != want || !strings.Contains(fmt.Sprint(err), said) {
			t.Errorf("got %v, code %s, want %q and %s", err, got, said, want)
		}
	}
}

// TestUnable breaks the program of a signer. Requests must be postponed for that.
func TestUnable(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "c2patool")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncp \"$1\" \"$5\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s := find(t)
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho expired >&2; exit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	err := s.Check(t.Context())
	if got := failure.Of(err).Code; got != failure.HostFailing || !strings.Contains(fmt.Sprint(err), "expired") {
		t.Errorf("got %v, code %s", err, got)
	}
}

// TestScratch has a program that signs only in the scratch folder. No file may stay there.
func TestScratch(t *testing.T) {
	dir, scratch := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\ncase $1 in " + scratch + "/*) cp \"$1\" \"$5\" ;; *) exit 1 ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "c2patool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	certificate, key := c2patest.Certificate(t)
	if _, err := c2pa.Find(t.Context(), certificate, key, scratch); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("files left: %v (%v)", left, err)
	}
}

// TestTalkative signs by a program that says 50 MB and fails. Only the end of that may be kept.
func TestTalkative(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\ncase $1 in */sample.mp4) cp \"$1\" \"$5\" ;; *) head -c 50000000 /dev/zero >&2; echo the end >&2; exit 1 ;; esac\n"
	if err := os.WriteFile(filepath.Join(dir, "c2patool"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s, path := find(t), clip(t, ".mp4")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := s.Sign(t.Context(), path, order.Origin{})
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; err == nil || !strings.HasSuffix(err.Error(), "the end") || allocated > 1e6 {
		t.Errorf("got %.100v, and %d bytes were allocated", err, allocated)
	}
}

// TestFind looks for the reasons why a machine can't sign.
func TestFind(t *testing.T) {
	certificate, key := c2patest.Certificate(t)
	_, other := c2patest.Certificate(t)
	web, webKey := c2patest.CertificateFor(t, x509.ExtKeyUsageServerAuth)
	c2patest.Install(t)
	for _, c := range []struct{ name, certificate, key, want string }{
		{"no certificate", certificate + "x", key, "no such file"},
		{"no key", certificate, key + "x", "no such file"},
		{"the key of another", certificate, other, "private key does not match public key"},
		{"the certificate of a web site", web, webKey, "c2patool: exit status"},
	} {
		if _, err := c2pa.Find(t.Context(), c.certificate, c.key, t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "outputs can't be signed: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := c2pa.Find(t.Context(), certificate, key, t.TempDir()); err == nil || !strings.Contains(err.Error(), "c2patool is not in PATH") {
		t.Errorf("got %v, want that c2patool is missing", err)
	}
}

func find(t *testing.T) *c2pa.Signer {
	t.Helper()
	certificate, key := c2patest.Certificate(t)
	s, err := c2pa.Find(t.Context(), certificate, key, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// clip makes a video with sound.
func clip(t *testing.T, extension string) string {
	t.Helper()
	return ffmpegtest.Make(t, "clip"+extension, "-f", "lavfi", "-i", "testsrc=d=1", "-f", "lavfi", "-i", "sine=d=1")
}

func frames(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", path, "-f", "framemd5", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
