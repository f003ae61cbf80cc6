// Package medium says what a file of pictures or sound is, by its first bytes and the report of ffprobe, and what ffmpeg has to be told to read it:
// arguments, and the filters that make frames of its pictures. It also tells in the log of a decoder whether all pictures
// have the colours of the first.
//
// It starts no program: package ffmpeg does. May import: order.
package medium

import (
	"errors"
	"time"
)

// ErrUnsupported means that the service does not support the file's format, or that the file is
// too damaged to be read.
var ErrUnsupported = errors.New("not a supported format")

// These bound what a file may contain.
const (
	maxPixels = 50 << 20 // of a decoded picture: a video of 8K, and photos of 48 megapixels; larger ones give a message that they are too large
	maxExtra  = 48 << 20 // bytes, of a file's attachments, of which each process keeps copies
)

// formats returns ffmpeg's names of the supported demuxers. None of them follows references to
// other files.
func formats() []string {
	return []string{"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm", "avi", "wav", "mp3", "aac", "flac", "ogg",
		"mpegts", "flv", "asf", "gif", "apng", "aiff", "caf", "w64"}
}

// Info describes a file as it describes itself, which may be wrong.
type Info struct {
	Path     string
	Format   string        // of the demuxer
	Duration time.Duration // 0 if unknown
	Still    bool          // Video is one picture, which has no length
	Video    *Video        // nil if it has no pictures that can be used
	Unusable error         // why not, if it has others; an ErrUnsupported
	Audio    *Audio        // nil if it has no sound

	// Zero is the time in seconds, on the time line of the file, of what ffmpeg gives the time 0. The time line is that of players, and
	// outputs and all options count on it. It is set by line.
	Zero float64

	report *report // of which Take makes other Infos; nil for a picture
	// The numbers of the tracks of the kinds in the file, and those of Video and Audio among them, counted from 1.
	VideoTracks, VideoTrack, AudioTracks, AudioTrack int

	// These select the part to decode. Parse doesn't set them.
	Begin  time.Duration // of the part, counted from the first picture or sample
	NoSeek bool          // pictures before Begin are decoded too, for a file in which ffmpeg can't seek
}

// Video is a video stream as it will be shown: upright, with square pixels and even sides.
type Video struct {
	Width, Height int
	Rate          Rate          // of the frames
	Stated        time.Duration // length that the file states; 0 if it states none

	// KeepsLast keeps a frame of the last picture even if Rate is so low that the picture ends before the next frame. Parse doesn't set it.
	KeepsLast bool
	// Pixels is the pixel format of decoded and encoded frames. Parse leaves it at YUV420P; see Keep.
	Pixels PixelFormat
	// CRF is the crf in H.264 with which an output has bits enough for the file's pictures: see ffmpeg.CRFOf. 0 means that it isn't known.
	CRF int

	Coded [2]int  // width and height of a decoded picture, upright
	Codec string  // ffmpeg's name
	Bits  float64 // of a second of its pictures in the file, as the report tells; 0 if it doesn't: see ffmpeg's Tools.CountBits

	index      int
	shape      float64  // its width as it is displayed, for a height of 1
	turned     []string // filters that turn decoded pictures upright; nil for none
	quarter    bool     // they exchange width and height
	start      int64    // of the first picture, in ticks of timeBase
	lead       float64  // seconds before the first picture, in which it is shown too: see line
	timeBase   Rate     // seconds per tick
	interlaced bool
	deep       bool // values of more than 8 bits
	alpha      bool
	rgb        bool
	fullRange  bool
	transfer   string
	primaries  string
	matrix     string // as the frames have it
	fileMatrix string
	mastering  mastering
}

// minSampleRate is the lowest sample rate of usable sound, in Hz. A lower rate can't hold speech, and
// after resampling a single decoded block could be minutes of sound, all in memory.
const minSampleRate = 1000

// Audio is a sound stream.
type Audio struct {
	SampleRate, Channels int

	// Opus encodes the sound as Opus in WebM; otherwise it becomes AAC in MP4. Parse doesn't set it.
	Opus bool

	Index int           // of the stream
	Until time.Duration // where the sound ends on the time line; what a codec appends to it is padding. 0 if unknown
}

// paddingBlocks is the number of samples that a codec appends at most: two blocks of AAC.
const paddingBlocks = 2048

// Padding returns the most samples that the codec appends to the sound, at a rate in Hz.
func (a *Audio) Padding(rate int) int64 {
	return int64(paddingBlocks * rate / max(a.SampleRate, minSampleRate))
}
