package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"strconv"
	"strings"

	"lipsync/internal/sandbox"
)

// Frames are the pictures of a video, decoded one after the other.
type Frames struct {
	p     *process
	begun bool // what comes before the first picture was read
	done  bool
}

// OpenFrames decodes the video from its beginning, at most so many frames.
func (t *Tools) OpenFrames(ctx context.Context, in *Info, most int) (*Frames, error) {
	return t.openFrames(ctx, in, span{to: most})
}

// OpenFramesAt decodes the frames numbered from to to-1, as OpenFrames counts
// them. It seeks first, so it is fast; but where a file has no good index or
// lies about its times, what comes may be other frames, or none. The caller
// checks.
func (t *Tools) OpenFramesAt(ctx context.Context, in *Info, from, to int) (*Frames, error) {
	return t.openFrames(ctx, in, span{from: from, to: to, seek: true})
}

func (t *Tools) openFrames(ctx context.Context, in *Info, s span) (*Frames, error) {
	p, err := t.startReader(ctx, t.FFmpeg, decodeArgs(t, in, s), sandbox.Files{Read: []string{in.Path}}, t.pictureMemory(in.Video))
	if err != nil {
		return nil, err
	}
	return &Frames{p: p}, nil
}

// pictureMemory bounds the memory of a process that decodes pictures, in bytes. It takes the
// most for HDR: 190 a pixel. The rest is for threads, and for tables of the file.
func (t *Tools) pictureMemory(v *Video) uint64 {
	const file, thread, pixel = 1 << 30, 24 << 20, 320
	if t.NVIDIA { // whose driver takes what it wants
		return memorySize
	}
	return min(memorySize, file+thread*uint64(t.Threads)+pixel*uint64(v.pixels))
}

// Read fills a frame of the video, as NewFrame makes it, with the next picture. After the
// last it returns io.EOF.
func (f *Frames) Read(frame *image.YCbCr) error {
	err := f.next()
	if err == io.EOF {
		f.done = true
		if err := f.p.wait(); err != nil {
			return err
		}
		return io.EOF
	}
	if err == nil {
		if err = f.p.read(Bytes(frame)); err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f.done = true
		err = f.p.late(err, stallTime)
	}
	if err == io.ErrUnexpectedEOF { // how the decoder ended tells why
		f.done = true
		err = errors.Join(err, f.p.wait())
	}
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	return nil
}

// next reads what the stream, which is YUV4MPEG2, has before a picture: a line, and before
// the first one another, which tells what Probe knows.
func (f *Frames) next() error {
	const before = "FRAME\n"
	if !f.begun {
		if err := f.p.skipLine(256); err != nil {
			return err
		}
		f.begun = true
	}
	var line [len(before)]byte
	if err := f.p.read(line[:]); err != nil {
		return err
	}
	if string(line[:]) != before {
		return fmt.Errorf("%q instead of %q", line, before)
	}
	return nil
}

// Close ends the decoder, wherever it is.
func (f *Frames) Close() {
	if !f.done {
		f.p.stop()
	}
	f.done = true
}

// NewFrame returns a picture of the video, 4:2:0, whose planes lie behind each other as
// they do in a stream.
func (v *Video) NewFrame() *image.YCbCr {
	luma := v.Width * v.Height
	b := make([]byte, luma+luma/2)
	return &image.YCbCr{
		Y: b[:luma], Cb: b[luma : luma+luma/4], Cr: b[luma+luma/4:],
		YStride: v.Width, CStride: v.Width / 2, SubsampleRatio: image.YCbCrSubsampleRatio420,
		Rect: image.Rect(0, 0, v.Width, v.Height),
	}
}

// Bytes returns all planes of a frame that NewFrame made.
func Bytes(frame *image.YCbCr) []byte {
	return frame.Y[:len(frame.Y)+len(frame.Cb)+len(frame.Cr)]
}

// span is which frames to decode: from to to-1.
type span struct {
	from, to int
	seek     bool // start near from instead of at the beginning
}

