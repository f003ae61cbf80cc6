package medium

import (
	"image"
	"regexp"

	"lipsync/internal/domain/order"
)

// PixelFormat says how the pixels of frames lie in memory: planes of luma, of the two chromas and perhaps of alpha follow
// each other without padding. A value has a byte, or two with the lower one first. It has the limited range.
type PixelFormat int

// The pixel formats. Their names are those of ffmpeg.
const (
	YUV420P    PixelFormat = iota // what engines see
	YUVA420P                      // 8 bits with alpha
	YUV420P10                     // 10 bits
	YUV422P10                     // 10 bits
	YUVA444P10                    // 10 bits with alpha
)

var pixelFormats = []struct {
	name   string
	deep   bool
	hx, hy int // see Halvings
	alpha  bool
}{
	{"yuv420p", false, 1, 1, false},
	{"yuva420p", false, 1, 1, true},
	{"yuv420p10le", true, 1, 1, false},
	{"yuv422p10le", true, 1, 0, false},
	{"yuva444p10le", true, 0, 0, true},
}

func (f PixelFormat) String() string { return pixelFormats[f].name }

// Deep reports whether values have 10 bits, in two bytes.
func (f PixelFormat) Deep() bool { return pixelFormats[f].deep }

// Alpha reports whether frames have a plane of alpha.
func (f PixelFormat) Alpha() bool { return pixelFormats[f].alpha }

// Halvings returns how often the planes of chroma are halved in width and in height.
func (f PixelFormat) Halvings() (x, y int) { return pixelFormats[f].hx, pixelFormats[f].hy }

// size returns the number of bytes of a frame.
func (f PixelFormat) size(width, height int) int {
	x, y := f.Halvings()
	values := width*height + 2*(width>>x)*(height>>y)
	if f.Alpha() {
		values += width * height
	}
	if f.Deep() {
		values *= 2
	}
	return values
}

// FrameSize returns the number of bytes of a frame in v.Pixels.
func (v *Video) FrameSize() int { return v.Pixels.size(v.Width, v.Height) }

// Picture returns a frame as a picture whose pixels are the frame's own. The values of the frame have 8 bits.
func (v *Video) Picture(frame []byte) image.YCbCr {
	luma := v.Width * v.Height
	return image.YCbCr{
		Y: frame[:luma], Cb: frame[luma : luma+luma/4], Cr: frame[luma+luma/4 : luma+luma/2],
		YStride: v.Width, CStride: v.Width / 2, SubsampleRatio: image.YCbCrSubsampleRatio420,
		Rect: image.Rect(0, 0, v.Width, v.Height),
	}
}

// Keep returns the pixel format in which an output keeps the video's values of more than 8 bits, its high dynamic range and its alpha,
// as far as its format and codec can. VP9 has alpha in WebM only, and with 8 bits.
func (v *Video) Keep(o order.Output) PixelFormat {
	deep := v.deep || v.HDR()
	switch codec := o.VideoCodec(); {
	case codec == order.ProRes && v.alpha:
		return YUVA444P10
	case codec == order.ProRes && deep:
		return YUV422P10
	case codec == order.VP9 && v.alpha && o.Format == order.WebM:
		return YUVA420P
	case (codec == order.VP9 || codec == order.HEVC) && deep:
		return YUV420P10
	}
	return YUV420P
}

// HDR reports whether the video has a high dynamic range, by PQ or HLG.
func (v *Video) HDR() bool { return v.transfer == pq || v.transfer == hlg }

// ffmpeg's names of the transfer functions of a high dynamic range (Rec. ITU-R BT.2100).
const pq, hlg = "smpte2084", "arib-std-b67"

// Transfer is the transfer function of a video's values.
type Transfer int

// The transfer functions. SDR is any of a standard dynamic range.
const (
	SDR Transfer = iota
	PQ
	HLG
)

// Transfer returns the transfer function of the frames in v.Pixels.
func (v *Video) Transfer() Transfer {
	switch {
	case v.Pixels.Deep() && v.transfer == pq:
		return PQ
	case v.Pixels.Deep() && v.transfer == hlg:
		return HLG
	}
	return SDR
}

// LosesHDR reports whether the video has a high dynamic range, and its frames in v.Pixels don't.
func (v *Video) LosesHDR() bool { return v.HDR() && v.Transfer() == SDR }

// Alpha reports whether the video has alpha.
func (v *Video) Alpha() bool { return v.alpha }

// LosesAlpha reports whether the video has alpha, and its frames in v.Pixels don't.
func (v *Video) LosesAlpha() bool { return v.alpha && !v.Pixels.Alpha() }

// deepFormats matches ffmpeg's names of pixel formats whose values have more than 8 bits.
var deepFormats = regexp.MustCompile(`(p|gray|ya|xyz|p0|p2|p4|y2|nv2|x2rgb|x2bgr)(0|9|1[0-6])(le|be)?$|(yuv|rgb|bgr)a?(48|64)|f32`)
