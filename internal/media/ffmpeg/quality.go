package ffmpeg

import (
	"math"
	"slices"

	"lipsync/internal/domain/order"
)

// qualities has the values of each codec, from order.Source to order.Low: the crf of its encoder, or the profile of ProRes.
//
// Those of H.264 are 14, see EncoderArgs, and two steps of 6, each of which halves the file. Those of HEVC
// and VP9 were chosen so that the pictures are as near to the source, by the PSNR of luma in 50 frames of
// talking_man.mp4 and 40 of woman.mp4 (see testing.md). H.264 has 51.1 and 49.5 dB in high, 47.5 and 46.5 in
// medium, 43.8 and 42.8 in low; the others have within .4 dB of that, in .54 to 1.07 times the bytes. ProRes
// has 59.6 and 56.1 dB as 422 HQ, 56.2 and 52.6 as 422, and 46.8 and 44.0 as 422 Proxy.
var qualities = map[order.Codec][]string{
	order.H264:   {"14", "14", "20", "26"},
	order.HEVC:   {"15", "15", "22", "30"},
	order.VP9:    {"10", "10", "25", "38"},
	order.ProRes: {"3", "3", "2", "0"},
}

const (
	// mostOfSource bounds the bits of an output by those of its source. A new encoding of the same size would lose more.
	mostOfSource = 1.5
	// dense is how many times the bits of HEVC, VP9 or AV1 H.264 needs: see Tan and others, "Video Quality Evaluation Methodology and
	// Verification Testing of HEVC Compression Performance" (IEEE TCSVT 26, 2016).
	dense = 2
	// mostForMouth is the least bound in bits a pixel, for a mouth that speaks in a picture that stands still: an output of high
	// quality takes .1, and a mouth is at most a tenth of a picture.
	mostForMouth = .01
	// hoard is how many seconds of the bound an encoder may save in still parts, and spend in others. It begins with half of them.
	hoard = 2
)

// MostBits returns the most bits that a second of an output of frames of v takes, over some seconds. 0 means that nothing bounds them. A picture of another
// size than that of the video needs bits as its area to the power of .75: see Jan Ozer, "The Power of .75 Rule" (Streaming Learning Center, 2014).
func (v *Video) MostBits(o order.Output) int {
	codec := o.VideoCodec()
	if v.data == 0 || o.Quality == order.High || codec != order.H264 && codec != order.HEVC { // libvpx with a bound loses far more than the bound takes
		return 0
	}
	area := float64(v.Width * v.Height)
	most := mostOfSource * v.data / (v.lasts + hoard/2) * math.Pow(area/float64(v.coded[0]*v.coded[1]), .75)
	if codec == order.H264 && slices.Contains([]string{"hevc", "vp9", "av1", "vvc"}, v.codec) {
		most *= dense
	}
	return int(min(max(most, mostForMouth*area*v.Rate.Float()), math.MaxInt32/hoard))
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
