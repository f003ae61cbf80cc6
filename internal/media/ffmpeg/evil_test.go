package ffmpeg_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/test/ffmpegtest"
)

// evil returns tools whose programs do what their input says, instead of reading media.
func evil(t *testing.T) *ffmpeg.Tools {
	t.Helper()
	tools := ffmpegtest.Tools(t)
	path := filepath.Join(t.TempDir(), "evil")
	build := exec.Command("go", "build", "-o", path, "../sandbox/testdata/evil")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	tools.FFmpeg, tools.FFprobe = path, path
	return tools
}

// TestEvil runs each step with a program that tries what a hijacked ffmpeg could. It must reach
// its input and output, and nothing else. Tests in package sandbox try each layer by itself.
func TestEvil(t *testing.T) {
	tools, dir := evil(t), t.TempDir()
	if s := tools.Sandbox; s.Landlock == 0 || !s.Seccomp && !s.Namespaces && s.Landlock < 4 {
		t.Skipf("this host has no Landlock, or can't close networks: %v", s.LogValue())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	in, out, other := filepath.Join(dir, "in"), filepath.Join(dir, "out.part"), filepath.Join(dir, "other")
	script := strings.Join([]string{
		"read /etc/passwd", "read " + other, "write " + other, "write " + in, "list " + dir, "run /bin/sh",
		fmt.Sprintf("read /proc/%d/environ", os.Getpid()), "tcp " + listener.Addr().String(),
	}, "\n")
	header := container.WAVHeader(1, 16000, 0, false) // Encode reads that of sound
	for _, path := range []string{in, other} {
		if err := os.WriteFile(path, append(header, "\n"+script+"\nread "+in+"\nwrite "+out+"\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		step   string
		run    func() error
		writes string
	}{
		{"probe", func() error { _, err := tools.Probe(t.Context(), in); return err }, "failed"},
		{"decode sound", func() error {
			_, err := tools.Samples(t.Context(), &medium.Info{Path: in, Format: "wav", Audio: &medium.Audio{}}, io.Discard, io.Discard, time.Second)
			return err
		}, "failed"},
		{"encode", func() error {
			e, err := tools.Encode(t.Context(), &medium.Video{Width: 2, Height: 2, Rate: medium.Rate{Num: 25, Den: 1}}, order.Output{}, in, strings.TrimSuffix(out, ".part"))
			if err != nil {
				return err
			}
			return e.Finish()
		}, "did"},
	} {
		t.Run(test.step, func(t *testing.T) {
			err := test.run()
			if err == nil {
				t.Fatal("no error")
			}
			for line := range strings.SplitSeq(script, "\n") {
				if !strings.Contains(err.Error(), "failed "+line+": ") {
					t.Errorf("is not held back: %s", line)
				}
			}
			for _, want := range []string{"did read " + in + "\n", test.writes + " write " + out} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %v", want, err)
				}
			}
		})
	}
}
