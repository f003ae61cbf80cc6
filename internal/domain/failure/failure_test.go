package failure_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/check"
)

// failed returns a failure about a medium of the kind.
func failed(code failure.Reason, kind failure.MediaKind, limit, value failure.Quantity) failure.Failure {
	return failure.Failure{Code: code, Details: failure.Details{Kind: kind, Limit: limit, Value: value}}
}

// TestSentences checks every sentence that a client may read; they never change.
func TestSentences(t *testing.T) {
	type quantity = failure.Quantity
	none := quantity{}
	for sentence, c := range map[string]struct {
		failure failure.Failure
		class   failure.Class
	}{
		"":                                {failure.Failure{}, failure.OfInput},
		"video URL is not accessible":     {failed(failure.MediaNotAccessible, failure.Video, none, none), failure.OfInput},
		"audio URL is not accessible":     {failed(failure.MediaNotAccessible, failure.Audio, none, none), failure.OfInput},
		"video is not a supported format": {failed(failure.MediaUnsupported, failure.Video, none, none), failure.OfInput},
		"audio is not a supported format": {failed(failure.MediaUnsupported, failure.Audio, none, none), failure.OfInput},
		"video is larger than 5 GiB":      {failed(failure.MediaLargerThan, failure.Video, quantity{Bytes: 5 << 30}, none), failure.OfInput},
		"audio is larger than 500 MiB":    {failed(failure.MediaLargerThan, failure.Audio, quantity{Bytes: 500 << 20}, none), failure.OfInput},
		"audio is larger than 7 bytes":    {failed(failure.MediaLargerThan, failure.Audio, quantity{Bytes: 7}, none), failure.OfInput},
		"audio is longer than 60 minutes": {failed(failure.MediaLongerThan, failure.Audio, quantity{Seconds: 3600}, none), failure.OfInput},
		"video is longer than 0.1 minutes: 61.3 minutes": {
			failed(failure.MediaLongerThan, failure.Video, quantity{Seconds: 6}, quantity{Seconds: 3678}), failure.OfInput},
		"video is larger than 4096 × 2160 pixels: 5000 × 64 pixels": {
			failed(failure.PictureLargerThan, "", quantity{Width: 4096, Height: 2160}, quantity{Width: 5000, Height: 64}), failure.OfInput},
		"video has more than 120 frames per second: 239.8": {
			failed(failure.FrameRateAbove, "", quantity{FPS: 120}, quantity{FPS: 239.8}), failure.OfInput},
		"video and output have more than 2000 gigapixels (width × height × frames of both): 7248": {
			failed(failure.TooManyPixels, "", quantity{Gigapixels: 2000}, quantity{Gigapixels: 7247.8}), failure.OfInput},
		"video and output have more than 2000 gigapixels (width × height × frames of both): 57983": {
			failed(failure.TooManyPixels, "", quantity{Gigapixels: 2000}, quantity{Gigapixels: 57983}), failure.OfInput},
		"video and output have more than 2000 gigapixels (width × height × frames of both): 2001": {
			failed(failure.TooManyPixels, "", quantity{Gigapixels: 2000}, quantity{Gigapixels: 2000.000001}), failure.OfInput},
		"video and output have more than 0.5 gigapixels (width × height × frames of both): 0.501": {
			failed(failure.TooManyPixels, "", quantity{Gigapixels: .5}, quantity{Gigapixels: .50004}), failure.OfInput},
		"output and its files take 41985 MiB, and this service's disk has room for 500 MiB": {
			failed(failure.DiskTooSmall, "", quantity{Bytes: 500<<20 + 5}, quantity{Bytes: 41<<30 + 1}), failure.OfInput},
		"video has no picture":           {failure.Failure{Code: failure.NoPicture}, failure.OfInput},
		"audio has no sound track":       {failure.Failure{Code: failure.NoSoundTrack}, failure.OfInput},
		"no face found in the video":     {failure.Failure{Code: failure.NoFace}, failure.OfInput},
		"media take too long to process": {failure.Failure{Code: failure.ProcessingTooLong}, failure.OfInput},
		`model "a \"b\" ü" is not installed`: {
			failure.Failure{Code: failure.ModelNotInstalled, Details: failure.Details{Model: `a "b" ü`}}, failure.OfInput},
		"canceled by the client": {failure.Failure{Code: failure.Canceled}, failure.OfInput},
		"processing failed":      {failure.Failure{Code: failure.InternalFault}, failure.OfOurs},
	} {
		if got := c.failure.Sentence(); got != sentence {
			t.Errorf("%+v: got %q, want %q", c.failure, got, sentence)
		}
		check.Want(t, "class of "+string(c.failure.Code), c.failure.Code.Class(), c.class)
	}
	for code, sentence := range map[failure.Reason]string{
		failure.MediaPrivate: "audio URL is not accessible", failure.MediaHostMissing: "audio URL is not accessible", failure.MediaUnreachable: "audio URL is not accessible",
		failure.MediaTooSlow: "audio URL is not accessible", failure.VideoIsPicture: "video is a picture; a video is needed", failure.PreviewAfterEnd: "audio ends before the preview begins", failure.HostFailing: "processing failed", "of a newer version": "processing failed",
	} {
		check.Want(t, string(code), failed(code, failure.Audio, none, none).Sentence(), sentence)
	}
}

