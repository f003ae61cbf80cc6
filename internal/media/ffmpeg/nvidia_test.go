package ffmpeg_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
	"lipsync/internal/test/ffmpegtest"
)

// asGPU is a program in the place of ffmpeg, whose GPU is the CPU. It fails if one of its arguments is
// in the file broken, and notes in the file used what the GPU did. If there is a file unfiltered, the GPU
// fails in the layer seccomp.
const asGPU = `#!/bin/sh
gpu= n=$#
while [ $n -gt 0 ]; do
	argument=$1 n=$((n - 1))
	shift
	if grep -qsxe "$argument" DIR/broken; then echo "the GPU is broken" >&2; exit 1; fi
	case $argument in
	-init_hw_device) gpu=1; shift; n=$((n - 1)); continue ;;
	h264_nvenc) echo encode >> DIR/used; gpu=1 argument=libx264 ;;
	-preset | -tune | -rc | -cq | -spatial_aq) [ -z "$gpu" ] || { shift; n=$((n - 1)); continue; } ;;
	esac
	set -- "$@" "$argument"
done
if [ -n "$gpu" ] && [ -e DIR/unfiltered ] && grep -q '^Seccomp:.2' /proc/self/status; then
	echo "the GPU is held back" >&2; exit 1
fi
exec FFMPEG "$@"
`

// gpu is a fake GPU.
type gpu struct{ dir string }

// fakeGPU returns tools with a fake GPU.
func fakeGPU(t *testing.T) (*ffmpeg.Tools, gpu) {
	t.Helper()
	tools, dir := ffmpegtest.Tools(t), t.TempDir()
	script := strings.NewReplacer("DIR", dir, "FFMPEG", tools.FFmpeg).Replace(asGPU)
	tools.FFmpeg, tools.Sandbox = filepath.Join(dir, "ffmpeg"), sandbox.Sandbox{}
	if err := os.WriteFile(tools.FFmpeg, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return tools, gpu{dir}
}

// breaks makes ffmpeg fail with an argument, if it isn't "".
func (g gpu) breaks(t *testing.T, argument string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, "broken"), []byte(argument), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(g.dir, "used"))
}

// used returns what the GPU did since breaks.
func (g gpu) used() []string {
	used, _ := os.ReadFile(filepath.Join(g.dir, "used"))
	return strings.Fields(string(used))
}

// black is a video of black frames.
var black = medium.Video{Width: 256, Height: 256, Rate: medium.Rate{Num: 25, Den: 1}}

// encodeFrames encodes frames of black.
func encodeFrames(t *testing.T, tools *ffmpeg.Tools) error {
	e, err := tools.Encode(t.Context(), &black, order.Output{}, "", filepath.Join(t.TempDir(), "out.mp4"))
	if err != nil {
		return err
	}
	for range 10 {
		if err := e.Write(black.NewFrame()); err != nil {
			e.Abort()
			return err
		}
	}
	return e.Finish()
}

// TestUseNVIDIA tries GPUs with and without an encoder, and none. That it can't encode takes one warning.
func TestUseNVIDIA(t *testing.T) {
	tools, g := fakeGPU(t)
	for name, test := range map[string]struct {
		broken  string
		encodes bool
	}{
		"all":        {"", true},
		"no encoder": {"h264_nvenc", false},
		"no GPU":     {"-init_hw_device", false},
	} {
		g.breaks(t, test.broken)
		var log bytes.Buffer
		tools.UseNVIDIA(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		if got := tools.Encodes(); got != test.encodes {
			t.Errorf("%s: got %t", name, got)
		}
		got := log.String()
		warned := strings.Count(got, "\n") == 1 && strings.Contains(got, "the CPU encodes video: ") && strings.Contains(got, "the GPU is broken")
		if warned == test.encodes || test.encodes && got != "" {
			t.Errorf("%s: got %s, want a warning: %t", name, got, !test.encodes)
		}
	}
}

// TestFewerLayers uses a GPU that doesn't work in one layer of the sandbox. Only programs that use it do
// without that layer.
func TestFewerLayers(t *testing.T) {
	host := ffmpegtest.Tools(t).Sandbox
	if !host.Seccomp {
		t.Skip("this host has no seccomp")
	}
	tools, g := fakeGPU(t)
	tools.Sandbox = sandbox.Sandbox{Seccomp: true, Namespaces: host.Namespaces} // the fake runs other programs, which Landlock denies
	if err := os.WriteFile(filepath.Join(g.dir, "unfiltered"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	tools.UseNVIDIA(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	want := fmt.Sprintf("layers.landlock=0 layers.seccomp=false layers.namespaces=%t error=", host.Namespaces)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, "the GPU is held back") {
		t.Errorf("got %s, want one warning with %s", got, want)
	}
	if !tools.Encodes() || !tools.Sandbox.Seccomp {
		t.Errorf("it encodes: %t, and other programs have the layers %v", tools.Encodes(), tools.Sandbox.LogValue())
	}
	log.Reset()
	g.breaks(t, "")
	if err := encodeFrames(t, tools); err != nil || !slices.Equal(g.used(), []string{"encode"}) || log.Len() > 0 {
		t.Errorf("got %v, the GPU did %q, and said %s", err, g.used(), log.String())
	}
}

// TestEncodeWithoutGPU lets the GPU's encoder fail after its trial. That file fails, since pieces of an
// output are encoded alike, and the CPU encodes the next.
func TestEncodeWithoutGPU(t *testing.T) {
	tools, g := fakeGPU(t)
	var log bytes.Buffer
	tools.UseNVIDIA(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	for i, test := range []struct {
		broken string
		used   []string
		err    error
		says   int
	}{{"", []string{"encode"}, nil, 0}, {"h264_nvenc", nil, ffmpeg.ErrGPU, 1}, {"h264_nvenc", nil, nil, 1}} {
		g.breaks(t, test.broken)
		before, err := tools.Encoding(&black, order.Output{})
		if err != nil {
			t.Fatal(err)
		}
		if err := encodeFrames(t, tools); !errors.Is(err, test.err) {
			t.Errorf("file %d: got %v, want %v", i, err, test.err)
		}
		after, err := tools.Encoding(&black, order.Output{})
		if used := g.used(); err != nil || (before == after) != (test.err == nil) || !slices.Equal(used, test.used) || strings.Count(log.String(), "\n") != test.says {
			t.Errorf("file %d: the GPU did %q, and said %s (%v)", i, used, log.String(), err)
		}
	}
}
