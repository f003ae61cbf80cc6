package ffmpeg

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"lipsync/internal/media/ffmpeg/container"
	"lipsync/internal/media/ffmpeg/medium"
	"lipsync/internal/media/sandbox"
)

// form is the form of samples. Those of all channels follow each other.
type form struct {
	rate     int // Hz
	channels int // 1, 2 or 6
	float    bool
}

// size returns the bytes of one sample of all channels.
func (f form) size() int {
	if f.float {
		return 4 * f.channels
	}
	return 2 * f.channels
}

// count returns the number of samples in a length, rounded.
func (f form) count(length time.Duration) int64 { return int64(length.Seconds()*float64(f.rate) + .5) }

// args returns ffmpeg's arguments for raw samples.
func (f form) args() []string {
	return []string{"-f", map[bool]string{true: "f32le", false: "s16le"}[f.float], "-ar", strconv.Itoa(f.rate), "-ac", strconv.Itoa(f.channels)}
}

// listening reads the sound of a file on the time line of the file: see Info.Zero. Silence fills its gaps, and of two samples of the same time
// the second one is dropped. So the first sample is always that at Info.Begin.
//
// ffmpeg gives each block of sound a time, in Matroska. Its filters could also fill gaps, but begin again where the sound changes its rate
// or its channels.
type listening struct {
	p        *process
	blocks   *container.Blocks
	form     form
	decoded  int     // number of channels that ffmpeg decodes to
	from, to int64   // the samples to return, counted on the time line
	until    int64   // where the sound ends, except that a file may be wrong: see Audio.Until
	padding  int64   // the most samples after until that are padding
	timeless bool    // the format has no times, so ffmpeg estimates them
	zero     float64 // see Info.Zero
	next     int64   // the next sample on the time line
	behind   int64   // the number of samples that were dropped at a stretch
	shift    int64   // by which later samples come later than their times say
	first    []byte  // samples to return at once
	silence  int64   // bytes of it to return then
	ready    []byte  // samples to return after it
	held     []byte  // samples after until
	folding  folding
	waiting  *timed // the last one that was read
	spare    []byte // memory for the next one
	ended    bool
}

// lead is added to the times of blocks, since Matroska can't have negative ones. In seconds.
const lead = 10

const (
	// jitter is the error of times in seconds at which samples still follow each other. Recorders' clocks are as inexact.
	jitter = .01
	// mostBehind is the length of sound in seconds that is dropped at a stretch. A file whose times restart has been joined of others.
	mostBehind = .5
)

// listen starts to decode the sound of a file from in.Begin on, at most for a time.
func (t *Tools) listen(ctx context.Context, in *medium.Info, f form, most time.Duration) (*listening, error) {
	l := &listening{form: f, decoded: f.channels, zero: in.Zero, from: f.count(in.Begin)}
	l.timeless = slices.Contains([]string{"wav", "mp3", "aac", "flac", "aiff", "caf", "w64"}, in.Format)
	switch { // one channel is heard as loud on each of two; for two on one see folding
	case in.Audio.Channels == 1 && f.channels == 2:
		l.decoded = 1
	case in.Audio.Channels > 1 && f.channels == 1:
		l.decoded = 2
	}
	l.to, l.until = l.from+f.count(most), math.MaxInt64
	if in.Audio.Until > 0 {
		l.until = int64(in.Audio.Until.Seconds() * float64(f.rate))
		l.padding = in.Audio.Padding(f.rate)
	}
	args := append(soundInput(in), "-map", "0:"+strconv.Itoa(in.Audio.Index), "-ac", strconv.Itoa(l.decoded), "-ar", strconv.Itoa(f.rate),
		"-c:a", "pcm_f32le", "-output_ts_offset", strconv.Itoa(lead), "-f", "matroska", "pipe:1")
	p, err := t.startReader(ctx, t.FFmpeg, args, sandbox.Files{Read: []string{in.Path}}, soundMemory)
	if err != nil {
		return nil, err
	}
	l.p, l.blocks = p, container.NewBlocks(p, soundSize)
	return l, nil
}

// soundInput returns the arguments that open a file to decode its sound.
func soundInput(in *medium.Info) []string {
	return append(append([]string{"-v", "error", "-max_alloc", strconv.Itoa(soundSize)}, in.InputArgs(1)...), "-i", "file:"+in.Path)
}

// These bound the memory of a process that decodes sound, in bytes: one allocation, and all with the libraries. After resampling, one block of an odd
// file can be minutes of sound. soundSize also bounds a block in this process.
const (
	soundSize   = 128 << 20
	soundMemory = 6 * soundSize
)

// Read reads samples. Its error is a decodeError, unless it is io.EOF.
func (l *listening) Read(b []byte) (n int, err error) {
	for len(b) > 0 {
		switch {
		case len(l.first) > 0:
			n = copy(b, l.first)
			l.first = l.first[n:]
			return n, nil
		case l.silence > 0:
			n = int(min(l.silence, int64(len(b))))
			clear(b[:n])
			l.silence -= int64(n)
			return n, nil
		case len(l.ready) > 0:
			n = copy(b, l.ready)
			l.ready = l.ready[n:]
			return n, nil
		case l.ended || l.next >= l.to:
			return 0, io.EOF
		}
		if err := l.hear(); err != nil {
			return 0, decodeError{err}
		}
	}
	return 0, nil
}

// Close ends the decoder.
func (l *listening) Close() error {
	if !l.ended {
		l.ended = true
		l.p.stop()
	}
	return nil
}

