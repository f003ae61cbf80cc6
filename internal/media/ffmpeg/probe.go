package ffmpeg

import (
	"context"
	"path/filepath"

	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Probe returns the Info of a file. It returns medium.ErrUnsupported if the service does not support the
// format.
func (t *Tools) Probe(ctx context.Context, path string) (*medium.Info, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	kind, err := medium.Sniff(path)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	p, err := t.startReader(limited, t.FFprobe, medium.ProbeArgs(path, kind), sandbox.Files{Read: []string{path}}, probeMemory)
	if err != nil {
		return nil, err
	}
	report, err := p.readAll(reportSize)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && limited.Err() != nil {
		err = p.late(err, probeTime)
	}
	if OfMachine(err) {
		return nil, err
	}
	return medium.Parse(path, kind, report, err)
}
