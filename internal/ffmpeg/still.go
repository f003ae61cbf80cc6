package ffmpeg

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// ErrPicture is an ErrUnsupported for a picture of a kind that is not supported, such as a GIF.
var ErrPicture = fmt.Errorf("%w: picture", ErrUnsupported)

// heif is the media type of pictures in the container of MP4 (ISO/IEC 23008-12), such as HEIC and AVIF.
const heif = "image/heif"

// stills has ffmpeg's demuxers of pictures by their media type. None of them opens other files.
var stills = map[string]string{"image/png": "png_pipe", "image/jpeg": "jpeg_pipe", "image/webp": "webp_pipe", heif: "mov"}

// stillRate is the frame rate of the video that is made of a picture.
var stillRate = Rate{25, 1}

// sniff returns the media type of a file by its first bytes, or a general one.
func sniff(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	begin := make([]byte, 512) // all that DetectContentType considers
	n, _ := io.ReadFull(file, begin)
	begin = begin[:n]
	if n >= 12 && string(begin[4:8]) == "ftyp" && slices.Contains([]string{"heic", "heix", "mif1", "avif"}, string(begin[8:12])) {
		return heif
	}
	return http.DetectContentType(begin)
}

// unsupported returns the error for a file of a media type that ffprobe can't read.
func unsupported(kind string) error {
	if still := stills[kind]; strings.HasPrefix(kind, "image/") && (still == "" || kind == heif) {
		return ErrPicture
	}
	return ErrUnsupported
}

// still returns the Info of a picture, read by a demuxer.
func (r *report) still(demuxer string) (*Info, error) {
	if len(r.Streams) != 1 { // newer versions of ffmpeg report the tiles of a large HEIC
		return nil, fmt.Errorf("%w of %d streams", ErrPicture, len(r.Streams))
	}
	s := r.Streams[0]
	for _, frame := range r.Read {
		s.SideData = append(s.SideData, frame.SideData...) // of a JPEG's EXIF; the stream doesn't have it
	}
	v, err := s.video()
	if err != nil {
		return nil, err
	}
	v.Rate = stillRate
	return &Info{Format: demuxer, Still: true, Video: v}, nil
}