// seekMargin is how long before the wanted frame decoding starts, in seconds,
// beside what the file's key frames ask for: deinterlacing looks back, and
// indexes count in decoding order.
const seekMargin = 1.

func decodeArgs(t *Tools, in *Info, s span) []string {
	v := in.Video
	// Encoding, which runs beside it, takes five times as long, and one thread less
	// is less work.
	args := inputArgs(in, max(1, t.Threads/2))
	if t.NVIDIA { // what it can't decode, ffmpeg decodes itself
		args = append(args, "-hwaccel", "cuda")
	}
	if decoder := v.decoder(); decoder != "" {
		args = append(args, "-c:v", decoder)
	}
	if at := float64(s.from)/v.Rate.Float() - seekMargin; s.seek && at > 0 {
		at += float64(v.start) * v.timeBase.Float()
		args = append(args, "-seek_timestamp", "1", "-noaccurate_seek", "-ss", strconv.FormatFloat(at, 'f', 6, 64))
	}
	return append(args, "-i", "file:"+in.Path, "-map", "0:"+strconv.Itoa(v.index), "-an", "-sn", "-dn",
		"-vf", v.filters(s), "-fps_mode", "passthrough", "-frames:v", strconv.Itoa(s.to-s.from),
		// Not rawvideo, for which ffmpeg makes another copy of each picture.
		"-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "pipe:1")
}

// inputArgs are what every decoder of a stranger's file gets before its -i.
// Times stay as they are in the file, so that those after a seek agree. Damaged
// pictures are no reason to fail: the others are still there.
func inputArgs(in *Info, threads int) []string {
	return []string{"-v", "error", "-nostdin", "-max_error_rate", "1", "-copyts", "-protocol_whitelist", "file", "-f", in.Format,
		"-threads", strconv.Itoa(threads), "-max_pixels", strconv.Itoa(maxPixels)}
}

// decoder names the decoder to use where ffmpeg's first choice drops the alpha
// channel.
func (v *Video) decoder() string {
	switch {
	case v.alpha && v.codec == "vp9":
		return "libvpx-vp9"
	case v.alpha && v.codec == "vp8":
		return "libvpx"
	}
	return ""
}

// filters turn decoded pictures into the frames that OpenFrames promises.
// ffmpeg itself turns them upright before.
func (v *Video) filters(s span) string {
	chain := []string{"setpts=PTS-STARTPTS"}
	if s.seek {
		chain[0] = fmt.Sprintf("setpts=PTS-(%d)", v.start)
	}
	if v.interlaced {
		chain = append(chain, "bwdif=mode=send_frame:deint=interlaced")
	}
	chain = append(chain, "fps="+v.Rate.String())
	if s.from > 0 || s.seek {
		chain = append(chain, fmt.Sprintf("trim=start_pts=%d:end_pts=%d", s.from, s.to))
	}
	chain = append(chain, v.colourFilters()...)
	return strings.Join(append(chain,
		"crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0",
		fmt.Sprintf("scale=%d:%d", v.Width, v.Height),
		"format=yuv420p"), ",")
}

// colourFilters bring any kind of pixels to 8 bits of limited range over black.
func (v *Video) colourFilters() []string {
	var chain []string
	if v.alpha {
		chain = append(chain, "premultiply=inplace=1")
	}
	switch {
	case v.hdr():
		// 100 cd/m² is the white of SDR; values above it roll off.
		chain = append(chain,
			"zscale=tin="+v.transfer+":pin=bt2020:min=bt2020nc:t=linear:npl=100", "format=gbrpf32le",
			"zscale=p=bt709", "tonemap=hable:desat=0", "zscale=t=bt709:m=bt709:r=tv")
	case v.rgb:
		chain = append(chain, "scale=out_color_matrix=bt709:out_range=tv", "format=yuv420p")
	case v.fullRange:
		chain = append(chain, "scale=in_range=pc:out_range=tv", "format=yuv420p")
	}
	return chain
}

func (v *Video) hdr() bool { return v.transfer == "smpte2084" || v.transfer == "arib-std-b67" }
