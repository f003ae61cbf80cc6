package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"lipsync/internal/media/sandbox"
)

// ErrGPU means that the encoder of an NVIDIA GPU did not start. The CPU encodes all later files.
var ErrGPU = errors.New("the GPU's encoder doesn't start")

// NVIDIA says what an NVIDIA GPU does in place of the CPU.
type NVIDIA struct{ Decode, Encode bool }

// gpu is an NVIDIA GPU that was tried on this machine. nil does nothing.
type gpu struct {
	files  sandbox.Files   // what a program needs to use it
	layers sandbox.Sandbox // of a program that uses it
	decode bool
	encode atomic.Bool // until the encoder doesn't start
	log    *slog.Logger
	missed sync.Once // the warning that the GPU did not decode a file
}

func (g *gpu) decodes() bool { return g != nil && g.decode }

func (g *gpu) encodes() bool { return g != nil && g.encode.Load() }

// NVIDIA returns what an NVIDIA GPU does.
func (t *Tools) NVIDIA() NVIDIA { return NVIDIA{t.gpu.decodes(), t.gpu.encodes()} }

// UseNVIDIA lets an NVIDIA GPU do what is wanted, as far as it works on this machine. For the rest it
// logs a warning, and the CPU does it. Programs that use the GPU run in the layers of the sandbox in
// which its driver works; a warning tells if these aren't all.
func (t *Tools) UseNVIDIA(ctx context.Context, want NVIDIA, log *slog.Logger) {
	t.gpu = nil
	if want == (NVIDIA{}) {
		return
	}
	dir, err := os.MkdirTemp("", "nvidia-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = t.firstUse(ctx)
	}
	clip := filepath.Join(dir, "clip.mp4")
	if err == nil {
		err = t.encodeBlack(ctx, trialSide, "", clip)
	}
	if err != nil {
		log.Warn("the CPU decodes and encodes video: an NVIDIA GPU was asked for, and none can be used", "error", err)
		return
	}
	g := &gpu{log: log, files: driver(ctx, t.FFmpeg)}
	if want.Decode {
		if err = t.trial(g.files, g.layers).decodeOnGPU(ctx, clip); err != nil {
			log.Warn("the CPU decodes video: the NVIDIA GPU that was asked for can't", "error", err)
		}
		g.decode = err == nil
	}
	if want.Encode {
		if err = t.trial(g.files, g.layers).encodeBlack(ctx, trialSide, "", clip); err != nil {
			log.Warn("the CPU encodes video: the NVIDIA GPU that was asked for can't", "error", err)
		}
		g.encode.Store(err == nil)
	}
	if g.decode || g.encodes() {
		t.chooseLayers(ctx, g, clip)
	}
	t.gpu = g
}

// chooseLayers sets the layers of programs that use a GPU: those in which it does what it does without
// any.
func (t *Tools) chooseLayers(ctx context.Context, g *gpu, clip string) {
	var all error // the error with all layers
	g.layers = t.Sandbox.Largest(func(s sandbox.Sandbox) (err error) {
		on := t.trial(g.files, s)
		if g.decode {
			err = on.decodeOnGPU(ctx, clip)
		}
		if err == nil && g.encodes() {
			err = on.encodeBlack(ctx, trialSide, "", clip)
		}
		if s == t.Sandbox {
			all = err
		}
		return err
	})
	if g.layers != t.Sandbox {
		g.log.Warn("programs that use the NVIDIA GPU run in fewer layers of the sandbox: its driver doesn't work in all", "layers", g.layers, "error", all)
	}
}

// trialSide is the side of the pictures of trials, in pixels.
const trialSide = 256

// firstUse uses the driver without the sandbox, since a more privileged program creates its devices
// when it is first used.
func (t *Tools) firstUse(ctx context.Context) error {
	p := newProcess(ctx, t.FFmpeg, []string{"-v", "error", "-nostdin", "-init_hw_device", "cuda",
		"-f", "lavfi", "-i", "color=size=64x64:duration=0.04", "-f", "null", "-"})
	if err := p.cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	return nil
}

// trial returns tools that use the GPU for all, in the given layers, and log nothing.
func (t *Tools) trial(files sandbox.Files, layers sandbox.Sandbox) *Tools {
	g := &gpu{files: files, layers: layers, decode: true, log: slog.New(slog.DiscardHandler)}
	g.encode.Store(true)
	other := *t
	other.gpu = g
	return &other
}

// decodeOnGPU decodes a file. Unlike the decoder of jobs it fails if ffmpeg would decode it without
// the GPU.
func (t *Tools) decodeOnGPU(ctx context.Context, path string) error {
	return t.run(ctx, t.FFmpeg, t.gpu.files.And(sandbox.Files{Read: []string{path}}), "-v", "error", "-nostdin",
		"-hwaccel", "cuda", "-hwaccel_output_format", "cuda", "-i", "file:"+path, "-vf", "hwdownload,format=nv12", "-f", "null", "-")
}

// stopEncoding leaves encoding to the CPU.
func (g *gpu) stopEncoding(err error) {
	if g.encode.CompareAndSwap(true, false) {
		g.log.Warn("the CPU encodes video from now on: the encoder of the NVIDIA GPU doesn't start", "error", err)
	}
}

// miss notes that the CPU decodes a file that the GPU did not begin to decode.
func (g *gpu) miss(err error) {
	g.missed.Do(func() {
		g.log.Warn("the CPU decodes a file: the NVIDIA GPU can't. Others are not logged", "error", err)
	})
}

// driver returns the files of NVIDIA's driver: its devices, the folders of the libraries that ffmpeg
// opens by name, and the kernel's files about them, the machine and the process. The kernel hides the
// private parts of other processes.
func driver(ctx context.Context, program string) sandbox.Files {
	devices, _ := filepath.Glob("/dev/nvidia*") // the pattern is valid
	kernel := []string{"/proc", "/sys"}
	libraries := sandbox.Needs(ctx, program, "libcuda.so.1", "libnvcuvid.so.1", "libnvidia-encode.so.1")
	return libraries.And(sandbox.Files{Devices: devices, List: kernel, Read: []string{"/etc/nvidia", "/usr/share/nvidia"}, NVIDIA: true})
}
