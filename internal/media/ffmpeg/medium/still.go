package medium

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // for the size of large pictures
	_ "image/png"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
)

// ErrPicture is an ErrUnsupported for a picture of a kind that is not supported, such as a HEIC or a bitmap.
var ErrPicture = fmt.Errorf("%w: picture", ErrUnsupported)

// The media types of pictures. HEIF is that of pictures in the container of MP4 (ISO/IEC 23008-12), such as
// HEIC and AVIF.
const (
	png, jpeg, webp, heif = "image/png", "image/jpeg", "image/webp", "image/heif"

	animated = "image/webp-animated" // not registered; ffmpeg can't decode it
	apng     = "image/apng"          // a video
)

// stills has ffmpeg's demuxers of pictures by media types. None of them opens other files.
var stills = map[string]string{png: "png_pipe", jpeg: "jpeg_pipe", webp: "webp_pipe", heif: "mov"}

// stillRate is the frame rate of the video that is made of a picture.
var stillRate = Rate{25, 1}

// Sniff returns the media type of a file by its first bytes, or a general one.
func Sniff(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	begin := make([]byte, 512) // all that DetectContentType considers
	n, err := io.ReadFull(file, begin)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return "", err
	}
	begin = begin[:n]
	if n >= 12 && string(begin[4:8]) == "ftyp" && slices.Contains([]string{"heic", "heix", "mif1", "avif"}, string(begin[8:12])) {
		return heif, nil
	}
	kind := http.DetectContentType(begin)
	if kind == webp && n > 20 && string(begin[12:16]) == "VP8X" && begin[20]&2 != 0 {
		kind = animated
	}
	if kind == png && moves(file) {
		kind = apng
	}
	return kind, nil
}

// mostChunks bounds the chunks of a PNG before its picture.
const mostChunks = 64

// moves reports whether a PNG is an animation: before its picture it has a chunk that tells of several frames.
func moves(file io.ReaderAt) bool {
	at := int64(8) // after the signature
	for range mostChunks {
		var head, frames [8]byte // length and type, number of frames and repetitions
		if _, err := file.ReadAt(head[:], at); err != nil || string(head[4:]) == "IDAT" {
			return false
		}
		if string(head[4:]) == "acTL" {
			_, err := file.ReadAt(frames[:], at+8)
			return err == nil && binary.BigEndian.Uint32(frames[:]) > 1
		}
		at += 12 + int64(binary.BigEndian.Uint32(head[:])) // with the checksum
	}
	return false
}

// unreadable returns the error for a file of a media type that ffprobe can't read, because of err. But if it
// has more pixels than ffprobe reads, unreadable returns its size.
func unreadable(path, kind string, err error) (*Info, error) {
	if _, known := errors.AsType[ColoursError](err); known {
		return nil, err
	}
	switch {
	case kind == png || kind == jpeg:
	case kind != webp && strings.HasPrefix(kind, "image/"):
		return nil, fmt.Errorf("%w: %w", ErrPicture, err)
	default:
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	file, openErr := os.Open(path)
	if openErr != nil {
		return nil, openErr
	}
	defer file.Close()
	const header = 16 << 20 // bytes; a JPEG may have previews before its size
	size, _, sizeErr := image.DecodeConfig(io.LimitReader(file, header))
	if sizeErr != nil || size.Width*size.Height <= maxPixels {
		return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return &Info{Path: path, Still: true, Video: &Video{Width: size.Width, Height: size.Height, Rate: stillRate}}, nil
}

// TooLarge reports whether pictures are larger than ffmpeg may decode.
func (v *Video) TooLarge() bool { return v.Width*v.Height > maxPixels }

// firstFrame returns the side data of the first frame of a stream.
func (r *report) firstFrame(s stream) []sideData {
	for _, read := range r.Read {
		if read.Type == "frame" && read.Stream == s.Index {
			return read.SideData
		}
	}
	return nil
}

// still returns the Info of a picture that a demuxer reads.
func (r *report) still(demuxer string) (*Info, error) {
	if len(r.Streams) != 1 { // newer versions of ffmpeg report the tiles of a large HEIC
		return nil, fmt.Errorf("%w: %d streams", ErrUnsupported, len(r.Streams))
	}
	s := r.Streams[0]
	if s.SideData == nil { // only the frames of a JPEG have the rotation of its EXIF
		s.SideData = r.firstFrame(s)
	}
	v, err := s.video()
	if err != nil {
		return nil, err
	}
	v.Rate = stillRate
	return &Info{Format: demuxer, Still: true, Video: v}, nil
}
