package failure

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

//go:generate go run ./page ../../..

// Reason says by a code why a request failed. Codes are stored and are dimensions of metrics,
// so they never change.
type Reason string

// The codes of failures. Each comment begins with the Details that the code has.
const (
	MediaNotAccessible Reason = "media_not_accessible" // Kind: the URL's server refuses the file, or the URL can't be fetched
	MediaPrivate       Reason = "media_private"        // Kind: the URL's host is in a private network, and the settings don't allow those
	MediaHostMissing   Reason = "media_host_missing"   // Kind: the URL's host doesn't exist, or nothing there takes connections
	MediaUnreachable   Reason = "media_unreachable"    // Kind: no connection, or the server fails
	MediaTooSlow       Reason = "media_too_slow"       // Kind: it does not arrive within its time
	MediaLargerThan    Reason = "media_larger_than"    // Kind, Limit in bytes
	MediaLongerThan    Reason = "media_longer_than"    // Kind, Limit and, if the file states it, Value in seconds
	MediaUnsupported   Reason = "media_unsupported"    // Kind
	PictureLargerThan  Reason = "picture_larger_than"  // Limit, Value in pixels
	FrameRateAbove     Reason = "frame_rate_above"     // Limit, Value in frames/s
	TooManyPixels      Reason = "too_many_pixels"      // Limit, Value in gigapixels: what the frames of the video and of the output have together
	MediaTruncated     Reason = "media_truncated"      // Kind, Value (the part that can be decoded) and Stated, both in seconds
	VideoIsPicture     Reason = "video_is_picture"     // the video is a picture of a kind that is not supported, such as a HEIC
	NoPicture          Reason = "no_picture"           // the video has no picture
	NoSoundTrack       Reason = "no_sound_track"       // the audio has no sound track
	TrackMissing       Reason = "track_missing"        // Kind, Limit, Value: the number of tracks, and of the one that was asked for
	NoFace             Reason = "no_face"              // no frame has a face
	FaceMissing        Reason = "face_missing"         // Value: the first second of the video without a face
	SpeedOutOfRange    Reason = "speed_out_of_range"   // Limit, Value: the speed that the video would need, if known
	FaceNotThere       Reason = "face_not_there"       // Value: the frame in which the option face has a point without a face
	FaceFrameUnused    Reason = "face_frame_unused"    // Value: the frame in which the option face has a point; it is not rendered
	BoxInvalid         Reason = "box_invalid"          // Value: the frame whose box can't be read
	BoxesWithoutFace   Reason = "boxes_without_face"   // no box has a face
	PreviewAfterEnd    Reason = "preview_after_end"    // Kind: the medium ends before the preview begins
	SegmentAfterEnd    Reason = "segment_after_end"    // Kind, Value in seconds: the medium ends before its part of a segment begins
	FacesOfPicture     Reason = "faces_of_picture"     // the segments of a picture have different faces
	OutputTooWide      Reason = "output_too_wide"      // Limit, Value: the widths of the video and of the output
	OutputRateAbove    Reason = "output_rate_above"    // Limit, Value in frames/s
	CodecNotInstalled  Reason = "codec_not_installed"  // Codec
	NotSignable        Reason = "not_signable"         // all outputs must be signed since the request was made, and the format of this one can't be
	UploadRefused      Reason = "upload_refused"       // Status: the server of upload_url refuses the output; 0 if the URL can't be used
	UploadPrivate      Reason = "upload_private"       // the host of upload_url is in a private network, and the settings don't allow those
	UploadHostMissing  Reason = "upload_host_missing"  // the host of upload_url doesn't exist, or nothing there takes connections
	UploadUnreachable  Reason = "upload_unreachable"   // no connection, the server of upload_url fails, or it takes the output too slowly
	DiskTooSmall       Reason = "disk_too_small"       // Limit, Value in bytes: what this machine's disk has room for, and what the files of the request take
	ProcessingTooLong  Reason = "processing_too_long"  // the length of the media makes it so
	ModelNotInstalled  Reason = "model_not_installed"  // Model
	Canceled           Reason = "canceled"             // by the client
	HostFailing        Reason = "host_failing"         // the service's machine has no disk space, memory, open files, network or ffmpeg, or can't sign outputs that must be signed
	InternalFault      Reason = "internal"             // any other fault of the service
)

