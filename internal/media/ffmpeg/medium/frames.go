package medium

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"
)

// First returns the number of the frame at in.Begin, counted from the beginning of the file.
func (in *Info) First() int {
	return int(math.Round(in.Begin.Seconds() * in.Video.Rate.Float()))
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

// Span is a range of frames to decode: from From to To-1.
type Span struct {
	From, To int
	Seek     bool // seek close to From instead of starting at the beginning
}

// seekMargin is a time in seconds. Decoding starts so long before the first wanted frame, because
// deinterlacing reads earlier frames, and some indexes are in decoding order. ffmpeg itself goes back
// to a key frame.
const seekMargin = 1.

// DecodeArgs returns ffmpeg's arguments that decode the frames of a span, by a number of threads. They come as Raw says, and a Watch reads the log.
func (in *Info) DecodeArgs(s Span, threads int) []string {
	v := in.Video
	args := slices.Concat(watchedArgs, in.InputArgs(threads), ownColours)
	if decoder := v.decoder(); decoder != "" {
		args = append(args, "-c:v", decoder)
	}
	args = append(args, "-noautorotate", "-reinit_filter", "0")
	if s.Seek { // the times are the same after a seek
		args = append(args, "-copyts")
	}
	if at, ok := v.seekTo(s); ok {
		args = append(args, "-seek_timestamp", "1", "-noaccurate_seek", "-ss", strconv.FormatFloat(at, 'f', 6, 64))
	}
	return append(args, "-i", "file:"+in.Path, "-map", "0:"+strconv.Itoa(v.index), "-an", "-sn", "-dn",
		"-vf", v.filters(s), "-fps_mode", "passthrough", "-frames:v", strconv.Itoa(s.To-s.From),
		"-pix_fmt", v.Pixels.String(), "-f", map[bool]string{true: "rawvideo", false: "yuv4mpegpipe"}[v.Raw()], "pipe:1")
}

// seekTo returns the time of the file, in seconds, to which a decoder of a span seeks. It returns false if it begins at the beginning.
func (v *Video) seekTo(s Span) (float64, bool) {
	at := float64(s.From)/v.Rate.Float() - v.lead - seekMargin
	return at + v.begin().Seconds(), s.Seek && at > 0
}

// Raw reports whether ffmpeg writes the frames as rawvideo. It makes one more copy of each picture for that, but YUV4MPEG2 doesn't have
// all pixel formats.
func (v *Video) Raw() bool { return v.Pixels != YUV420P }

// InputArgs returns the arguments before -i of every decoder of an untrusted file. They ignore damaged pictures, since the
// others are usable.
func (in *Info) InputArgs(threads int) []string {
	return []string{"-nostdin", "-max_error_rate", "1", "-protocol_whitelist", "file", "-f", in.Format,
		"-threads", strconv.Itoa(threads), "-max_pixels", strconv.Itoa(maxPixels)}
}

// decoder returns the decoder to use if ffmpeg's default drops the alpha channel, or "".
func (v *Video) decoder() string {
	switch {
	case v.alpha && v.Codec == "vp9":
		return "libvpx-vp9"
	case v.alpha && v.Codec == "vp8":
		return "libvpx"
	}
	return ""
}

// filters returns the filters that turn decoded pictures into frames of the size and rate of v.
//
// Pictures may change their size, shape, pixel format or range in the middle. Of these filters, only scale, pad and those of time allow that;
// so the others get pictures that scale has made alike. A filter graph that began again at each change would lose a frame.
func (v *Video) filters(s Span) string {
	begin, rate := "STARTPTS", "fps="+v.Rate.String()
	if s.Seek {
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
	odd := (v.Coded[0]|v.Coded[1])&1 != 0
	if v.interlaced || odd || v.turned != nil || v.LosesAlpha() || v.LosesHDR() || v.converts() || v.Pixels.Deep() {
		w, h := v.Coded[0], v.Coded[1]
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
	if s.From > 0 || s.Seek {
		chain = append(chain, fmt.Sprintf("trim=start_pts=%d:end_pts=%d", s.From, s.To))
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

// PacketArgs returns ffprobe's arguments that list the time and the size of each packet of the video, for most frames from in.Begin on.
func (in *Info) PacketArgs(most int) []string {
	return []string{"-v", "error", "-protocol_whitelist", "file", "-format_whitelist", strings.Join(formats(), ","),
		"-select_streams", strconv.Itoa(in.Video.index), "-read_intervals", in.interval(most), "-show_entries", "packet=pts_time,size", "-print_format", "csv=p=0",
		"-i", "file:" + in.Path}
}

// interval returns the part of the file that a decoder reads for most frames from in.Begin on, as ffprobe's option -read_intervals takes it.
func (in *Info) interval(most int) string {
	v, s := in.Video, Span{From: in.First(), Seek: !in.NoSeek}
	if at, seeks := v.seekTo(s); seeks {
		return fmt.Sprintf("%.6f%%+%.6f", at, seekMargin+float64(most)/v.Rate.Float())
	}
	return fmt.Sprintf("%%+%.6f", float64(s.From+most)/v.Rate.Float())
}
