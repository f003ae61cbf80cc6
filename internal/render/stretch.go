package render

import "os"

// stretchSize bounds the file of a stretch, in bytes. It holds some seconds of frames. Decoding a stretch begins at the key frame
// before it; in a much shorter stretch that would be most of the work.
const stretchSize = 512 << 20

// stretch holds consecutive source frames in a temporary file, since they would take too much memory.
type stretch struct {
	file  *os.File
	first int // its first source frame
	n     int // number of frames
}

func newStretch(dir string) (*stretch, error) {
	f, err := os.CreateTemp(dir, "stretch-*.yuv")
	if err != nil {
		return nil, err
	}
	return &stretch{file: f}, os.Remove(f.Name()) // the file exists until it is closed
}

// write writes a source frame.
func (s *stretch) write(source int, frame []byte) error {
	_, err := s.file.WriteAt(frame, int64(source-s.first)*int64(len(frame)))
	return err
}

// read fills the frame with a source frame of the stretch.
func (s *stretch) read(source int, frame []byte) error {
	_, err := s.file.ReadAt(frame, int64(source-s.first)*int64(len(frame)))
	return err
}

func (s *stretch) close() { _ = s.file.Close() }