// Class is the cause of a failure.
type Class string

// The classes of failures.
const (
	OfInput   Class = "input"     // the client's media, call or storage; few such requests are tried again: see Postpones
	OfOurs    Class = "ours"      // the service's programs; the request is tried MaxAttempts times
	Transient Class = "transient" // network, disk or other servers; the request is tried for a time
)

// Class returns the class of the code.
func (c Reason) Class() Class {
	switch c {
	case InternalFault:
		return OfOurs
	case MediaUnreachable, MediaTooSlow, HostFailing:
		return Transient
	default:
		return OfInput
	}
}

// Postpones reports whether a request is tried again for a time after the fault. A host that is missing
// may come back within a minute. The storage of a client is the client's part, so a request that fails
// because of it counts towards the key's limit: its output was rendered.
func (c Reason) Postpones() bool {
	return c.Class() == Transient || c == MediaHostMissing || c.OfUpload()
}

// OfUpload reports whether sending the output to the client's URL failed, and may work later.
func (c Reason) OfUpload() bool { return c == UploadHostMissing || c == UploadUnreachable }

// OfFetch reports whether fetching an input from its URL failed.
func (c Reason) OfFetch() bool {
	return c == MediaHostMissing || c == MediaUnreachable || c == MediaTooSlow
}

// Failure is the reason why a request failed. The zero value means no failure.
type Failure struct {
	Code Reason
	Details
}

// Details are the values in the sentence of a failure. A value that the sentence does not have is
// zero.
type Details struct {
	Kind   MediaKind `json:"kind,omitempty"`   // kind of the input at fault
	Limit  Quantity  `json:"limit,omitzero"`   // largest allowed quantity
	Value  Quantity  `json:"value,omitzero"`   // actual quantity
	Stated Quantity  `json:"stated,omitzero"`  // quantity that the file's header states
	Model  string    `json:"model,omitempty"`  // engine that the request names
	Codec  string    `json:"codec,omitempty"`  // codec of the output
	Status int       `json:"status,omitempty"` // HTTP status of a server's answer: that refused the output, or that was not the input
	Cause  string    `json:"cause,omitempty"`  // what else is known of the cause, for clients
}

// Free reports whether a request failed through no fault of its client. Such a request does not count as a use of the key.
func (f Failure) Free() bool {
	return f.Code == DiskTooSmall || f.Code != "" && f.Code.Class() != OfInput
}

