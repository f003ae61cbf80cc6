package lipsync

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// FailureCode says why a request failed. Codes are stored, and are dimensions of
// metrics: they never change.
type FailureCode string

// The codes of failures. What each one's Details hold stands beside it.
const (
	MediaNotAccessible FailureCode = "media_not_accessible" // Kind: the URL's server refuses the file, or the URL can't be fetched
	MediaPrivate       FailureCode = "media_private"        // Kind: the URL's host is in a private network, and the settings don't allow those
	MediaHostMissing   FailureCode = "media_host_missing"   // Kind: the URL's host doesn't exist, or nothing there takes connections
	MediaUnreachable   FailureCode = "media_unreachable"    // Kind: no connection, or a server with troubles of its own
	MediaTooSlow       FailureCode = "media_too_slow"       // Kind: it doesn't come within its time
	MediaLargerThan    FailureCode = "media_larger_than"    // Kind, Limit in bytes
	MediaLongerThan    FailureCode = "media_longer_than"    // Kind, Limit and, if the file states it, Value in seconds
	MediaUnsupported   FailureCode = "media_unsupported"    // Kind
	PictureLargerThan  FailureCode = "picture_larger_than"  // Limit, Value in pixels
	FrameRateAbove     FailureCode = "frame_rate_above"     // Limit, Value in frames/s
	MediaTruncated     FailureCode = "media_truncated"      // Kind, Value that can be decoded and Stated, both in seconds
	VideoIsPicture     FailureCode = "video_is_picture"     // the video is a file of one picture, or of a few, such as a GIF
	NoPicture          FailureCode = "no_picture"           // the video has none
	NoSoundTrack       FailureCode = "no_sound_track"       // the audio has none
	NoFace             FailureCode = "no_face"              // in any frame
	ProcessingTooLong  FailureCode = "processing_too_long"  // for the length of the media
	ModelNotInstalled  FailureCode = "model_not_installed"  // Model
	Canceled           FailureCode = "canceled"             // by the client
	HostFailing        FailureCode = "host_failing"         // our machine has no disk space, memory, open files, network or ffmpeg
	InternalFault      FailureCode = "internal"             // any other fault of ours
	UnknownFailure     FailureCode = "unknown"              // Verbatim: from before there were codes
)

// Class is who or what a failure is due to.
type Class string

// The classes of failures.
const (
	OfInput   Class = "input"     // what the client sent or did: it is final
	OfOurs    Class = "ours"      // our programs: it is tried MaxAttempts times
	Transient Class = "transient" // network, disk, others' servers: it is tried for a time
)

// Class returns the class of the code.
func (c FailureCode) Class() Class {
	switch c {
	case InternalFault:
		return OfOurs
	case MediaUnreachable, MediaTooSlow, HostFailing:
		return Transient
	default:
		return OfInput
	}
}

// ofFetch reports whether the failure is of getting a medium from its URL.
func (c FailureCode) ofFetch() bool {
	return c == MediaHostMissing || c == MediaUnreachable || c == MediaTooSlow
}

// Failure is why a request failed. The zero value is none.
type Failure struct {
	Code FailureCode
	Details
}

// Details are what the sentence of a failure names; what it doesn't name is zero.
type Details struct {
	Kind     MediaKind `json:"kind,omitempty"`     // of the medium at fault
	Limit    Quantity  `json:"limit,omitzero"`     // how much it may have
	Value    Quantity  `json:"value,omitzero"`     // how much it has
	Stated   Quantity  `json:"stated,omitzero"`    // how much its file states that it has
	Model    string    `json:"model,omitempty"`    // the engine that was asked for
	Verbatim string    `json:"sentence,omitempty"` // the sentence, as an older version kept it
}

// Quantity is how much a medium has of what is limited. One of the units is set.
type Quantity struct {
	Bytes   int64   `json:"bytes,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	FPS     float64 `json:"fps,omitempty"`    // frames/s
	Width   int     `json:"width,omitempty"`  // pixels
	Height  int     `json:"height,omitempty"` // pixels
}

// Sentence returns what clients read of the failure, "" of none. These sentences
// are a part of the API: each stays as it is.
func (f Failure) Sentence() string {
	switch f.Code {
	case "":
		return ""
	case MediaNotAccessible, MediaPrivate, MediaHostMissing, MediaUnreachable, MediaTooSlow:
		return fmt.Sprintf("%s URL is not accessible", f.Kind)
	case MediaLargerThan:
		return LargerThan(string(f.Kind), f.Limit.Bytes)
	case MediaLongerThan:
		return fmt.Sprintf("%s is longer than %s", f.Kind, minutes(f.Limit.Seconds)) + f.value(minutes(f.Value.Seconds))
	case MediaUnsupported:
		return fmt.Sprintf("%s is not a supported format", f.Kind)
	case PictureLargerThan:
		return fmt.Sprintf("video is larger than %d × %d pixels: %d × %d pixels", f.Limit.Width, f.Limit.Height, f.Value.Width, f.Value.Height)
	case FrameRateAbove:
		return fmt.Sprintf("video has more than %.4g frames per second: %.4g", f.Limit.FPS, f.Value.FPS)
	case MediaTruncated:
		return fmt.Sprintf("%s is truncated: %s of %s seconds can be read", f.Kind, tenths(f.Value.Seconds), tenths(f.Stated.Seconds))
	case VideoIsPicture:
		return "video is a picture; a video is needed"
	case NoPicture:
		return "video has no picture"
	case NoSoundTrack:
		return "audio has no sound track"
	case NoFace:
		return "no face found in the video"
	case ProcessingTooLong:
		return "media take too long to process"
	case ModelNotInstalled:
		return fmt.Sprintf("model %q is not installed", f.Model)
	case Canceled:
		return "canceled by the client"
	case UnknownFailure:
		return f.Verbatim
	default: // also what a newer version knows
		return "processing failed"
	}
}

// value returns the end of a sentence that names the value, if it is known.
func (f Failure) value(text string) string {
	if f.Value == (Quantity{}) {
		return ""
	}
	return ": " + text
}

// minutes writes a length as people read it, to a tenth of a minute.
func minutes(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(6 * time.Second)
	return strconv.FormatFloat(d.Minutes(), 'f', -1, 64) + " minutes"
}

// tenths writes a number, rounded to tenths.
func tenths(n float64) string { return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64) }
