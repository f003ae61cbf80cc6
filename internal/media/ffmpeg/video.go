package ffmpeg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/media/sandbox"
)

// Frames are the frames of a video, one after the other.
type Frames interface {
	// Read fills a frame that NewFrame made with the next one, if the video's pixel format is YUV420P. After the last it returns io.EOF.
	Read(frame *image.YCbCr) error
	// ReadPixels fills a frame of the video's pixel format with the next one. After the last it returns io.EOF.
	ReadPixels(frame []byte) error
	// Close stops the decoder.
	Close()
}

// decoding decodes frames.
type decoding struct {
	p       *process
	colours *watch
	skip    int  // number of frames before the first one to return
	begun   bool // the stream's header has been read
	raw     bool // the stream is nothing except the frames
	done    bool
}

// OpenFrames starts to decode the video from its beginning, or from in.Begin, for at most most frames. If
// it seeks to in.Begin, it may fail as OpenFramesAt does.
func (t *Tools) OpenFrames(ctx context.Context, in *Info, most int) (Frames, error) {
	first := in.First()
	if first > 0 && !in.NoSeek {
		return t.openFrames(ctx, in, span{from: first, to: first + most, seek: true}, 0)
	}
	return t.openFrames(ctx, in, span{to: first + most}, first)
}

// OpenFramesAt starts to decode the frames numbered from from to to-1, as OpenFrames counts them. It is
// fast because it seeks. But if a file has no good index, or its times are wrong, it may return other
// frames, or none. The caller must check.
func (t *Tools) OpenFramesAt(ctx context.Context, in *Info, from, to int) (Frames, error) {
	first := in.First()
	return t.openFrames(ctx, in, span{from: first + from, to: first + to, seek: true}, 0)
}

// First returns the number of the frame at in.Begin, counted from the beginning of the file.
func (in *Info) First() int {
	return int(math.Round(in.Begin.Seconds() * in.Video.Rate.Float()))
}

// openFrames starts to decode the frames of a span, and skips the first ones.
func (t *Tools) openFrames(ctx context.Context, in *Info, s span, skip int) (Frames, error) {
	p, theirs, err := newReader(ctx, t.FFmpeg, decodeArgs(t, in, s))
	if err != nil {
		return nil, err
	}
	colours := newWatch(in.Video, &p.stderr)
	p.cmd.Stderr = colours
	if p, err = p.start(t, sandbox.Files{Read: []string{in.Path}}, theirs, t.pictureMemory(in.Video)); err != nil {
		return nil, err
	}
	return &decoding{p: p, colours: colours, skip: skip, raw: in.Video.raw()}, nil
}

// pictureMemory returns the memory limit of a process that decodes pictures, in bytes. The conversion of
// HDR needs the most: 190 bytes a pixel. The rest is for threads and for tables of the file.
func (t *Tools) pictureMemory(v *Video) uint64 {
	const file, thread, pixel = 1 << 30, 24 << 20, 320
	return min(memorySize, file+thread*uint64(t.Threads)+pixel*uint64(v.coded[0]*v.coded[1]))
}

func (f *decoding) Read(frame *image.YCbCr) error { return f.ReadPixels(Bytes(frame)) }

func (f *decoding) ReadPixels(frame []byte) error {
	for ; f.skip > 0; f.skip-- {
		if err := f.read(frame); err != nil {
			return err
		}
	}
	return f.read(frame)
}

func (f *decoding) read(frame []byte) error {
	err := f.next()
	if err == nil {
		if err = f.p.read(frame); err == io.EOF && !f.raw {
			err = io.ErrUnexpectedEOF
		}
	}
	if err == io.EOF {
		f.done = true
		if err := cmp.Or(f.p.wait(), f.colours.err()); err != nil {
			return err
		}
		return io.EOF
	}
	if changed := f.colours.err(); changed != nil {
		return changed
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		f.done = true
		err = f.p.late(err, stallTime)
	}
	if err == io.ErrUnexpectedEOF { // the decoder's error tells the reason
		f.done = true
		err = errors.Join(err, f.p.wait())
	}
	if err != nil {
		return fmt.Errorf("read frame: %w", err)
	}
	return nil
}

// next reads the line that precedes a picture in a stream of YUV4MPEG2. Before the first
// picture it skips another line, with the format, which Probe has found already.
func (f *decoding) next() error {
	if f.raw {
		return nil
	}
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
		return fmt.Errorf("got %q, want %q", line, before)
	}
	return nil
}

func (f *decoding) Close() {
	if !f.done {
		f.p.stop()
	}
	f.done = true
}

// NewFrame returns an empty 4:2:0 picture of the video. Its planes follow each other in memory, as
// in a stream.
func (v *Video) NewFrame() *image.YCbCr {
	picture := v.Picture(make([]byte, YUV420P.size(v.Width, v.Height)))
	return &picture
}

// Bytes returns all planes of a frame that NewFrame made.
func Bytes(frame *image.YCbCr) []byte {
	return frame.Y[:len(frame.Y)+len(frame.Cb)+len(frame.Cr)]
}

// span is a range of frames to decode: from from to to-1.
type span struct {
	from, to int
	seek     bool // seek close to from instead of starting at the beginning
}

// seekMargin is a time in seconds. Decoding starts so long before the first wanted frame, because
// deinterlacing reads earlier frames, and some indexes are in decoding order. ffmpeg itself goes back
// to a key frame.
const seekMargin = 1.

