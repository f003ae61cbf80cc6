// Package ffmpeg brings media in and out, as streams, by the programs ffmpeg and
// ffprobe.
//
// They read what strangers send, so they run as child processes in a sandbox that holds
// them to the files of one step: fixed demuxers, no network, an empty environment, bounded
// memory and output, and an end when they stop making progress.
package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"lipsync/internal/sandbox"
)

// ErrUnsupported means that a file is of no format that the service takes, or
// is too damaged to be read.
var ErrUnsupported = errors.New("not a supported format")

// ErrKilled means that the system ended a program, most likely since the machine had no more
// memory: that says little about the file that it read.
var ErrKilled = errors.New("killed by the system")

// ErrNotRun means that a program can't be run, since it or a library of it is not there, as
// while a newer version takes its place: that says nothing about the file.
var ErrNotRun = errors.New("the program can't be run")

// ErrStarved means that a program took too long on a machine that gave it hardly any time,
// since it was busy or stood still: that says little about the file, either.
var ErrStarved = errors.New("the machine is too busy")

// OfMachine reports whether err is one of a program that the machine is at fault for.
func OfMachine(err error) bool {
	return errors.Is(err, ErrKilled) || errors.Is(err, ErrNotRun) || errors.Is(err, ErrStarved)
}

// Bounds of every child process, whatever the file says.
const (
	probeTime   = time.Minute
	stallTime   = 2 * time.Minute // without a byte in or out
	memorySize  = 6 << 30         // bytes, without reserved addresses, of which a GPU takes many; 4096 × 4096 HDR needs about 3 GiB
	probeMemory = 480 << 20       // bytes; a picture of 4096 × 4096 in 48 bits has 96 MiB, and the times of the first few are enough
	fileSize    = 64 << 30        // bytes, of one written file
	maxPixels   = 1 << 25         // of a decoded picture: 7680 × 4320, of which users are told that it is too large
	maxExtra    = 48 << 20        // bytes, of a file's attachments, of which each process keeps copies
	reportSize  = 1 << 20         // bytes of ffprobe's answer
)

// Tools are the two programs, and what one of them may use of the machine.
type Tools struct {
	FFmpeg, FFprobe string // paths
	Threads         int    // of each decoder and encoder
	// NVIDIA has pictures decoded and encoded by an NVIDIA GPU, as far as it
	// knows their format and takes their size; see CheckNVIDIA.
	NVIDIA bool
	// Sandbox holds each child to the files of its step.
	Sandbox sandbox.Sandbox

	needs sandbox.Files // libraries of both programs
}

// Find looks the programs up in PATH, and finds out in which sandbox they run here.
func Find(threads int) (*Tools, error) {
	t := &Tools{Threads: threads}
	for name, path := range map[string]*string{"ffmpeg": &t.FFmpeg, "ffprobe": &t.FFprobe} {
		found, err := exec.LookPath(name)
		if err != nil {
			return nil, fmt.Errorf("%s is not installed: %w", name, err)
		}
		*path = found
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	t.needs = sandbox.Needs(ctx, t.FFmpeg) // and ffprobe uses the same: else the trial fails
	t.Sandbox = sandbox.Available().Largest(func(s sandbox.Sandbox) error {
		return t.in(s).run(ctx, t.FFprobe, "-v", "error", "-version")
	})
	return t, nil
}

// in returns the same tools in another sandbox.
func (t *Tools) in(s sandbox.Sandbox) *Tools {
	other := *t
	other.Sandbox = s
	return &other
}

// run runs a program that needs no media, and forgets its output.
func (t *Tools) run(ctx context.Context, path string, args ...string) error {
	p, err := t.startReader(ctx, path, args, sandbox.Files{}, memorySize)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, p)
	return errors.Join(err, p.wait())
}