// hear reads the next block, or the end, and places the one before. ffmpeg gives some blocks wrong times: when the rate changes, and up to the
// time of an earlier block that was too late. So the time of a block holds only if the next one follows it.
func (l *listening) hear() error {
	last := l.waiting
	at, data, err := l.blocks.Next()
	if err == nil {
		l.waiting = &timed{float64(at)/1000 - lead + l.zero, append(l.spare, data...)}
		if last != nil {
			length := float64(len(last.data)/(4*l.decoded)) / float64(l.form.rate)
			rest := 2*len(data) < len(last.data) // of a filter
			l.place(*last, !rest && math.Abs(l.waiting.at-last.at-length) <= jitter)
			l.spare = last.data[:0]
		}
		return nil
	}
	if l.waiting = nil; last != nil && err == io.EOF {
		l.place(*last, l.next == 0)
		return nil
	}
	l.ended = true
	switch {
	case err == io.EOF:
		return l.p.wait()
	case errors.Is(err, io.ErrUnexpectedEOF): // the decoder's error tells the reason
		return errors.Join(err, l.p.wait())
	default:
		return l.p.late(err, stallTime)
	}
}

// timed is a block of samples, and its time on the time line in seconds.
type timed struct {
	at   float64
	data []byte
}

// place puts the samples of a block into their place. If its time doesn't hold, they follow those before.
func (l *listening) place(b timed, holds bool) {
	data := b.data
	size := int64(4 * l.decoded)
	rate, length := float64(l.form.rate), int64(len(data))/size
	begin := int64(math.Round(b.at*rate)) + l.shift
	switch gap := begin - l.next; {
	case l.timeless || !holds || l.next > 0 && math.Abs(float64(gap)) <= jitter*rate:
		l.behind = 0
	case gap > 0:
		l.skip(gap)
		l.behind = 0
	case float64(l.behind) > mostBehind*rate && begin >= 0:
		l.shift, l.behind = l.shift-gap, 0
	default:
		dropped := min(-gap, length)
		data, length = data[dropped*size:], length-dropped
		if begin >= 0 {
			l.behind += dropped
		}
	}
	first, last := max(0, l.from-l.next), min(length, l.to-l.next)
	l.next += length
	if first >= last {
		return
	}
	// Samples after until are kept back, until it is known whether they are only padding.
	samples := l.form.convert(data[first*size:last*size], l.decoded, &l.folding)
	bytes := int64(l.form.size())
	over := min(max(0, l.next-length+last-l.until), last-first)
	if over == 0 && len(l.held) == 0 {
		l.ready = samples
		return
	}
	cut := int64(len(samples)) - over*bytes
	l.ready, l.held = samples[:cut], append(l.held, samples[cut:]...)
	if int64(len(l.held)) > l.padding*bytes {
		l.ready, l.held, l.until = append(l.ready, l.held...), nil, math.MaxInt64
	}
}

// skip lets time pass without sound.
func (l *listening) skip(samples int64) {
	l.silence = max(0, min(l.next+samples, l.to)-max(l.next, l.from)) * int64(l.form.size())
	if l.next += samples; l.next > l.until { // then until was wrong
		l.first, l.held, l.until = l.held, nil, math.MaxInt64
	}
}

// convert returns samples, which ffmpeg decoded to a number of channels as floats, in the form.
func (f form) convert(data []byte, channels int, fold *folding) []byte {
	floats := make([]float32, len(data)/4)
	for i := range floats {
		floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	switch {
	case channels == 2 && f.channels == 1:
		floats = fold.fold(floats, f.rate)
	case channels == 1 && f.channels == 2:
		twice := make([]float32, 0, 2*len(floats))
		for _, s := range floats {
			twice = append(twice, s, s)
		}
		floats = twice
	}
	out := make([]byte, 0, 4*len(floats))
	for _, s := range floats {
		if f.float {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(s))
			continue
		}
		value := math.RoundToEven(float64(s) * 32768)
		if math.IsNaN(value) {
			value = 0
		}
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(min(max(value, -32768), 32767))))
	}
	return out
}

// folding makes one channel of two: their mean, as listeners hear it. Where the two cancel each other in the mean, it takes half of their
// difference. That is the same sound, since a listener has two ears.
type folding struct {
	mean, difference float64 // energies of the last time
	share            float64 // of the difference
}

const (
	foldTime   = .1  // seconds over which energies are compared
	foldFade   = .01 // seconds of the change from one to the other
	cancelling = 20  // the ratio of energies over which two channels cancel each other: 13 dB
)

func (f *folding) fold(pairs []float32, rate int) []float32 {
	forget, step := 1/(foldTime*float64(rate)), 1/(foldFade*float64(rate))
	out := make([]float32, 0, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		mean, difference := (pairs[i]+pairs[i+1])/2, (pairs[i]-pairs[i+1])/2
		f.mean += forget * (float64(mean*mean) - f.mean)
		f.difference += forget * (float64(difference*difference) - f.difference)
		if f.difference > cancelling*f.mean {
			f.share = min(1, f.share+step)
		} else {
			f.share = max(0, f.share-step)
		}
		out = append(out, mean+float32(f.share)*(difference-mean))
	}
	return out
}

// decodeError is the error of a decoder, and not of the files that it writes.
type decodeError struct{ error }

func (e decodeError) Unwrap() error { return e.error }

// decode writes the samples of a file from in.Begin on, at most for a time, and returns their number. Its error is a decodeError if they
// can't be decoded.
func (t *Tools) decode(ctx context.Context, in *medium.Info, f form, to io.Writer, most time.Duration) (int64, error) {
	l, err := t.listen(ctx, in, f, most)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(to, l)
	return n / int64(f.size()), errors.Join(err, l.Close())
}
