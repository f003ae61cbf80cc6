package ffmpeg

import (
	"lipsync/internal/domain/order"
)

// qualities has the values of each codec from high to low: the crf of its encoder, or the profile of ProRes.
//
// Those of H.264 are 14, see EncoderArgs, and two steps of 6, each of which halves the file. Those of HEVC
// and VP9 were chosen so that the pictures are as near to the source, by the PSNR of luma in 50 frames of
// talking_man.mp4 and 40 of woman.mp4 (see testing.md). H.264 has 51.1 and 49.5 dB in high, 47.5 and 46.5 in
// medium, 43.8 and 42.8 in low; the others have within .4 dB of that, in .54 to 1.07 times the bytes. ProRes
// has 59.6 and 56.1 dB as 422 HQ, 56.2 and 52.6 as 422, and 46.8 and 44.0 as 422 Proxy.
var qualities = map[order.Codec][]string{
	order.H264:   {"14", "20", "26"},
	order.HEVC:   {"15", "22", "30"},
	order.VP9:    {"10", "25", "38"},
	order.ProRes: {"3", "2", "0"},
}

// block returns the side of x265's largest blocks of pixels. No picture may be smaller than one. Pictures of less than 16 pixels show
// no face, so none is encoded.
func block(v *Video) int {
	for _, side := range []int{64, 32} {
		if min(v.Width, v.Height) >= side {
			return side
		}
	}
	return 16
}
