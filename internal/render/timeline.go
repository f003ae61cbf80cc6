package render

import (
	"cmp"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg"
	"lipsync/internal/render/engine"
	"lipsync/internal/render/footage"
	"lipsync/internal/render/intake"
	"lipsync/internal/render/people"
)

// timeline returns the timeline of the output. It fails if the options don't allow an output of these media.
func (in input) timeline(seen observation) (line footage.Timeline, err error) {
	if line, err = in.timelineFor(seen.shown, seen.cuts); err != nil || in.job.Options.NoFace != order.FailFaceless {
		return line, err
	}
	face := seen.Largest()
	for o := range line.Frames {
		if i := line.Source(o); face(i) < 0 && (len(in.job.Segments) == 0 || in.segmentAt(o) != nil) {
			f := failure.Failure{Code: failure.FaceMissing}
			f.Value.Seconds = (in.video.Begin + in.length(i)).Seconds()
			return line, f.Because(nil)
		}
	}
	return line, nil
}

// timelineFor returns the timeline for a video of a number of frames, in some of which shots begin. It fails if the options don't allow an output of
// these lengths.
func (in input) timelineFor(source int, cuts []int) (line footage.Timeline, err error) {
	mode := in.job.Options.SyncMode
	switch {
	case in.video.Still: // it has no length, so each mode shows it as long as somebody speaks
		mode = order.Bounce
	case mode == order.Pad && source > in.mostOutput():
		return line, in.limits.TooLong(failure.Video, in.video.Duration)
	case mode == order.Remap && max(source, in.spoken()) > order.MostSpeed*min(source, in.spoken()):
		return line, in.tooFast(source)
	}
	speech := in.spoken()
	if len(in.job.Segments) > 0 {
		if part := in.job.Options.Preview.Length; part == 0 || source < in.framesOf(part) {
			if err := in.checkSegments(in.video.Begin + in.length(source)); err != nil {
				return line, err
			}
		}
		if !in.video.Still {
			speech = source // the output is as long as the video
		}
	}
	return footage.NewTimeline(mode, source, speech, cuts), nil
}

// tooFast returns the failure of a video that would have to play too fast or too slowly. If the video is long, not all of its
// frames were decoded. Then the speed comes from the length that the file states, and it is not known if the file states none.
func (in input) tooFast(source int) error {
	v := in.video.Video
	f := failure.Failure{Code: failure.SpeedOutOfRange}
	f.Limit.Speed, f.Value.Speed = order.MostSpeed, float64(source)/float64(in.spoken())
	if source > in.spoken() {
		f.Value.Speed = 0
		part := cmp.Or(in.job.Options.Preview.Length, in.limits.Duration)
		if stated := int(min(part, cmp.Or(v.Stated, in.video.Duration)-in.video.Begin).Seconds() * v.Rate.Float()); stated > 0 {
			f.Value.Speed = float64(max(source, stated)) / float64(in.spoken())
		}
	}
	return f.Because(nil)
}

// most returns the largest number of source frames that the first pass needs.
func (in input) most() int {
	if in.video.Still {
		return 1
	}
	most := in.mostOf(in.job.Options.SyncMode)
	if part := in.job.Options.Preview.Length; part > 0 {
		most = min(most, in.framesOf(part))
	}
	return most
}

// limit returns the largest number of source frames that the first pass decodes. If the output needs at least three quarters of the length
// that a video states, the first pass analyses the whole video. So jobs whose speech tracks differ a little in length find out the same.
func (in input) limit() int {
	n := in.most()
	if in.video.Still || in.video.Begin > 0 || in.job.Options.Preview.Length > 0 {
		return n
	}
	if stated := in.framesOf(in.video.Duration); stated > 0 && 4*n >= 3*stated {
		return max(n, in.mostOutput()+1)
	}
	return n
}

// mostOf returns the largest number of source frames that a sync mode needs. In the modes that refuse a long video it is one more than
// they allow, which shows that the video is too long.
func (in input) mostOf(mode order.SyncMode) int {
	switch mode {
	case order.Pad:
		return in.mostOutput() + 1
	case order.Remap:
		return order.MostSpeed*in.spoken() + 1
	default:
		return in.spoken()
	}
}

// mostOutput returns the largest number of frames of an output: that of the longest speech track that the limits allow.
func (in input) mostOutput() int {
	return in.framesOf(in.limits.Duration)
}

// spoken returns the length of the speech track in frames.
func (in input) spoken() int {
	return in.video.Video.Rate.Frames(in.speech.Samples, ffmpeg.PCMRate)
}

// framesOf returns the number of frames for a sound of a length.
func (in input) framesOf(length time.Duration) int {
	return in.video.Video.Rate.Frames(int64(length.Seconds()*ffmpeg.PCMRate), ffmpeg.PCMRate)
}

// length returns how long a number of frames plays.
func (in input) length(frames int) time.Duration {
	return time.Duration(float64(frames) / in.video.Video.Rate.Float() * float64(time.Second))
}

// expected estimates the number of frames of the first pass.
func (in input) expected() int {
	n := int((in.video.Duration - in.video.Begin).Seconds() * in.video.Video.Rate.Float())
	if n <= 0 {
		n = in.spoken()
	}
	return min(n, in.limit())
}

