package ffmpeg

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// ErrUnproved means that an output is not what was to be made.
var ErrUnproved = errors.New("the output is not what was to be made")

// Proof says what an output must have, besides what its video and its order say.
type Proof struct {
	Frames int
	Sound  time.Duration
}

// These are the errors of times that formats and codecs allow, in seconds.
const (
	tickError  = .0015 // WebM rounds times to milliseconds
	startError = .012  // WebM begins with the samples of Opus that players drop
	soundError = .025  // a block of a codec of sound
)

// Prove measures an output of frames of v by its packets, without decoding them. The error is ErrUnproved, with all that disagrees.
func (t *Tools) Prove(ctx context.Context, v *medium.Video, o order.Output, want Proof, path string) error {
	p, err := t.startReader(ctx, t.FFprobe, []string{"-v", "error", "-protocol_whitelist", "file", "-f", demuxer(o.Format),
		"-print_format", "compact", "-show_entries", "packet=stream_index,pts,duration:stream=index,codec_name,codec_type,codec_tag_string," +
			"width,height,sample_aspect_ratio,color_range,color_space,color_transfer,color_primaries,avg_frame_rate,time_base:stream_tags=alpha_mode,ALPHA_MODE",
		"-i", "file:" + path}, sandbox.Files{Read: []string{path}}, memorySize)
	if err != nil {
		return err
	}
	m := measured{packets: map[string]*packets{}}
	if err := m.read(p); err != nil {
		p.stop()
		return fmt.Errorf("measure the output: %w", err)
	}
	if err := p.wait(); err != nil {
		return fmt.Errorf("measure the output: %w", err)
	}
	wrong := slices.Concat(m.pictures(v, o, want.Frames), m.sound(want.Sound.Seconds()))
	if o.Format != order.WebM {
		late, err := container.IndexedLast(path)
		if err != nil {
			return err
		}
		if late {
			wrong = append(wrong, "its index is not at its begin")
		}
	}
	if wrong == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrUnproved, strings.Join(wrong, "; "))
}

// measured is what an output has.
type measured struct {
	streams []map[string]string
	packets map[string]*packets // by the index of their stream
}

// packets are those of a stream: where each begins, and how long it is, in the time base of the stream.
type packets struct{ times, lengths []int64 }

// read reads the report of ffprobe.
func (m *measured) read(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, reportSize)
	for lines.Scan() {
		section, rest, _ := strings.Cut(lines.Text(), "|")
		fields := map[string]string{}
		for field := range strings.SplitSeq(rest, "|") {
			name, value, _ := strings.Cut(field, "=")
			fields[name] = value
		}
		switch section {
		case "stream":
			m.streams = append(m.streams, fields)
		case "packet":
			p := m.packets[fields["stream_index"]]
			if p == nil {
				p = &packets{}
				m.packets[fields["stream_index"]] = p
			}
			at, err := strconv.ParseInt(fields["pts"], 10, 64)
			if err != nil {
				return fmt.Errorf("%w: a packet has no time", ErrUnproved)
			}
			length, _ := strconv.ParseInt(fields["duration"], 10, 64)
			p.times, p.lengths = append(p.times, at), append(p.lengths, length)
		}
	}
	return lines.Err()
}

// only returns the fields of the only stream of a type, its packets, and the seconds of its time base.
func (m *measured) only(kind string) (s map[string]string, p *packets, base float64, wrong []string) {
	n := 0
	for _, stream := range m.streams {
		if stream["codec_type"] == kind {
			s, n = stream, n+1
		}
	}
	rate, ok := medium.ParseRate(s["time_base"])
	if p = m.packets[s["index"]]; n != 1 || p == nil || !ok {
		return nil, nil, 0, []string{fmt.Sprintf("%d streams of %s", n, kind)}
	}
	return s, p, rate.Float(), nil
}

