package gpucheck

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// GPU is an NVIDIA GPU of this machine.
type GPU struct {
	Name, Driver string
	Used, Total  int // memory, MiB
}

// ErrNoGPU is the error where there is no NVIDIA GPU.
var ErrNoGPU = errors.New("there is no NVIDIA GPU on this machine, or no driver for it")

// GPUs asks nvidia-smi for the GPUs of this machine, at least one.
func GPUs(ctx context.Context) ([]GPU, error) {
	out, err := exec.CommandContext(ctx, "nvidia-smi",
		"--query-gpu=driver_version,memory.used,memory.total,name", "--format=csv,noheader,nounits").Output()
	if err != nil {
		return nil, fmt.Errorf("%w: nvidia-smi: %w", ErrNoGPU, err)
	}
	return parseGPUs(string(out))
}

// parseGPUs reads the output of nvidia-smi, a line for each GPU. The name is last, since it
// may have commas.
func parseGPUs(text string) (gpus []GPU, err error) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSpace(line), ", ", 4)
		if len(fields) != 4 {
			return nil, fmt.Errorf("nvidia-smi says %q", line)
		}
		g := GPU{Driver: fields[0], Name: fields[3]}
		for i, n := range []*int{&g.Used, &g.Total} {
			if *n, err = strconv.Atoi(fields[1+i]); err != nil {
				return nil, fmt.Errorf("nvidia-smi says %q", line)
			}
		}
		gpus = append(gpus, g)
	}
	if gpus == nil {
		return nil, ErrNoGPU
	}
	return gpus, nil
}
