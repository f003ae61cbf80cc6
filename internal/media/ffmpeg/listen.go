package ffmpeg

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
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

// bytes returns the bytes of a length.
func (f form) bytes(length time.Duration) int64 { return f.count(length) * int64(f.size()) }

// count returns the number of samples in a length, rounded.
func (f form) count(length time.Duration) int64 { return int64(length.Seconds()*float64(f.rate) + .5) }

// args returns ffmpeg's arguments for raw samples.
func (f form) args() []string {
	return append([]string{"-f", map[bool]string{true: "f32le", false: "s16le"}[f.float]}, f.shape()...)
}

// shape returns ffmpeg's arguments for the rate and the channels.
func (f form) shape() []string {
	return []string{"-ar", strconv.Itoa(f.rate), "-ac", strconv.Itoa(f.channels)}
}

// header returns the header of a WAV with size bytes of samples.
func (f form) header(size uint32) []byte {
	return container.WAVHeader(uint16(f.channels), uint32(f.rate), size, f.float)
}

// speech is the form of samples at PCMRate.
var speech = form{rate: PCMRate, channels: 1}

// listening reads the sound of a file on the time line of the file, in one form or in several at once: see Info.Zero.
//
// ffmpeg gives each block of sound a time, in Matroska. Its filters could also fill gaps, but begin again where the sound changes its rate
// or its channels.
type listening struct {
	p      *process
	blocks *container.Blocks
	heard  []*heard // in each form
	last   bool     // the last block has been read
	ended  bool
}

// heard is the sound in one form. Silence fills its gaps, and of two samples of the same time the second one is dropped. So the first sample is
// always that at Info.Begin.
type heard struct {
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
}

// lead is added to the times of blocks, since Matroska can't have negative ones. In seconds.
const lead = 10

const (
	// jitter is the error of times in seconds at which samples still follow each other. Recorders' clocks are as inexact.
	jitter = .01
	// mostBehind is the length of sound in seconds that is dropped at a stretch. A file whose times restart has been joined of others.
	mostBehind = .5
)

// hear returns the sound of a file in a form, before any is decoded: from in.Begin on, at most for a time.
func (f form) hear(in *medium.Info, most time.Duration) *heard {
	h := &heard{form: f, decoded: f.channels, zero: in.Zero, from: f.count(in.Begin)}
	h.timeless = slices.Contains([]string{"wav", "mp3", "aac", "flac", "aiff", "caf", "w64"}, in.Format)
	switch { // one channel is heard as loud on each of two; for two on one see folding
	case in.Audio.Channels == 1 && f.channels == 2:
		h.decoded = 1
	case in.Audio.Channels > 1 && f.channels == 1:
		h.decoded = 2
	}
	h.to, h.until = h.from+f.count(most), math.MaxInt64
	if in.Audio.Until > 0 {
		h.until = int64(in.Audio.Until.Seconds() * float64(f.rate))
		h.padding = in.Audio.Padding(f.rate)
	}
	return h
}

