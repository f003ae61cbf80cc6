package medium

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostDelay is the longest time that a file of sound may be silent at first because of its times. Those of a part of a longer recording may be
// those of that recording.
const mostDelay = 10 * time.Minute

// line sets where the time line of a file lies, and what is on it. Pictures, sound, previews and segments all count from its begin.
//
// The time line begins with the first stream. But an M4A or MOV of only sound is silent until its sound begins: its edit list says so, as
// editors export a voice that begins later. If the pictures begin later than the sound, their first one is shown before,
// in whole frames; the time line begins up to a frame later for that.
func (r *report) line(in *Info, audio stream) {
	start, err := strconv.ParseFloat(r.Format.Start, 64)
	if err != nil && in.Video != nil {
		start = in.Video.begin().Seconds()
	}
	begin := start
	if in.Video == nil && in.Unusable == nil && in.Format == "mov" && start <= mostDelay.Seconds() {
		begin = min(0, start)
	}
	if v := in.Video; v != nil {
		const exact = 1e-3 // of a frame; less than that is an error of rounding
		first := v.begin().Seconds()
		v.lead = max(0, math.Floor((first-begin)*v.Rate.Float()+exact)) / v.Rate.Float()
		begin = first - v.lead
		if v.Stated > 0 {
			v.Stated += time.Duration(v.lead * float64(time.Second))
		}
	}
	if base, ok := ParseRate(audio.TimeBase); ok && in.Format == "mpegts" { // ffmpeg gives 0 to the first packet of what it decodes
		start = float64(audio.Start) * base.Float()
	}
	in.Zero = start - begin
	if in.Audio != nil && !exactSound(audio.Codec) {
		in.Audio.Until = r.until(in, audio, begin)
	}
}

// begin returns the time of the first picture.
func (v *Video) begin() time.Duration {
	return time.Duration(float64(v.start) * v.timeBase.Float() * float64(time.Second))
}

// exactSound reports whether a codec of sound appends nothing.
func exactSound(codec string) bool {
	return strings.HasPrefix(codec, "pcm_") || slices.Contains([]string{"flac", "alac", "wavpack", "opus"}, codec)
}

// until returns where the sound of a file ends, for a codec that appends padding: where MP4 states it, but not later than the pictures if
// only padding follows them.
func (r *report) until(in *Info, audio stream, begin float64) (end time.Duration) {
	if stated := parseSeconds(audio.Duration); in.Format == "mov" && stated > 0 {
		base, _ := ParseRate(audio.TimeBase)
		end = stated + time.Duration((float64(audio.Start)*base.Float()-begin)*float64(time.Second))
	}
	v := in.Video
	if v == nil || v.Stated == 0 {
		return end
	}
	pictures := time.Duration(math.Round(v.Stated.Seconds()*v.Rate.Float()) / v.Rate.Float() * float64(time.Second))
	padding := paddingBlocks * time.Second / time.Duration(in.Audio.SampleRate)
	if end == 0 || end > pictures && end <= pictures+padding {
		return pictures
	}
	return end
}
