// Package ffmpeg reads and writes media as streams, with the programs ffmpeg and ffprobe.
//
// These programs read files of strangers. So they run as child processes in a sandbox that allows
// only the files of one step, with a fixed list of demuxers, no network, an empty environment, and
// bounded memory and output. A child that makes no progress is ended.
//
// Package medium says what their files are, and how they are read; container has what this program reads and writes of files itself. May import: these,
// sandbox, failure, order.
package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"lipsync/internal/media/sandbox"
)

// ErrKilled means that the system killed a program, most likely because the machine ran out of
// memory. That says little about the file.
var ErrKilled = errors.New("killed by the system")

// ErrNotRun means that a program can't be started because it or one of its libraries is missing,
// for example while a newer version is being installed. That says nothing about the file.
var ErrNotRun = errors.New("the program can't be run")

// ErrStarved means that a program took too long because the machine gave it hardly any CPU time.
// That says little about the file.
var ErrStarved = errors.New("the machine is too busy")

// OfMachine reports whether err is the machine's fault.
func OfMachine(err error) bool {
	return errors.Is(err, ErrKilled) || errors.Is(err, ErrNotRun) || errors.Is(err, ErrStarved)
}

// These bound every child process, whatever the file contains.
const (
	probeTime   = time.Minute
	stallTime   = 2 * time.Minute // without a byte in or out
	memorySize  = 6 << 30         // bytes, without reserved addresses (a GPU reserves many); 4096 × 4096 in HDR needs about 3 GiB
	probeMemory = 480 << 20       // bytes; a picture of 4096 × 4096 in 48 bits has 96 MiB, and ffprobe decodes only the first few
	fileSize    = 64 << 30        // bytes, of one written file
	reportSize  = 1 << 20         // bytes, of ffprobe's output
)

// Tools holds the paths of the two programs, and their share of the machine.
type Tools struct {
	FFmpeg, FFprobe string // paths
	Threads         int    // of each decoder and encoder
	// Sandbox restricts each child to the files of its step.
	Sandbox sandbox.Sandbox

	needs sandbox.Files // libraries of both programs
	gpu   *gpu          // encodes video, if it supports the format and size; see UseNVIDIA
}

// Find finds the programs in PATH, and the layers of the sandbox that work on this machine.
// threads is the number of threads of each decoder and encoder.
func Find(threads int) (*Tools, error) {
	t := &Tools{Threads: threads}
	for _, program := range []struct {
		name string
		path *string
	}{{"ffmpeg", &t.FFmpeg}, {"ffprobe", &t.FFprobe}} {
		found, err := exec.LookPath(program.name)
		if err != nil {
			return nil, fmt.Errorf("%s is not installed: %w", program.name, err)
		}
		*program.path = found
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	t.needs = sandbox.Needs(ctx, t.FFmpeg) // ffprobe needs the same files; otherwise the trial fails
	t.Sandbox = sandbox.Available().Largest(func(s sandbox.Sandbox) error {
		return t.in(s).run(ctx, t.FFprobe, sandbox.Files{}, "-v", "error", "-version")
	})
	return t, nil
}

// in returns the same tools with another sandbox.
func (t *Tools) in(s sandbox.Sandbox) *Tools {
	other := *t
	other.Sandbox = s
	return &other
}

// run runs a program, and discards its output.
func (t *Tools) run(ctx context.Context, path string, files sandbox.Files, args ...string) error {
	p, err := t.startReader(ctx, path, args, files, memorySize)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, p)
	return errors.Join(err, p.wait())
}