// listen starts to decode the sound of a file from in.Begin on, at most for a time, in some forms.
func (t *Tools) listen(ctx context.Context, in *medium.Info, most time.Duration, forms ...form) (*listening, error) {
	l, args := &listening{}, soundInput(in)
	for i, f := range forms {
		h := f.hear(in, most)
		l.heard = append(l.heard, h)
		args = append(args, "-map", "0:"+strconv.Itoa(in.Audio.Index), fmt.Sprintf("-ac:%d", i), strconv.Itoa(h.decoded), fmt.Sprintf("-ar:%d", i), strconv.Itoa(f.rate))
	}
	args = append(args, "-c:a", "pcm_f32le", "-output_ts_offset", strconv.Itoa(lead), "-f", "matroska", "pipe:1")
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

// Read reads samples of the first form. Its error is a decodeError, unless it is io.EOF.
func (l *listening) Read(b []byte) (n int, err error) {
	for {
		if n, err = l.heard[0].Read(b); err == nil {
			return n, nil
		}
		if l.done() {
			return 0, io.EOF
		}
		if err := l.hear(); err != nil {
			return 0, decodeError{err}
		}
	}
}

// done reports whether nothing is left to hear.
func (l *listening) done() bool {
	return l.ended || !slices.ContainsFunc(l.heard, func(h *heard) bool { return h.next < h.to })
}

// Read reads the samples that have been placed. It returns io.EOF if none is left.
func (h *heard) Read(b []byte) (n int, err error) {
	switch {
	case len(h.first) > 0:
		n = copy(b, h.first)
		h.first = h.first[n:]
	case h.silence > 0:
		n = int(min(h.silence, int64(len(b))))
		clear(b[:n])
		h.silence -= int64(n)
	case len(h.ready) > 0:
		n = copy(b, h.ready)
		h.ready = h.ready[n:]
	default:
		return 0, io.EOF
	}
	return n, nil
}

// Close ends the decoder.
func (l *listening) Close() error {
	if !l.ended {
		l.ended = true
		l.p.stop()
	}
	return nil
}

// hear reads the next block, or the end.
func (l *listening) hear() error {
	form, at, data, err := l.blocks.Next()
	if err == nil {
		if form >= len(l.heard) {
			return fmt.Errorf("a block of stream %d of %d", form, len(l.heard))
		}
		return l.heard[form].take(float64(at)/1000-lead, data)
	}
	if err == io.EOF && !l.last { // the samples before an error of the decoder count
		l.last = true
		var wrong []error
		for _, h := range l.heard {
			wrong = append(wrong, h.end())
		}
		return errors.Join(wrong...)
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

// take takes the next block, and places the one before. ffmpeg gives some blocks wrong times: when the rate changes, and up to the
// time of an earlier block that was too late. So the time of a block holds only if the next one follows it.
func (h *heard) take(at float64, data []byte) (err error) {
	last := h.waiting
	h.waiting = &timed{at + h.zero, append(h.spare, data...)}
	if last != nil {
		length := float64(len(last.data)/(4*h.decoded)) / float64(h.form.rate)
		rest := 2*len(data) < len(last.data) // of a filter
		err = h.place(*last, !rest && math.Abs(h.waiting.at-last.at-length) <= jitter)
		h.spare = last.data[:0]
	}
	return err
}

// end places the last block.
func (h *heard) end() error {
	if h.waiting == nil {
		return nil
	}
	return h.place(*h.waiting, h.next == 0)
}

// timed is a block of samples, and its time on the time line in seconds.
type timed struct {
	at   float64
	data []byte
}

// place puts the samples of a block into their place. If its time doesn't hold, they follow those before.
func (h *heard) place(b timed, holds bool) error {
	data := b.data
	size := int64(4 * h.decoded)
	rate, length := float64(h.form.rate), int64(len(data))/size
	begin := int64(math.Round(b.at*rate)) + h.shift
	switch gap := begin - h.next; {
	case h.timeless || !holds || h.next > 0 && math.Abs(float64(gap)) <= jitter*rate:
		h.behind = 0
	case gap > 0:
		h.skip(gap)
		h.behind = 0
	case float64(h.behind) > mostBehind*rate && begin >= 0:
		h.shift, h.behind = h.shift-gap, 0
	default:
		dropped := min(-gap, length)
		data, length = data[dropped*size:], length-dropped
		if begin >= 0 {
			h.behind += dropped
		}
	}
	first, last := max(0, h.from-h.next), min(length, h.to-h.next)
	h.next += length
	if first >= last {
		return nil
	}
	// Samples after until are kept back, until it is known whether they are only padding.
	samples, err := h.form.convert(data[first*size:last*size], h.decoded, &h.folding)
	if err != nil {
		return err
	}
	bytes := int64(h.form.size())
	over := min(max(0, h.next-length+last-h.until), last-first)
	if over == 0 && len(h.held) == 0 {
		h.ready = samples
		return nil
	}
	cut := int64(len(samples)) - over*bytes
	h.ready, h.held = samples[:cut], append(h.held, samples[cut:]...)
	if int64(len(h.held)) > h.padding*bytes {
		h.ready, h.held, h.until = append(h.ready, h.held...), nil, math.MaxInt64
	}
	return nil
}

// skip lets time pass without sound.
func (h *heard) skip(samples int64) {
	h.silence = max(0, min(h.next+samples, h.to)-max(h.next, h.from)) * int64(h.form.size())
	if h.next += samples; h.next > h.until { // then until was wrong
		h.first, h.held, h.until = h.held, nil, math.MaxInt64
	}
}

// loudest bounds the floats of sound. The encoder of AAC refuses coefficients of 1e16 and more, which are sums of up to 2,048 samples times 32,768.
const loudest = 1e8

// convert returns samples, which ffmpeg decoded to a number of channels as floats, in the form. The error is medium.ErrUnsupported for floats that
// are no numbers, or louder than any sound.
func (f form) convert(data []byte, channels int, fold *folding) ([]byte, error) {
	floats := make([]float32, len(data)/4)
	for i := range floats {
		floats[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		if !(math.Abs(float64(floats[i])) <= loudest) { // true for NaN
			return nil, fmt.Errorf("%w: a sample of %g", medium.ErrUnsupported, floats[i])
		}
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
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(min(max(value, -32768), 32767))))
	}
	return out, nil
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

// take is a form in which sound is decoded, and where it goes.
type take struct {
	form form
	to   io.Writer
}

// decode writes the samples of a file from in.Begin on, at most for a time, in some forms. It returns their number in the first one. Its error is
// a decodeError if they can't be decoded.
func (t *Tools) decode(ctx context.Context, in *medium.Info, most time.Duration, takes ...take) (samples int64, err error) {
	var forms []form
	for _, to := range takes {
		forms = append(forms, to.form)
	}
	l, err := t.listen(ctx, in, most, forms...)
	if err != nil {
		return 0, err
	}
	written, buffer := make([]int64, len(takes)), make([]byte, 1<<15)
	for err == nil {
		for i, to := range takes {
			n, e := io.CopyBuffer(struct{ io.Writer }{to.to}, l.heard[i], buffer)
			written[i], err = written[i]+n, errors.Join(err, e)
		}
		if err != nil || l.done() {
			break
		}
		if e := l.hear(); e != nil {
			err = decodeError{e}
		}
	}
	return written[0] / int64(forms[0].size()), errors.Join(err, l.Close())
}
