package ffmpeg

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// qualities has the values of each codec in the qualities high, medium and low: the crf of its encoder, or the profile of ProRes.
//
// Those of H.264 are 14, see EncoderArgs, and two steps of 6, each of which halves the file. Those of HEVC
// and VP9 were chosen so that the pictures are as near to the source, by the PSNR of luma in 50 frames of
// talking_man.mp4 and 40 of woman.mp4 (see testing.md). H.264 has 51.1 and 49.5 dB in high, 47.5 and 46.5 in
// medium, 43.8 and 42.8 in low; the others have within .4 dB of that, in .54 to 1.07 times the bytes. ProRes
// has 59.6 and 56.1 dB as 422 HQ, 56.2 and 52.6 as 422, and 46.8 and 44.0 as 422 Proxy.
var qualities = map[order.Codec][3]float64{
	order.H264:   {14, 20, 26},
	order.HEVC:   {15, 22, 30},
	order.VP9:    {10, 25, 38},
	order.ProRes: {3, 2, 0},
}

const (
	// mostOfSource is how many times the bits of its source an output takes. A new encoding of the same size would lose more.
	mostOfSource = 1.5
	// unseen is the crf of H.264 up to which hardly anyone sees a loss: see FFmpeg's "H.264 Video Encoding Guide". At 21 the line
	// between lips and the edges of teeth were blurred in talking_man.mp4, and at 18 they were as at 14.
	unseen = 18
	// dense is how many times the bits of HEVC, VP9 or AV1 H.264 needs: see Tan and others, "Video Quality Evaluation Methodology and
	// Verification Testing of HEVC Compression Performance" (IEEE TCSVT 26, 2016).
	dense = 2
	// sampleCRF is the crf of samples in H.264, as far as the output's quality lets it be one. It is x264's own default.
	sampleCRF = 23
	// halving is by how much the crf of x264 rises where the bits halve: 4.9 from 14 on and 5.7 up to 26, in talking_man.mp4 and woman.mp4.
	halving = 5.4
)

// level returns the index of a quality in qualities.
func level(q order.Quality) int { return max(0, int(q-order.High)) }

// h264CRF returns the crf in H.264 for frames of v in the output o. It is that of o's quality, or of a lower one if v.CRF says that
// the source has no more: down to unseen for the quality source, and to low for medium.
func h264CRF(v *medium.Video, o order.Output) float64 {
	scale := qualities[order.H264]
	crf, most := scale[level(o.Quality)], scale[2]
	switch o.Quality {
	case order.Source:
		most = unseen
	case order.High:
		most = crf
	}
	return min(max(crf, float64(v.CRF)), most)
}

// qualityOf returns the value of the encoder for frames of v in the output o.
func qualityOf(v *medium.Video, o order.Output) int {
	codec, scale := o.VideoCodec(), qualities[order.H264]
	values := qualities[codec]
	if codec == order.ProRes {
		return int(values[level(o.Quality)])
	}
	crf, i := h264CRF(v, o), 0
	if crf > scale[1] {
		i = 1
	}
	return int(math.Round(values[i] + (values[i+1]-values[i])*(crf-scale[i])/(scale[i+1]-scale[i])))
}

// mostSampled is the number of pixels of the largest frames of samples, those of 4K. x264 takes 55 bytes for each, while the first pass takes its own.
const mostSampled = 4096 * 2160

// Sample returns the video and the output for encodings of samples of an output: see CRFOf. ok is false if there can be none.
func Sample(v *medium.Video, o order.Output) (video *medium.Video, output order.Output, ok bool) {
	sampled := *v
	sampled.CRF = sampleCRF
	output.Codec, output.Quality = o.VideoCodec(), o.Quality
	return &sampled, output, output.Codec != order.ProRes && !v.Pixels.Alpha() && v.Width*v.Height <= mostSampled // MP4 has neither ProRes nor alpha
}

// CountBits returns how many bits a second of a video's pictures has in the file, which CRFOf needs, or 0 if the file doesn't tell. Unless Probe knows,
// it reads the sizes of the packets of at most most frames from in.Begin on, without decoding them: little for a short preview of a long file. It returns no error of a file that is damaged or in which ffprobe can't seek, nor of an ffprobe that stalls: the packets before it tell
// the mean as well, and without any the output only isn't bounded by the file's bits.
func (t *Tools) CountBits(ctx context.Context, in *medium.Info, most int) (bits float64, err error) {
	v := in.Video
	if v.Bits > 0 || in.Still {
		return v.Bits, nil
	}
	p, err := t.startReader(ctx, t.FFprobe, in.PacketArgs(most), sandbox.Files{Read: []string{in.Path}}, probeMemory)
	if err != nil {
		return 0, err
	}
	var bytes, packets int64
	first, last := math.Inf(1), math.Inf(-1)
	lines := bufio.NewScanner(p)
	for lines.Scan() {
		at, size, _ := strings.Cut(strings.TrimRight(lines.Text(), ","), ",")
		n, err := strconv.ParseInt(size, 10, 64)
		if err != nil { // side data has lines of its own
			continue
		}
		bytes, packets = bytes+n, packets+1
		if at, err := strconv.ParseFloat(at, 64); err == nil {
			first, last = min(first, at), max(last, at)
		}
	}
	if lines.Err() != nil {
		p.stop()
	} else if err = p.wait(); err != nil && (ctx.Err() != nil || OfMachine(err)) {
		return 0, fmt.Errorf("count the bits of a video: %w", err)
	}
	if packets == 0 {
		return 0, nil
	}
	rate := v.Rate.Float()
	if last > first { // pictures that come unevenly are fewer than frames
		rate = min(rate, float64(packets-1)/(last-first))
	}
	return 8 * float64(bytes) / float64(packets) * rate, nil
}

// keyEvery is the distance of the key frames in outputs of x264 and x265.
const keyEvery = 250

// CRFOf returns the crf in H.264 with which an output of frames of v takes mostOfSource times the bits that a second of the file's pictures has: see
// CountBits. sample is a file as Sample says, of parts of the video. It returns 0 if the sample is empty.
// Pictures of another size need bits as their area to the power of .75: see Jan Ozer, "The Power of .75 Rule" (Streaming Learning Center, 2014).
func CRFOf(v *medium.Video, o order.Output, sample string, bits float64) (int, error) {
	sizes, err := container.PacketSizes(sample)
	if err != nil || len(sizes) == 0 {
		return 0, err
	}
	most := mostOfSource * bits * math.Pow(float64(v.Width*v.Height)/float64(v.Coded[0]*v.Coded[1]), .75)
	if o.VideoCodec() == order.H264 && slices.Contains([]string{"hevc", "vp9", "av1", "vvc"}, v.Codec) {
		most *= dense
	}
	takes := 8 * (mean(sizes[1:]) + float64(sizes[0])/keyEvery) * v.Rate.Float() // the first is a key frame
	sampled := medium.Video{CRF: sampleCRF}
	return max(1, int(math.Ceil(h264CRF(&sampled, o)+halving*math.Log2(takes/most)))), nil
}

// mean returns the mean of numbers, 0 of none.
func mean(all []uint32) (m float64) {
	for _, n := range all {
		m += float64(n) / float64(len(all))
	}
	return m
}

// block returns the side of x265's largest blocks of pixels. No picture may be smaller than one. Pictures of less than 16 pixels show
// no face, so none is encoded.
func block(v *medium.Video) int {
	for _, side := range []int{64, 32} {
		if min(v.Width, v.Height) >= side {
			return side
		}
	}
	return 16
}
