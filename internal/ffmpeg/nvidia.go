package ffmpeg

import (
	"context"
	"fmt"
	"path/filepath"

	"lipsync/internal/sandbox"
)

// CheckNVIDIA returns an error in a sentence unless ffmpeg can decode and encode
// on an NVIDIA GPU here. It leaves the layers of the sandbox in which it can.
func (t *Tools) CheckNVIDIA(ctx context.Context) error {
	args := []string{"-v", "error", "-nostdin", "-init_hw_device", "cuda",
		"-f", "lavfi", "-i", "color=size=256x256:duration=0.1", "-c:v", "h264_nvenc", "-f", "h264", "pipe:1"}
	// First without a sandbox: the driver makes its devices when they are first used, by a
	// program that has more rights.
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

// nvidia returns the files of NVIDIA's driver: its devices, and what the kernel tells about them,
// the machine and the process. Nobody may write the latter, and the kernel hides the private parts
// of other processes.
func nvidia() sandbox.Files {
	devices, _ := filepath.Glob("/dev/nvidia*") // the pattern is right
	return sandbox.Files{Devices: devices, Read: []string{"/proc", "/sys", "/etc/nvidia", "/usr/share/nvidia"}}
}
