package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// Bounds of a poster.
const (
	posterSide = 480         // longer side, pixels
	posterSize = 1 << 20     // bytes
	posterTime = time.Minute // for making it
)

// Poster returns a small picture, as a JPEG, of a file that Encode made of frames of v. It has a standard dynamic range. It shows the last key
// frame up to the time at, since other frames take longer to decode.
func (t *Tools) Poster(ctx context.Context, v *medium.Video, path string, at time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, posterTime)
	defer cancel()
	p, err := t.startReader(ctx, t.FFmpeg, posterArgs(v, path, at), sandbox.Files{Read: []string{path}}, memorySize)
	if err != nil {
		return nil, err
	}
	jpeg, err := p.readAll(posterSize)
	switch {
	case err != nil:
		return nil, fmt.Errorf("make a poster: %w", err)
	case len(jpeg) == 0 || len(jpeg) == posterSize:
		return nil, errors.New("make a poster: nothing came, or too much")
	}
	return jpeg, nil
}

func posterArgs(v *medium.Video, path string, at time.Duration) []string {
	side := strconv.Itoa(posterSide)
	filters := []string{"scale=w='min(iw," + side + ")':h='min(ih," + side + ")':force_original_aspect_ratio=decrease"}
	if v.Transfer() != medium.SDR {
		filters = append(append(filters, v.ToneFilters()...), "scale=in_range=tv:out_range=pc", "format=yuvj420p")
	}
	format, _ := order.FormatOf(path)
	return []string{"-v", "error", "-nostdin", "-protocol_whitelist", "file", "-f", demuxer(format), "-threads", "1",
		"-skip_frame", "nokey", "-noaccurate_seek", "-ss", strconv.FormatFloat(at.Seconds(), 'f', 3, 64), "-i", "file:" + path,
		"-an", "-sn", "-dn", "-frames:v", "1", "-fps_mode", "passthrough", // else a frame before the time is dropped
		"-vf", strings.Join(filters, ","),
		"-c:v", "mjpeg", "-q:v", "5", "-f", "mjpeg", "pipe:1"}
}
