package render

import (
	"image"
	"os"
)

// stretchSize bounds the file of a stretch, in bytes: some seconds, so that
// decoding from the key frame before it is not most of the work.
const stretchSize = 512 << 20

// stretch is a run of source frames in a temporary file, which takes more of
// them than memory should.
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

// write makes the frame the stretch's i-th.
func (s *stretch) write(i int, frame *image.YCbCr) error {
	return eachPlane(i, frame, s.file.WriteAt)
}

// read fills the frame with the stretch's i-th.
func (s *stretch) read(i int, frame *image.YCbCr) error {
	return eachPlane(i, frame, s.file.ReadAt)
}

// eachPlane moves a frame's planes by f, which gets the place in the file.
func eachPlane(i int, frame *image.YCbCr, f func([]byte, int64) (int, error)) error {
	at := int64(i) * int64(len(frame.Y)+len(frame.Cb)+len(frame.Cr))
	for _, plane := range [][]byte{frame.Y, frame.Cb, frame.Cr} {
		if _, err := f(plane, at); err != nil {
			return err
		}
		at += int64(len(plane))
	}
	return nil
}

func (s *stretch) close() { _ = s.file.Close() }
