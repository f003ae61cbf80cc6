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
	-hwaccel) echo decode >> DIR/used; gpu=1; shift; n=$((n - 1)); continue ;;
	-hwaccel_output_format | -init_hw_device) gpu=1; shift; n=$((n - 1)); continue ;;
	hwdownload,format=nv12) argument=null ;;
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

// TestUseNVIDIA tries GPUs that can do all, only a part, or nothing. What one can't do takes one
// warning.
func TestUseNVIDIA(t *testing.T) {
	tools, g := fakeGPU(t)
	both := ffmpeg.NVIDIA{Decode: true, Encode: true}
	for name, test := range map[string]struct {
		broken     string
		want, does ffmpeg.NVIDIA
		says       string // the warning, if there is one
	}{
		"all":            {"", both, both, ""},
		"not asked":      {"cuda", ffmpeg.NVIDIA{}, ffmpeg.NVIDIA{}, ""},
		"decode":         {"h264_nvenc", ffmpeg.NVIDIA{Decode: true}, ffmpeg.NVIDIA{Decode: true}, ""},
		"encode":         {"-hwaccel", ffmpeg.NVIDIA{Encode: true}, ffmpeg.NVIDIA{Encode: true}, ""},
		"no encoder":     {"h264_nvenc", both, ffmpeg.NVIDIA{Decode: true}, "the CPU encodes video: "},
		"no decoder":     {"-hwaccel", both, ffmpeg.NVIDIA{Encode: true}, "the CPU decodes video: "},
		"no GPU at all":  {"-init_hw_device", both, ffmpeg.NVIDIA{}, "the CPU decodes and encodes video: "},
		"none, one asks": {"-init_hw_device", ffmpeg.NVIDIA{Encode: true}, ffmpeg.NVIDIA{}, "the CPU decodes and encodes video: "},
	} {
		g.breaks(t, test.broken)
		var log bytes.Buffer
		tools.UseNVIDIA(t.Context(), test.want, slog.New(slog.NewTextHandler(&log, nil)))
		if got := tools.NVIDIA(); got != test.does {
			t.Errorf("%s: got %+v, want %+v", name, got, test.does)
		}
		if got := log.String(); strings.Count(got, "\n") != min(1, len(test.says)) || !strings.Contains(got, test.says) ||
			test.says != "" && !strings.Contains(got, "the GPU is broken") {
			t.Errorf("%s: got %s, want a warning %q", name, got, test.says)
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
	tools.UseNVIDIA(t.Context(), ffmpeg.NVIDIA{Decode: true, Encode: true}, slog.New(slog.NewTextHandler(&log, nil)))
	want := fmt.Sprintf("layers.landlock=0 layers.seccomp=false layers.namespaces=%t error=", host.Namespaces)
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) || !strings.Contains(got, "the GPU is held back") {
		t.Errorf("got %s, want one warning with %s", got, want)
	}
	if got, both := tools.NVIDIA(), (ffmpeg.NVIDIA{Decode: true, Encode: true}); got != both || !tools.Sandbox.Seccomp {
		t.Errorf("got %+v, and the layers %v for other programs", got, tools.Sandbox.LogValue())
	}
	log.Reset()
	g.breaks(t, "")
	clip := ffmpegtest.Make(t, "clip.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 5))
	if _, frames := ffmpegtest.FramesBy(t, tools, clip); len(frames) != 5 || !slices.Equal(g.used(), []string{"decode"}) || log.Len() > 0 {
		t.Errorf("got %d frames, the GPU did %q, and said %s", len(frames), g.used(), log.String())
	}
}

// TestDecodeWithoutGPU lets the GPU fail after its trial. The frames are the same, and there is one
// warning for two readings.
func TestDecodeWithoutGPU(t *testing.T) {
	tools, g := fakeGPU(t)
	var log bytes.Buffer
	tools.UseNVIDIA(t.Context(), ffmpeg.NVIDIA{Decode: true}, slog.New(slog.NewTextHandler(&log, nil)))
	clip := ffmpegtest.Make(t, "clip.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 5))
	for _, test := range []struct {
		broken string
		used   []string
		says   int
	}{{"", []string{"decode"}, 0}, {"-hwaccel", nil, 1}, {"-hwaccel", nil, 1}} {
		g.breaks(t, test.broken)
		_, frames := ffmpegtest.FramesBy(t, tools, clip)
		for i, frame := range frames {
			if got := ffmpegtest.Number(frame, 0); got != i {
				t.Errorf("frame %d has the number %d", i, got)
			}
		}
		if used := g.used(); len(frames) != 5 || !slices.Equal(used, test.used) || strings.Count(log.String(), "the CPU decodes a file") != test.says {
			t.Errorf("broken %q: got %d frames, the GPU did %q, and said %s", test.broken, len(frames), used, log.String())
		}
	}
}

// TestDecodeDamaged reads a file without a whole picture. The GPU isn't to blame, and no warning says so.
func TestDecodeDamaged(t *testing.T) {
	tools, _ := fakeGPU(t)
	var log bytes.Buffer
	tools.UseNVIDIA(t.Context(), ffmpeg.NVIDIA{Decode: true}, slog.New(slog.NewTextHandler(&log, nil)))
	damaged := ffmpegtest.Make(t, "damaged.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 5))
	info, err := tools.Probe(t.Context(), damaged)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(damaged)
	if err == nil {
		from, to := bytes.Index(whole, []byte("mdat"))+4, bytes.Index(whole, []byte("moov"))-4
		clear(whole[from:max(from, to)])
		err = os.WriteFile(damaged, whole, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	frames, err := tools.OpenFrames(t.Context(), info, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	if err := frames.Read(info.Video.NewFrame()); err == nil || log.Len() > 0 {
		t.Errorf("got %v, and %s, want an error and no warning", err, log.String())
	}
}

// TestEncodeWithoutGPU lets the GPU's encoder fail after its trial. That file fails, since pieces of an
// output are encoded alike, and the CPU encodes the next.
func TestEncodeWithoutGPU(t *testing.T) {
	tools, g := fakeGPU(t)
	var log bytes.Buffer
	tools.UseNVIDIA(t.Context(), ffmpeg.NVIDIA{Encode: true}, slog.New(slog.NewTextHandler(&log, nil)))
	v := &ffmpeg.Video{Width: 256, Height: 256, Rate: ffmpeg.Rate{Num: 25, Den: 1}}
	path := filepath.Join(t.TempDir(), "out.mp4")
	encode := func() error {
		e, err := tools.Encode(t.Context(), v, order.Output{}, "", path)
		if err != nil {
			return err
		}
		for range 10 {
			if err := e.Write(v.NewFrame()); err != nil {
				e.Abort()
				return err
			}
		}
		return e.Finish()
	}
	for i, test := range []struct {
		broken string
		used   []string
		err    error
		says   int
	}{{"", []string{"encode"}, nil, 0}, {"h264_nvenc", nil, ffmpeg.ErrGPU, 1}, {"h264_nvenc", nil, nil, 1}} {
		g.breaks(t, test.broken)
		before, err := tools.Encoding(t.Context(), v, order.Output{})
		if err != nil {
			t.Fatal(err)
		}
		if err := encode(); !errors.Is(err, test.err) {
			t.Errorf("file %d: got %v, want %v", i, err, test.err)
		}
		after, err := tools.Encoding(t.Context(), v, order.Output{})
		if used := g.used(); err != nil || (before == after) != (test.err == nil) || !slices.Equal(used, test.used) || strings.Count(log.String(), "\n") != test.says {
			t.Errorf("file %d: the GPU did %q, and said %s (%v)", i, used, log.String(), err)
		}
	}
}

// TestNVIDIA uses the GPU of this machine in each layer of the sandbox and in all of them, and in no fewer.
// Where there is none, it is refused.
func TestNVIDIA(t *testing.T) {
	tools := ffmpegtest.Tools(t)
	_, err := os.Stat("/dev/nvidiactl")
	all := tools.Sandbox
	for _, layers := range []sandbox.Sandbox{
		{}, {Landlock: all.Landlock}, {Seccomp: all.Seccomp}, {Namespaces: all.Namespaces}, all,
	} {
		var log bytes.Buffer
		tools.Sandbox = layers
		tools.UseNVIDIA(t.Context(), ffmpeg.NVIDIA{Decode: true, Encode: true}, slog.New(slog.NewTextHandler(&log, nil)))
		does := tools.NVIDIA()
		t.Logf("%v: %+v\n%s", layers.LogValue(), does, log.String())
		if does.Decode != (err == nil) {
			t.Errorf("in %v: got %+v, want to decode: %t", layers.LogValue(), does, err == nil)
		}
		if strings.Contains(log.String(), "fewer layers") {
			t.Errorf("in %v: the GPU's driver doesn't work", layers.LogValue())
		}
	}
}