// TestFree checks that nobody pays for a request that failed through no fault of its client, and that others are paid for.
func TestFree(t *testing.T) {
	for code, want := range map[failure.Reason]bool{
		"": false, failure.NoFace: false, failure.Canceled: false, failure.UploadUnreachable: false,
		failure.InternalFault: true, failure.HostFailing: true, failure.DiskTooSmall: true,
	} {
		check.Want(t, string(code), failure.Failure{Code: code}.Free(), want)
	}
}

// TestTruncated checks that the sentence and the stored details have the readable part of the
// video.
func TestTruncated(t *testing.T) {
	for _, c := range []struct {
		read, stated float64
		want         string
	}{
		{2.44, 8, "video is truncated: 2.4 of 8 seconds can be read"},
		{.04, 3599.96, "video is truncated: 0 of 3600 seconds can be read"},
	} {
		f := failed(failure.MediaTruncated, failure.Video, failure.Quantity{}, failure.Quantity{Seconds: c.read})
		f.Stated.Seconds = c.stated
		check.Want(t, "sentence", f.Sentence(), c.want)
		got, err := failure.ParseDetails(f.Text())
		check.Must(t, err)
		check.Want(t, "details", got, f.Details)
	}
}

// TestOptionsFailures checks the failures of options: their sentences, classes and stored details.
func TestOptionsFailures(t *testing.T) {
	speed := func(s float64) failure.Failure {
		return failed(failure.SpeedOutOfRange, "", failure.Quantity{Speed: order.MostSpeed}, failure.Quantity{Speed: s})
	}
	for _, c := range []struct {
		failure failure.Failure
		want    string
	}{
		{failed(failure.OutputTooWide, "", failure.Quantity{Width: 1280}, failure.Quantity{Width: 1920}),
			"output is wider than the video: 1920 pixels instead of at most 1280"},
		{failed(failure.OutputRateAbove, "", failure.Quantity{FPS: 60}, failure.Quantity{FPS: 120}), "output has more than 60 frames per second: 120"},
		{failed(failure.MediaLargerThan, failure.OutputFile, failure.Quantity{Bytes: 32 << 30}, failure.Quantity{}), "output is larger than 32 GiB"},
		{failure.Failure{Code: failure.CodecNotInstalled, Details: failure.Details{Codec: "hevc"}}, "codec hevc is not installed"},
		{failure.Failure{Code: failure.NotSignable}, "format must be one that can be signed, since this service signs all outputs: mp4, mov"},
		{failure.Failure{Code: failure.UploadRefused, Details: failure.Details{Status: 403}}, "output could not be sent: the server answered 403"},
		{failure.Failure{Code: failure.UploadRefused}, "output could not be sent: upload_url is not accessible"},
		{failure.Failure{Code: failure.UploadPrivate}, "output could not be sent: upload_url is not accessible"},
		{failure.Failure{Code: failure.UploadHostMissing}, "output could not be sent: upload_url is not accessible"},
		{failure.Failure{Code: failure.UploadUnreachable}, "output could not be sent: upload_url is not accessible"},
		{speed(2.7), "video would have to play 2.7 times as fast: sync_mode remap allows a factor of 2"},
		{speed(2.001), "video would have to play 2.1 times as fast: sync_mode remap allows a factor of 2"},
		{speed(1 / 2.7), "video would have to play 2.7 times as slowly: sync_mode remap allows a factor of 2"},
		{speed(.4999), "video would have to play 2.1 times as slowly: sync_mode remap allows a factor of 2"},
		{speed(0), "video would have to play more than 2 times as fast: sync_mode remap allows a factor of 2"},
		{speed(.01), "video would have to play 100 times as slowly: sync_mode remap allows a factor of 2"},
		{failed(failure.FaceMissing, "", failure.Quantity{}, failure.Quantity{Seconds: 3.24}), "video shows no face at 3.2 seconds: no_face fail requires one in each frame"},
		{failed(failure.FaceMissing, "", failure.Quantity{}, failure.Quantity{}), "video shows no face at 0 seconds: no_face fail requires one in each frame"},
		{failed(failure.FaceNotThere, "", failure.Quantity{}, failure.Quantity{Frame: 7}), "video shows no face at the point of frame 7"},
		{failed(failure.FaceFrameUnused, "", failure.Quantity{}, failure.Quantity{}), "frame 0, in which the face is chosen, is not in the part of the video that is rendered"},
		{failed(failure.BoxInvalid, "", failure.Quantity{}, failure.Quantity{Frame: 12}), "boxes file must be a list of [left, top, right, bottom] or null for each frame: frame 12 has neither"},
		{failed(failure.BoxesWithoutFace, "", failure.Quantity{}, failure.Quantity{}), "no box has a face in it"},
		{failed(failure.MediaNotAccessible, failure.Boxes, failure.Quantity{}, failure.Quantity{}), "boxes file URL is not accessible"},
	} {
		check.Want(t, "sentence", c.failure.Sentence(), c.want)
		check.Want(t, "class", c.failure.Code.Class(), failure.OfInput)
		got, err := failure.ParseDetails(c.failure.Text())
		check.Must(t, err)
		check.Want(t, "details", got, c.failure.Details)
	}
}

