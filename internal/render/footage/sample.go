package footage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/media/ffmpeg/medium"
)

// Of every sampleEvery frames of the first pass, the sampleFrames from sampleFirst on are a part of the sample. After the first two parts only every
// fourth of them is encoded. The first frames of a video are often darker than the others. Of 30 videos of 4 to 10 s, 8 frames in each part gave 28
// the same crf in the default quality, and these one that differs by 1.
const (
	sampleEvery  = 50
	sampleFirst  = 12
	sampleFrames = 4
)

// inSample tells whether the frame with a number belongs to the sample.
func inSample(n int) bool {
	at, times := n%sampleEvery, n/sampleEvery
	return at >= sampleFirst && at < sampleFirst+sampleFrames && (times < 2 || times%4 == 0)
}

// sample encodes some frames of the first pass, so that ffmpeg.CRFOf can tell how the output must be encoded.
type sample struct {
	Source
	sampled *medium.Video // nil if nothing is sampled
	output  order.Output  // of the sample
	bits    float64       // of a second of the source's pictures
	path    string
	encoder ffmpeg.Encoder // nil if no frame is being encoded
}

func newSample(ctx context.Context, s Source) (*sample, error) {
	n := &sample{Source: s, path: filepath.Join(s.Dir, "sample")}
	if s.Output == nil {
		return n, nil
	}
	v, o, ok := ffmpeg.Sample(s.Video.Video, *s.Output)
	if !ok {
		return n, nil
	}
	bits, err := s.Media.CountBits(ctx, s.Video, s.Limit)
	if bits > 0 {
		n.sampled, n.output, n.bits = v, o, bits
	}
	return n, err
}

// add encodes the frame with a number if it belongs to the sample.
func (s *sample) add(ctx context.Context, n int, frame []byte) (err error) {
	if s.sampled == nil || !inSample(n) {
		return nil
	}
	if s.encoder == nil {
		if s.encoder, err = s.Media.Encode(ctx, s.sampled, s.output, "", s.path); err != nil {
			return fmt.Errorf("encode a sample: %w", err)
		}
	}
	return s.encoder.WritePixels(frame)
}

// finish returns the crf that the output should have. It is 0 if nothing tells.
func (s *sample) finish() (crf int, err error) {
	if s.encoder == nil {
		return 0, nil
	}
	err = s.encoder.Finish()
	s.encoder = nil
	if err != nil {
		return 0, fmt.Errorf("encode a sample: %w", err)
	}
	crf, err = ffmpeg.CRFOf(s.Video.Video, s.output, s.path, s.bits)
	return crf, errors.Join(err, os.Remove(s.path))
}

// close ends the sample if it isn't finished.
func (s *sample) close() {
	if s.encoder != nil {
		s.encoder.Abort()
	}
}
