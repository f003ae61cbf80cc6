package ffmpeg

import (
	"context"
	"fmt"
	"path/filepath"

	"lipsync/internal/media/sandbox"
)

// CheckNVIDIA returns an error with a sentence for operators unless ffmpeg can decode and encode
// on an NVIDIA GPU here. It sets the layers of the sandbox in which that works.
func (t *Tools) CheckNVIDIA(ctx context.Context) error {
	args := []string{"-v", "error", "-nostdin", "-init_hw_device", "cuda",
		"-f", "lavfi", "-i", "color=size=256x256:duration=0.1", "-c:v", "h264_nvenc", "-f", "h264", "pipe:1"}
	// The first run has no sandbox, since a more privileged program creates the driver's devices when
	// the driver is first used.
	first := newProcess(ctx, t.FFmpeg, args)
	if err := first.cmd.Run(); err != nil {
		return fmt.Errorf("ffmpeg can't use an NVIDIA GPU on this machine: %w: %s", err, first.stderr.String())
	}
	t.Sandbox = t.Sandbox.Largest(func(s sandbox.Sandbox) error {
		gpu := t.in(s)
		gpu.NVIDIA = true
		return gpu.run(ctx, t.FFmpeg, args...)
	})
	return nil
}

// nvidia returns the files of NVIDIA's driver: its devices, and the kernel's files about them, the
// machine and the process. The latter are read-only, and the kernel hides the private parts of
// other processes.
func nvidia() sandbox.Files {
	devices, _ := filepath.Glob("/dev/nvidia*") // the pattern is valid
	return sandbox.Files{Devices: devices, Read: []string{"/proc", "/sys", "/etc/nvidia", "/usr/share/nvidia"}}
}