func TestDetails(t *testing.T) {
	check.Want(t, "text of none", failure.Details{}.Text(), "")
	full := failed(failure.PictureLargerThan, failure.Video, failure.Quantity{Width: 1, Height: 2}, failure.Quantity{Bytes: 1 << 62}).Details
	for _, text := range []string{full.Text(), full.Text()[:len(full.Text())-1] + `,"newer":[1]}`} {
		got, err := failure.ParseDetails(text)
		check.Must(t, err)
		check.Want(t, "details", got, full)
	}
	if _, err := failure.ParseDetails("{"); err == nil {
		t.Error("half a text was read")
	}
}

// TestOf checks the failures of the errors that end attempts.
func TestOf(t *testing.T) {
	noFace := failure.Failure{Code: failure.NoFace}
	for _, c := range []struct {
		err  error
		want failure.Failure
	}{
		{noFace.Because(nil), noFace},
		{fmt.Errorf("render: %w", noFace.Because(syscall.ENOSPC)), noFace},
		{&os.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC}, failure.Failure{Code: failure.HostFailing}},
		{errors.Join(syscall.EPIPE, fmt.Errorf("ffmpeg: %w", syscall.ENOSPC)), failure.Failure{Code: failure.HostFailing}},
		{&os.PathError{Op: "read", Path: "/secret", Err: syscall.EIO}, failure.Failure{Code: failure.HostFailing}},
		{&os.PathError{Op: "open", Path: "/secret", Err: syscall.EROFS}, failure.Failure{Code: failure.HostFailing}},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, failure.Failure{Code: failure.HostFailing}},
		{&failure.Error{Code: failure.Unavailable}, failure.Failure{Code: failure.HostFailing}},
		{&failure.Error{Code: failure.RateLimited}, failure.Failure{Code: failure.HostFailing}},
		{fmt.Errorf("put object: %w", status(503)), failure.Failure{Code: failure.HostFailing}},
		{status(403), failure.Failure{Code: failure.InternalFault}},
		{&failure.Error{Code: failure.NotFound}, failure.Failure{Code: failure.InternalFault}},
		{io.ErrUnexpectedEOF, failure.Failure{Code: failure.InternalFault}},
		{os.ErrDeadlineExceeded, failure.Failure{Code: failure.InternalFault}},
	} {
		check.Want(t, c.err.Error(), failure.Of(c.err), c.want)
	}
}

// status is an error like those of libraries for the HTTP status of another server.
type status int

func (s status) Error() string       { return fmt.Sprint("status ", int(s)) }
func (s status) HTTPStatusCode() int { return int(s) }

// TestBecause checks that the error keeps its cause's RetryAfter, and that the client's message
// does not have the cause.
func TestBecause(t *testing.T) {
	cause := &failure.Error{Code: failure.Unavailable, Message: "secret", RetryAfter: 9 * time.Second}
	err := failed(failure.MediaUnreachable, failure.Video, failure.Quantity{}, failure.Quantity{}).Because(cause)
	check.Error(t, "transient", err, failure.Unavailable, "video URL is not accessible")
	e, _ := errors.AsType[*failure.Error](err)
	check.Want(t, "wait", e.RetryAfter, 9*time.Second)
	check.Error(t, "input", failure.Failure{Code: failure.NoFace}.Because(cause), failure.Invalid, "no face found in the video")
	check.Error(t, "ours", failure.Failure{Code: failure.InternalFault}.Because(cause), failure.Internal, "internal error")
}