// audioLength returns the length of the audio. For a preview it is the one that the file states, or at least what the preview needs.
func (in input) audioLength() time.Duration {
	audio := in.speech.Info.Begin + time.Duration(in.speech.Samples)*time.Second/ffmpeg.PCMRate
	if in.job.Options.Preview.Length > 0 { // the samples are a part of it
		audio = min(max(audio, in.speech.Info.Duration), in.limits.Duration)
	}
	return audio
}

// size returns the size of the job: see order.Estimate. source is the number of frames of the first pass, and output that of the output.
func (in input) size(source, output int) int64 {
	v := in.video.Video
	return int64(source+output) * int64(v.Width*v.Height) / 1000
}

// sourcePixels returns the number of pixels that are decoded for a frame at the rate of the output: those of all frames of the file that it replaces.
func (in input) sourcePixels() float64 {
	pixels := float64(in.given.Width * in.given.Height)
	if in.video.Still {
		return pixels
	}
	return pixels * in.given.Rate.Float() / in.video.Video.Rate.Float()
}

// mostBytes bounds outputs of ProRes in bytes, whose files are far larger than those of other codecs. The disk of a runner on AWS has space for
// one of them, or for one of order.MostSigned and its three copies while it is signed.
const mostBytes = 32 << 30

// proResBits has the bits of a pixel in each quality of ProRes. Apple's white paper (2022) gives 220, 147 and 45 Mbit/s for 1920 × 1080
// pixels and 29.97 frames/s.
var proResBits = map[order.Quality]float64{order.Source: 3.54, order.High: 3.54, order.Medium: 2.37, order.Low: .72}

// proRes4444Bits has the bits of a pixel in ProRes 4444, from the same paper: 330 Mbit/s. Alpha takes little more, unless it is noise.
const proRes4444Bits = 5.31

// highBits has the bits of a pixel in high quality of the other codecs; each quality below has half of them. Outputs of talking_man.mp4 have .08.
const highBits = .1

// space returns the bytes that the files of a job take on the disk at one time, beside its inputs: its output while it is made and as it is stored
// there, and its parts; stretches of frames that are played backward; and what is kept of one face in each frame of the source, which is usual. A
// crowd takes as much again for each face more.
func (in input) space(source, frames int) int64 {
	o, v := in.job.Options.Output, in.video.Video
	output, files := in.proResSize(frames), 1.
	if output == 0 {
		output = float64(frames) * float64(v.Width*v.Height) * highBits / 8 / float64(int(1)<<max(0, o.Quality-order.High))
	}
	if in.job.Stored {
		files++
	}
	switch {
	case in.job.Signed:
		files += 3
	case in.inPieces(frames):
		files++
	}
	size := files*output + float64(in.soundSpace(source, frames))
	if in.job.Options.SyncMode == order.Bounce && frames > source {
		size += 2 * min(footage.StretchSize, float64(source)*float64(v.FrameSize()))
	}
	kept := int64(source) * people.SizeOfSeen()
	if e, ok := in.engine.(engine.Scratcher); ok {
		kept += e.Scratch(source, frames)
	}
	return int64(size) + kept
}

// soundSpace returns the bytes that the files of sound take at one time: the speech and its segments, and a mix, which replaces the speech.
func (in input) soundSpace(source, frames int) int64 {
	speech := ffmpeg.SoundBytes(in.speech.Info.Audio, max(in.length(frames), in.length(in.spoken())))
	mix, scratch := in.mix(source, frames).Bytes()
	return max(speech, mix) + scratch + intake.SegmentBytes(in.job.Segments)
}

// crowds reports whether the disk has no space to keep so many frames of the video too.
func (in input) crowds(source int) bool {
	all := int64(source) * int64(in.video.Video.FrameSize())
	return all > footage.StretchSize || !in.job.Space.Spare(all)
}

// mostInPieces bounds the outputs of ProRes that are made in pieces, in bytes: for a moment the scratch folder has both the
// pieces and the joined file.
const mostInPieces = mostBytes / 2

// inPieces tells whether an output with a number of frames may be made in pieces.
func (in input) inPieces(frames int) bool {
	return in.job.Pieces != nil && in.proResSize(frames) <= mostInPieces
}

// proResSize returns the size in bytes of an output of ProRes of a number of frames, 0 of other codecs.
func (in input) proResSize(frames int) float64 {
	o, v := in.job.Options.Output, in.video.Video
	if o.VideoCodec() != order.ProRes {
		return 0
	}
	bits := proResBits[o.Quality]
	if v.Pixels.Alpha() {
		bits = proRes4444Bits
	}
	return float64(frames) * float64(v.Width*v.Height) * bits / 8
}

// checkSize returns an error if so many frames of the video and of the output are too much work, or if the output would be too large.
func (in input) checkSize(source, frames int) error {
	v := in.video.Video
	if all := (float64(source)*in.sourcePixels() + float64(frames)*float64(v.Width*v.Height)) / 1e9; all > in.limits.Gigapixels {
		f := failure.Failure{Code: failure.TooManyPixels}
		f.Limit.Gigapixels, f.Value.Gigapixels = in.limits.Gigapixels, all
		return f.Because(nil)
	}
	most := int64(mostBytes)
	if in.job.Signed {
		most = order.MostSigned
	}
	if in.proResSize(frames) <= float64(most) {
		return nil
	}
	f := failure.Failure{Code: failure.MediaLargerThan, Details: failure.Details{Kind: failure.OutputFile}}
	f.Limit.Bytes = most
	return f.Because(nil)
}
