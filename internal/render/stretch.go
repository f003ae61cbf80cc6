package render

import (
	"image"
	"os"

	"lipsync/internal/ffmpeg"
)

// stretchSize bounds the file of a stretch, in bytes: some seconds of frames, so that decoding those from the key frame before it
// is not most of the work.
const stretchSize = 512 << 20

// stretch holds consecutive source frames in a temporary file: more of them than memory should hold.
type stretch struct {
	file *os.File
	n    int // frames
}

func newStretch(dir string) (*stretch, error) {
	f, err := os.CreateTemp(dir, "stretch-*.yuv")
	if err != nil {
		return nil, err
	}
	return &stretch{file: f}, os.Remove(f.Name()) // it lives until it is closed
}

// write writes the frame as the stretch's i-th.
func (s *stretch) write(i int, frame *image.YCbCr) error {
	b := ffmpeg.Bytes(frame)
	_, err := s.file.WriteAt(b, int64(i)*int64(len(b)))
	return err
}

// read fills the frame with the i-th frame of the stretch.
func (s *stretch) read(i int, frame *image.YCbCr) error {
	b := ffmpeg.Bytes(frame)
	_, err := s.file.ReadAt(b, int64(i)*int64(len(b)))
	return err
}

func (s *stretch) close() { _ = s.file.Close() }
