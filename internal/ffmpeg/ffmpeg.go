// Package ffmpeg brings media in and out, as streams, by the programs ffmpeg and
// ffprobe.
//
// They read what strangers send, so they run as child processes that see local
// files alone: fixed demuxers, no network, an empty environment, bounded memory
// and output, and an end when they stop making progress.
package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// ErrUnsupported means that a file is of no format that the service takes, or
// is too damaged to be read.
var ErrUnsupported = errors.New("not a supported format")

// Bounds of every child process, whatever the file says.
const (
	probeTime  = time.Minute
	stallTime  = 2 * time.Minute // without a byte in or out
	memorySize = 6 << 30         // bytes, without reserved addresses, of which a GPU takes many; 4096 × 4096 HDR needs about 3 GiB
	fileSize   = 64 << 30        // bytes, of one written file
	maxPixels  = 1 << 26         // of a decoded picture
	reportSize = 1 << 20         // bytes of ffprobe's answer
)

// Tools are the two programs, and what one of them may use of the machine.
type Tools struct {
	FFmpeg, FFprobe string // paths
	Threads         int    // of each decoder and encoder
	// NVIDIA has pictures decoded and encoded by an NVIDIA GPU, as far as it
	// knows their format and takes their size; see CheckNVIDIA.
	NVIDIA bool
}

// Find looks the programs up in PATH.
func Find(threads int) (*Tools, error) {
	t := &Tools{Threads: threads}
	for name, path := range map[string]*string{"ffmpeg": &t.FFmpeg, "ffprobe": &t.FFprobe} {
		found, err := exec.LookPath(name)
		if err != nil {
			return nil, fmt.Errorf("%s is not installed: %w", name, err)
		}
		*path = found
	}
	return t, nil
}

// CheckNVIDIA returns an error in a sentence unless ffmpeg can decode and encode
// on an NVIDIA GPU here.
func (t *Tools) CheckNVIDIA(ctx context.Context) error {
	p, err := startReader(ctx, t.FFmpeg, []string{"-v", "error", "-nostdin", "-init_hw_device", "cuda",
		"-f", "lavfi", "-i", "color=size=256x256:duration=0.1", "-c:v", "h264_nvenc", "-f", "h264", "pipe:1"})
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, p)
	if err = errors.Join(err, p.wait()); err != nil {
		return fmt.Errorf("ffmpeg can't use an NVIDIA GPU on this machine: %w", err)
	}
	return nil
}