func decodeArgs(t *Tools, in *Info, s span) []string {
	v := in.Video
	// Encoding runs at the same time and takes five times as long. Fewer decoder threads mean less
	// overhead.
	args := slices.Concat(watchedArgs, inputArgs(in, max(1, t.Threads/2)), ownColours)
	if decoder := v.decoder(); decoder != "" {
		args = append(args, "-c:v", decoder)
	}
	args = append(args, "-noautorotate", "-reinit_filter", "0")
	if s.seek { // the times are the same after a seek
		args = append(args, "-copyts")
	}
	if at, ok := v.seekTo(s); ok {
		args = append(args, "-seek_timestamp", "1", "-noaccurate_seek", "-ss", strconv.FormatFloat(at, 'f', 6, 64))
	}
	return append(args, "-i", "file:"+in.Path, "-map", "0:"+strconv.Itoa(v.index), "-an", "-sn", "-dn",
		"-vf", v.filters(s), "-fps_mode", "passthrough", "-frames:v", strconv.Itoa(s.to-s.from),
		"-pix_fmt", v.Pixels.String(), "-f", map[bool]string{true: "rawvideo", false: "yuv4mpegpipe"}[v.raw()], "pipe:1")
}

// seekTo returns the time of the file, in seconds, to which a decoder of a span seeks. It returns false if it begins at the beginning.
func (v *Video) seekTo(s span) (float64, bool) {
	at := float64(s.from)/v.Rate.Float() - v.lead - seekMargin
	return at + v.begin().Seconds(), s.seek && at > 0
}

// raw reports whether ffmpeg writes the frames as rawvideo. It makes one more copy of each picture for that, but YUV4MPEG2 doesn't have
// all pixel formats.
func (v *Video) raw() bool { return v.Pixels != YUV420P }

// inputArgs returns the arguments before -i of every decoder of an untrusted file. They ignore damaged pictures, since the
// others are usable.
func inputArgs(in *Info, threads int) []string {
	return []string{"-nostdin", "-max_error_rate", "1", "-protocol_whitelist", "file", "-f", in.Format,
		"-threads", strconv.Itoa(threads), "-max_pixels", strconv.Itoa(maxPixels)}
}

// decoder returns the decoder to use if ffmpeg's default drops the alpha channel, or "".
func (v *Video) decoder() string {
	switch {
	case v.alpha && v.codec == "vp9":
		return "libvpx-vp9"
	case v.alpha && v.codec == "vp8":
		return "libvpx"
	}
	return ""
}

// filters returns the filters that turn decoded pictures into frames of the size and rate of v.
//
// Pictures may change their size, shape, pixel format or range in the middle. Of these filters, only scale, pad and those of time allow that;
// so the others get pictures that scale has made alike. A filter graph that began again at each change would lose a frame.
func (v *Video) filters(s span) string {
	begin, rate := "STARTPTS", "fps="+v.Rate.String()
	if s.seek {
		begin = fmt.Sprintf("(%d)", v.start)
	}
	chain := []string{"setpts=PTS-" + begin, watched}
	if v.lead > 0 {
		chain[0] += fmt.Sprintf("+%g/TB", v.lead)
		if _, seeks := v.seekTo(s); !seeks {
			rate += ":start_time=0"
		}
	}
	switch { // all pictures get one name; the filter scale of ffmpeg 7 refuses those of matrices that it can't convert
	case v.converts():
		chain = append(chain, "setparams=colorspace=bt709")
	case v.matrix != v.fileMatrix:
		chain = append(chain, "setparams=colorspace="+v.matrix)
	}
	odd := (v.coded[0]|v.coded[1])&1 != 0
	if v.interlaced || odd || v.turned != nil || v.LosesAlpha() || v.LosesHDR() || v.converts() || v.Pixels.Deep() {
		w, h := v.coded[0], v.coded[1]
		if v.quarter {
			w, h = h, w
		}
		chain = append(chain, fmt.Sprintf("scale=%d:%d", w, h))
	}
	if v.interlaced {
		chain = append(chain, "bwdif=mode=send_frame:deint=interlaced")
	}
	chain = append(chain, v.turned...)
	if v.KeepsLast {
		rate += ":eof_action=pass"
	}
	chain = append(chain, rate)
	if s.from > 0 || s.seek {
		chain = append(chain, fmt.Sprintf("trim=start_pts=%d:end_pts=%d", s.from, s.to))
	}
	if odd {
		chain = append(chain, "crop=trunc(iw/2)*2:trunc(ih/2)*2:0:0")
	}
	chain = append(chain, v.colourFilters()...)
	if v.Pixels.Deep() { // a raw video may have values of more than 10 bits in its two bytes
		chain = append(chain, "limiter")
	}
	return strings.Join(append(chain, v.fit()...), ",")
}

// fit returns the filters that make pictures of any shape as large as frames, with bars beside those whose shape differs from that of the
// first by more than a hundredth, and give them its matrix.
func (v *Video) fit() []string {
	const alike = "lt(abs(dar/%[2]g-1),.01)"
	return []string{
		fmt.Sprintf("scale=w='if("+alike+",%[1]d,2*trunc(min(%[1]d,%[1]d*dar/%[2]g)/2+.5))'", v.Width, v.shape) +
			fmt.Sprintf(":h='if("+alike+",%[1]d,2*trunc(min(%[1]d,%[1]d*%[2]g/dar)/2+.5))'", v.Height, v.shape) + ":eval=frame:out_range=tv" + v.sameMatrix(),
		"format=" + v.Pixels.String(),
		fmt.Sprintf("pad=%d:%d:(ow-iw)/2:(oh-ih)/2:eval=frame", v.Width, v.Height),
	}
}