// pictures returns what is wrong with the pictures of an output.
func (m *measured) pictures(v *medium.Video, o order.Output, frames int) (wrong []string) {
	s, p, base, wrong := m.only("video")
	if wrong != nil {
		return wrong
	}
	differs := func(what string, got, want any) {
		if got != want {
			wrong = append(wrong, fmt.Sprintf("%s: %s instead of %s", what, cmp.Or(fmt.Sprint(got), "none"), cmp.Or(fmt.Sprint(want), "none")))
		}
	}
	differs("frames", len(p.times), frames)
	differs("codec", s["codec_name"], o.VideoCodec().String())
	differs("size", s["width"]+" × "+s["height"], fmt.Sprint(v.Width)+" × "+fmt.Sprint(v.Height))
	if o.VideoCodec() == order.HEVC {
		differs("tag", s["codec_tag_string"], "hvc1")
	}
	if o.Format == order.WebM && v.Pixels.Alpha() {
		differs("alpha", s["tag:alpha_mode"]+s["tag:ALPHA_MODE"], "1")
	}
	if rate, _ := medium.ParseRate(s["avg_frame_rate"]); frames > 1 && !(math.Abs(rate.Float()/v.Rate.Float()-1) < rateError(o, frames)) {
		differs("frame rate", s["avg_frame_rate"], v.Rate.String())
	}
	tags := v.ColourTags()
	some := slices.ContainsFunc(tags, func(t medium.ColourTag) bool { return t.Value == "" })
	for _, tag := range tags {
		got := s[tag.Probed]
		if got == "unknown" {
			got = ""
		}
		// Encoders needn't say that the range is tv. Of ProRes, ffprobe 7 tells the tags only if all are there.
		if got == "" && (tag.Value == "tv" || some && o.VideoCodec() == order.ProRes) {
			continue
		}
		differs(tag.Probed, got, tag.Value)
	}
	return append(wrong, p.evenly(base, v.Rate.Float())...)
}

// rateError returns the largest error of the rate that a file of frames states, as a share.
func rateError(o order.Output, frames int) float64 {
	if o.Format == order.WebM { // it states that of the first frames, by their rounded times
		return .05
	}
	return 1e-3/float64(frames) + 1e-5
}

// evenly returns what is wrong with the times of pictures of a constant rate, which begin at 0. base is the time base in seconds.
func (p *packets) evenly(base, rate float64) []string {
	first := slices.Min(p.times)
	if at := float64(first) * base; math.Abs(at) > startError {
		return []string{fmt.Sprintf("the first frame begins at %.3f s", at)}
	}
	seen := make([]bool, len(p.times))
	for _, t := range p.times {
		at := float64(t-first) * base
		n := int(math.Round(at * rate))
		if n >= len(seen) || seen[n] || math.Abs(float64(n)/rate-at) > tickError {
			return []string{fmt.Sprintf("a frame begins at %.3f s, where none should", at)}
		}
		seen[n] = true
	}
	return nil
}

// sound returns what is wrong with the sound of an output. want is its length in seconds.
func (m *measured) sound(want float64) []string {
	_, p, base, wrong := m.only("audio")
	if wrong != nil {
		return wrong
	}
	end := p.times[0]
	for i, t := range p.times {
		if math.Abs(float64(t-end)*base) > 2*tickError || float64(p.lengths[i])*base > soundError { // MP4 stores a hole as a long block
			return []string{fmt.Sprintf("the sound has a hole or a jump at %.3f s", float64(t)*base)}
		}
		end = t + p.lengths[i]
	}
	if at := float64(p.times[0]) * base; at > startError || at < -2*soundError {
		wrong = append(wrong, fmt.Sprintf("the sound begins at %.3f s", at))
	}
	if got := float64(end) * base; math.Abs(got-want) > soundError {
		wrong = append(wrong, fmt.Sprintf("the sound ends at %.3f s instead of %.3f s", got, want))
	}
	return wrong
}