// Quantity is a size, length, frame rate, resolution, speed, frame, track or amount of pixels of a medium. One of its units is set.
type Quantity struct {
	Bytes   int64   `json:"bytes,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	FPS     float64 `json:"fps,omitempty"`    // frames/s
	Width   int     `json:"width,omitempty"`  // pixels
	Height  int     `json:"height,omitempty"` // pixels
	Speed   float64 `json:"speed,omitempty"`  // as a multiple of the usual speed
	Frame   int     `json:"frame,omitempty"`  // number of a frame, from 0
	Tracks  int     `json:"tracks,omitempty"` // number of tracks, or of one of them from 1

	Gigapixels float64 `json:"gigapixels,omitempty"` // thousand millions of pixels
}

// Sentence returns the sentence that clients read, or "" if there is no failure. The sentences are
// a part of the API, so they never change.
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
	case TooManyPixels:
		return fmt.Sprintf("video and output have more than %s gigapixels (width × height × frames of both): %s", plain(f.Limit.Gigapixels), plain(raised(f.Value.Gigapixels)))
	case MediaTruncated:
		return fmt.Sprintf("%s is truncated: %s of %s seconds can be read", f.Kind, tenths(f.Value.Seconds), tenths(f.Stated.Seconds))
	case VideoIsPicture:
		return "video is a picture; a video is needed"
	case NoPicture:
		return "video has no picture"
	case NoSoundTrack:
		return "audio has no sound track"
	case TrackMissing:
		return fmt.Sprintf("%s has no track %d: its tracks count from 1 to %d", f.Kind, f.Value.Tracks, f.Limit.Tracks)
	case NoFace:
		return "no face found in the video"
	case FaceMissing:
		return fmt.Sprintf("video shows no face at %s seconds: no_face fail requires one in each frame", tenths(f.Value.Seconds))
	case SpeedOutOfRange:
		return fmt.Sprintf("video would have to play %s: sync_mode remap allows a factor of %s", f.speed(), tenths(f.Limit.Speed))
	case FaceNotThere:
		return fmt.Sprintf("video shows no face at the point of frame %d", f.Value.Frame)
	case FaceFrameUnused:
		return fmt.Sprintf("frame %d, in which the face is chosen, is not in the part of the video that is rendered", f.Value.Frame)
	case BoxInvalid:
		return fmt.Sprintf("boxes file must be a list of [left, top, right, bottom] or null for each frame: frame %d has neither", f.Value.Frame)
	case BoxesWithoutFace:
		return "no box has a face in it"
	case PreviewAfterEnd:
		return fmt.Sprintf("%s ends before the preview begins", f.Kind)
	case SegmentAfterEnd:
		return fmt.Sprintf("%s ends before %g seconds, where a segment begins", f.Kind, f.Value.Seconds)
	case FacesOfPicture:
		return "segments of a picture must have the same face"
	case OutputTooWide:
		return fmt.Sprintf("output is wider than the video: %d pixels instead of at most %d", f.Value.Width, f.Limit.Width)
	case OutputRateAbove:
		return fmt.Sprintf("output has more than %.4g frames per second: %.4g", f.Limit.FPS, f.Value.FPS)
	case CodecNotInstalled:
		return fmt.Sprintf("codec %s is not installed", f.Codec)
	case NotSignable:
		return mustBeSignable
	case UploadRefused, UploadPrivate, UploadHostMissing, UploadUnreachable:
		if f.Status != 0 {
			return fmt.Sprintf("output could not be sent: the server answered %d", f.Status)
		}
		return "output could not be sent: upload_url is not accessible"
	case DiskTooSmall:
		return fmt.Sprintf("output and its files take %s, and this service's disk has room for %s", Spell((f.Value.Bytes+1<<20-1)>>20<<20), Spell(f.Limit.Bytes>>20<<20))
	case ProcessingTooLong:
		return "media take too long to process"
	case ModelNotInstalled:
		return fmt.Sprintf("model %q is not installed", f.Model)
	case Canceled:
		return "canceled by the client"
	default: // also a code of a newer version
		return "processing failed"
	}
}

// value returns the end of a sentence with the value's text, or "" if the value is unknown.
func (f Failure) value(text string) string {
	if f.Value == (Quantity{}) {
		return ""
	}
	return ": " + text
}

// minutes returns a length in minutes as text, rounded to a tenth of a minute.
func minutes(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second)).Round(6 * time.Second)
	return strconv.FormatFloat(d.Minutes(), 'f', -1, 64) + " minutes"
}

// plain returns a number as text.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// raised returns a number above a limit, rounded up: to a whole one, or to three digits below 1.
func raised(n float64) float64 {
	if n >= 1 || n <= 0 {
		return math.Ceil(n)
	}
	unit := math.Pow(10, math.Ceil(-math.Log10(n))+2)
	return math.Ceil(n*unit) / unit
}

// tenths returns a number as text, rounded to tenths.
func tenths(n float64) string { return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64) }

// speed returns the speed that a video would need as text, rounded to the tenth that is farther from the
// usual speed. A speed of 0 is not known, but above the limit.
func (f Failure) speed() string {
	const exact = 1e-6 // less than that is an error of floating point
	switch s := f.Value.Speed; {
	case s == 0:
		return "more than " + tenths(f.Limit.Speed) + " times as fast"
	case s < 1:
		return tenths(math.Ceil(10/s-exact)/10) + " times as slowly"
	default:
		return tenths(math.Ceil(10*s-exact)/10) + " times as fast"
	}
}
