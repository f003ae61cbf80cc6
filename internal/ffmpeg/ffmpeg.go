// Package ffmpeg brings media in and out, as streams, by the programs ffmpeg and
// ffprobe.
//
// They read what strangers send, so they run as child processes that see local
// files alone: fixed demuxers, no network, an empty environment, bounded memory
// and output, and an end when they stop making progress.
package ffmpeg

import (
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// ErrUnsupported means that a file is of no format that the service takes, or
// is too damaged to be read.
var ErrUnsupported = errors.New("not a supported format")

// Bounds of every child process, whatever the file says.
const (
	probeTime   = time.Minute
	stallTime   = 2 * time.Minute // without a byte in or out
	addressSize = 6 << 30         // bytes; 4096 × 4096 HDR needs about 3 GiB
	fileSize    = 64 << 30        // bytes, of one written file
	maxPixels   = 1 << 26         // of a decoded picture
	reportSize  = 1 << 20         // bytes of ffprobe's answer
)

// Tools are the two programs, and what one of them may use of the machine.
type Tools struct {
	FFmpeg, FFprobe string // paths
	Threads         int    // of each decoder and encoder
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
