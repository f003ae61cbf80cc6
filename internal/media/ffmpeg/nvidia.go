package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"lipsync/internal/media/sandbox"
)

// ErrGPU means that the encoder of an NVIDIA GPU did not start. The CPU encodes all later files.
var ErrGPU = errors.New("the GPU's encoder doesn't start")

// gpu is an NVIDIA GPU that encodes in place of the CPU. nil does nothing.
type gpu struct {
	files  sandbox.Files   // what a program needs to use it
	layers sandbox.Sandbox // of a program that uses it
	encode atomic.Bool     // until the encoder doesn't start
	log    *slog.Logger
}

// Encodes reports whether an NVIDIA GPU encodes.
func (t *Tools) Encodes() bool { return t.gpu != nil && t.gpu.encode.Load() }

// UseNVIDIA lets the encoder of an NVIDIA GPU encode, if it works on this machine. Otherwise it logs a
// warning, and the CPU does it. Programs that use the GPU run in the layers of the sandbox in which
// its driver works; a warning tells if these aren't all.
func (t *Tools) UseNVIDIA(ctx context.Context, log *slog.Logger) {
	t.gpu = nil
	dir, err := os.MkdirTemp("", "nvidia-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = t.firstUse(ctx)
	}
	files, clip := driver(ctx, t.FFmpeg), filepath.Join(dir, "clip.mp4")
	if err == nil {
		err = t.trial(files, sandbox.Sandbox{}).encodeBlack(ctx, trialSide, "", clip)
	}
	if err != nil {
		log.Warn("the CPU encodes video: the NVIDIA GPU that was asked for can't", "error", err)
		return
	}
	var all error // the error with all layers
	layers := t.Sandbox.Largest(func(s sandbox.Sandbox) error {
		err := t.trial(files, s).encodeBlack(ctx, trialSide, "", clip)
		if s == t.Sandbox {
			all = err
		}
		return err
	})
	if layers != t.Sandbox {
		log.Warn("programs that use the NVIDIA GPU run in fewer layers of the sandbox: its driver doesn't work in all", "layers", layers, "error", all)
	}
	t.gpu = newGPU(files, layers, log)
}

// trialSide is the side of the pictures of trials, in pixels.
const trialSide = 256

// startDriver has ffmpeg's arguments that start the driver, and do nothing with it.
var startDriver = []string{"-v", "error", "-nostdin", "-init_hw_device", "cuda", "-f", "lavfi", "-i", "color=size=64x64:duration=0.04", "-f", "null", "-"}

// firstUse uses the driver without the sandbox, since a more privileged program creates its devices
// when it is first used.
func (t *Tools) firstUse(ctx context.Context) error {
	p := newProcess(ctx, t.FFmpeg, startDriver)
	if err := p.cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, p.stderr.String())
	}
	return nil
}

// trial returns tools that encode on the GPU, in the given layers, and log nothing.
func (t *Tools) trial(files sandbox.Files, layers sandbox.Sandbox) *Tools {
	other := *t
	other.gpu = newGPU(files, layers, slog.New(slog.DiscardHandler))
	return &other
}

func newGPU(files sandbox.Files, layers sandbox.Sandbox, log *slog.Logger) *gpu {
	g := &gpu{files: files, layers: layers, log: log}
	g.encode.Store(true)
	return g
}

// stopEncoding leaves encoding to the CPU.
func (g *gpu) stopEncoding(err error) {
	if g.encode.CompareAndSwap(true, false) {
		g.log.Warn("the CPU encodes video from now on: the encoder of the NVIDIA GPU doesn't start", "error", err)
	}
}

// driver returns the files of NVIDIA's driver: its devices, the folders of the libraries that ffmpeg
// opens by name, and the kernel's files about them, the machine and the process. The kernel hides the
// private parts of other processes.
func driver(ctx context.Context, program string) sandbox.Files {
	devices, _ := filepath.Glob("/dev/nvidia*") // the pattern is valid
	kernel := []string{"/proc", "/sys"}
	libraries := sandbox.Needs(ctx, program, "libcuda.so.1", "libnvidia-encode.so.1")
	return libraries.And(sandbox.Files{Devices: devices, List: kernel, Read: []string{"/etc/nvidia", "/usr/share/nvidia"}, NVIDIA: true})
}
