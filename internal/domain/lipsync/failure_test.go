package lipsync_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"lipsync/internal/domain/lipsync"
)

// failure returns a failure about a medium of the kind.
func failure(code lipsync.FailureCode, kind lipsync.MediaKind, limit, value lipsync.Quantity) lipsync.Failure {
	return lipsync.Failure{Code: code, Details: lipsync.Details{Kind: kind, Limit: limit, Value: value}}
}

// TestSentences checks every sentence that a client may read; they never change.
func TestSentences(t *testing.T) {
	type quantity = lipsync.Quantity
	none := quantity{}
	for sentence, c := range map[string]struct {
		failure lipsync.Failure
		class   lipsync.Class
	}{
		"":                                {lipsync.Failure{}, lipsync.OfInput},
		"video URL is not accessible":     {failure(lipsync.MediaNotAccessible, lipsync.Video, none, none), lipsync.OfInput},
		"audio URL is not accessible":     {failure(lipsync.MediaNotAccessible, lipsync.Audio, none, none), lipsync.OfInput},
		"video is not a supported format": {failure(lipsync.MediaUnsupported, lipsync.Video, none, none), lipsync.OfInput},
		"audio is not a supported format": {failure(lipsync.MediaUnsupported, lipsync.Audio, none, none), lipsync.OfInput},
		"video is larger than 5 GiB":      {failure(lipsync.MediaLargerThan, lipsync.Video, quantity{Bytes: 5 << 30}, none), lipsync.OfInput},
		"audio is larger than 500 MiB":    {failure(lipsync.MediaLargerThan, lipsync.Audio, quantity{Bytes: 500 << 20}, none), lipsync.OfInput},
		"audio is larger than 7 bytes":    {failure(lipsync.MediaLargerThan, lipsync.Audio, quantity{Bytes: 7}, none), lipsync.OfInput},
		"audio is longer than 60 minutes": {failure(lipsync.MediaLongerThan, lipsync.Audio, quantity{Seconds: 3600}, none), lipsync.OfInput},
		"video is longer than 0.1 minutes: 61.3 minutes": {
			failure(lipsync.MediaLongerThan, lipsync.Video, quantity{Seconds: 6}, quantity{Seconds: 3678}), lipsync.OfInput},
		"video is larger than 4096 × 2160 pixels: 5000 × 64 pixels": {
			failure(lipsync.PictureLargerThan, "", quantity{Width: 4096, Height: 2160}, quantity{Width: 5000, Height: 64}), lipsync.OfInput},
		"video has more than 120 frames per second: 239.8": {
			failure(lipsync.FrameRateAbove, "", quantity{FPS: 120}, quantity{FPS: 239.8}), lipsync.OfInput},
		"video has no picture":           {lipsync.Failure{Code: lipsync.NoPicture}, lipsync.OfInput},
		"audio has no sound track":       {lipsync.Failure{Code: lipsync.NoSoundTrack}, lipsync.OfInput},
		"no face found in the video":     {lipsync.Failure{Code: lipsync.NoFace}, lipsync.OfInput},
		"media take too long to process": {lipsync.Failure{Code: lipsync.ProcessingTooLong}, lipsync.OfInput},
		`model "a \"b\" ü" is not installed`: {
			lipsync.Failure{Code: lipsync.ModelNotInstalled, Details: lipsync.Details{Model: `a "b" ü`}}, lipsync.OfInput},
		"canceled by the client": {lipsync.Failure{Code: lipsync.Canceled}, lipsync.OfInput},
		"processing failed":      {lipsync.Failure{Code: lipsync.InternalFault}, lipsync.OfOurs},
	} {
		if got := c.failure.Sentence(); got != sentence {
			t.Errorf("%+v: got %q, want %q", c.failure, got, sentence)
		}
		want(t, "class of "+string(c.failure.Code), c.failure.Code.Class(), c.class)
	}
	for code, sentence := range map[lipsync.FailureCode]string{
		lipsync.MediaPrivate: "audio URL is not accessible", lipsync.MediaHostMissing: "audio URL is not accessible", lipsync.MediaUnreachable: "audio URL is not accessible",
		lipsync.MediaTooSlow: "audio URL is not accessible", lipsync.VideoIsPicture: "video is a picture; a video is needed", lipsync.PreviewAfterEnd: "audio ends before the preview begins", lipsync.HostFailing: "processing failed", "of a newer version": "processing failed",
	} {
		want(t, string(code), failure(code, lipsync.Audio, none, none).Sentence(), sentence)
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
		f := failure(lipsync.MediaTruncated, lipsync.Video, lipsync.Quantity{}, lipsync.Quantity{Seconds: c.read})
		f.Stated.Seconds = c.stated
		want(t, "sentence", f.Sentence(), c.want)
		got, err := lipsync.ParseDetails(f.Text())
		must(t, err)
		want(t, "details", got, f.Details)
	}
}

// TestOptionsFailures checks the failures of options: their sentences, classes and stored details.
func TestOptionsFailures(t *testing.T) {
	speed := func(s float64) lipsync.Failure {
		return failure(lipsync.SpeedOutOfRange, "", lipsync.Quantity{Speed: lipsync.MostSpeed}, lipsync.Quantity{Speed: s})
	}
	for _, c := range []struct {
		failure lipsync.Failure
		want    string
	}{
		{failure(lipsync.OutputTooWide, "", lipsync.Quantity{Width: 1280}, lipsync.Quantity{Width: 1920}),
			"output is wider than the video: 1920 pixels instead of at most 1280"},
		{failure(lipsync.OutputRateAbove, "", lipsync.Quantity{FPS: 60}, lipsync.Quantity{FPS: 120}), "output has more than 60 frames per second: 120"},
		{failure(lipsync.MediaLargerThan, lipsync.OutputFile, lipsync.Quantity{Bytes: 32 << 30}, lipsync.Quantity{}), "output is larger than 32 GiB"},
		{lipsync.Failure{Code: lipsync.CodecNotInstalled, Details: lipsync.Details{Codec: "hevc"}}, "codec hevc is not installed"},
		{lipsync.Failure{Code: lipsync.NotSignable}, "format must be one that can be signed, since this service signs all outputs: mp4, mov"},
		{lipsync.Failure{Code: lipsync.UploadRefused, Details: lipsync.Details{Status: 403}}, "output could not be sent: the server answered 403"},
		{lipsync.Failure{Code: lipsync.UploadRefused}, "output could not be sent: upload_url is not accessible"},
		{lipsync.Failure{Code: lipsync.UploadPrivate}, "output could not be sent: upload_url is not accessible"},
		{lipsync.Failure{Code: lipsync.UploadHostMissing}, "output could not be sent: upload_url is not accessible"},
		{lipsync.Failure{Code: lipsync.UploadUnreachable}, "output could not be sent: upload_url is not accessible"},
		{speed(2.7), "video would have to play 2.7 times as fast: sync_mode remap allows a factor of 2"},
		{speed(2.001), "video would have to play 2.1 times as fast: sync_mode remap allows a factor of 2"},
		{speed(1 / 2.7), "video would have to play 2.7 times as slowly: sync_mode remap allows a factor of 2"},
		{speed(.4999), "video would have to play 2.1 times as slowly: sync_mode remap allows a factor of 2"},
		{speed(0), "video would have to play more than 2 times as fast: sync_mode remap allows a factor of 2"},
		{speed(.01), "video would have to play 100 times as slowly: sync_mode remap allows a factor of 2"},
		{failure(lipsync.FaceMissing, "", lipsync.Quantity{}, lipsync.Quantity{Seconds: 3.24}), "video shows no face at 3.2 seconds: no_face fail requires one in each frame"},
		{failure(lipsync.FaceMissing, "", lipsync.Quantity{}, lipsync.Quantity{}), "video shows no face at 0 seconds: no_face fail requires one in each frame"},
		{failure(lipsync.FaceNotThere, "", lipsync.Quantity{}, lipsync.Quantity{Frame: 7}), "video shows no face at the point of frame 7"},
		{failure(lipsync.FaceFrameUnused, "", lipsync.Quantity{}, lipsync.Quantity{}), "frame 0, in which the face is chosen, is not in the part of the video that is rendered"},
		{failure(lipsync.BoxInvalid, "", lipsync.Quantity{}, lipsync.Quantity{Frame: 12}), "boxes file must be a list of [left, top, right, bottom] or null for each frame: frame 12 has neither"},
		{failure(lipsync.BoxesWithoutFace, "", lipsync.Quantity{}, lipsync.Quantity{}), "no box has a face in it"},
		{failure(lipsync.MediaNotAccessible, lipsync.Boxes, lipsync.Quantity{}, lipsync.Quantity{}), "boxes file URL is not accessible"},
	} {
		want(t, "sentence", c.failure.Sentence(), c.want)
		want(t, "class", c.failure.Code.Class(), lipsync.OfInput)
		got, err := lipsync.ParseDetails(c.failure.Text())
		must(t, err)
		want(t, "details", got, c.failure.Details)
	}
}

func TestDetails(t *testing.T) {
	want(t, "text of none", lipsync.Details{}.Text(), "")
	full := failure(lipsync.PictureLargerThan, lipsync.Video, lipsync.Quantity{Width: 1, Height: 2}, lipsync.Quantity{Bytes: 1 << 62}).Details
	for _, text := range []string{full.Text(), full.Text()[:len(full.Text())-1] + `,"newer":[1]}`} {
		got, err := lipsync.ParseDetails(text)
		must(t, err)
		want(t, "details", got, full)
	}
	if _, err := lipsync.ParseDetails("{"); err == nil {
		t.Error("half a text was read")
	}
}

// TestFailureOf checks the failures of the errors that end attempts.
func TestFailureOf(t *testing.T) {
	noFace := lipsync.Failure{Code: lipsync.NoFace}
	for _, c := range []struct {
		err  error
		want lipsync.Failure
	}{
		{noFace.Because(nil), noFace},
		{fmt.Errorf("render: %w", noFace.Because(syscall.ENOSPC)), noFace},
		{&os.PathError{Op: "write", Path: "/secret", Err: syscall.ENOSPC}, lipsync.Failure{Code: lipsync.HostFailing}},
		{errors.Join(syscall.EPIPE, fmt.Errorf("ffmpeg: %w", syscall.ENOSPC)), lipsync.Failure{Code: lipsync.HostFailing}},
		{&os.PathError{Op: "read", Path: "/secret", Err: syscall.EIO}, lipsync.Failure{Code: lipsync.HostFailing}},
		{&os.PathError{Op: "open", Path: "/secret", Err: syscall.EROFS}, lipsync.Failure{Code: lipsync.HostFailing}},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, lipsync.Failure{Code: lipsync.HostFailing}},
		{&lipsync.Error{Code: lipsync.Unavailable}, lipsync.Failure{Code: lipsync.HostFailing}},
		{&lipsync.Error{Code: lipsync.RateLimited}, lipsync.Failure{Code: lipsync.HostFailing}},
		{fmt.Errorf("put object: %w", status(503)), lipsync.Failure{Code: lipsync.HostFailing}},
		{status(403), lipsync.Failure{Code: lipsync.InternalFault}},
		{&lipsync.Error{Code: lipsync.NotFound}, lipsync.Failure{Code: lipsync.InternalFault}},
		{io.ErrUnexpectedEOF, lipsync.Failure{Code: lipsync.InternalFault}},
		{os.ErrDeadlineExceeded, lipsync.Failure{Code: lipsync.InternalFault}},
	} {
		want(t, c.err.Error(), lipsync.FailureOf(c.err), c.want)
	}
}

// status is an error like those of libraries for the HTTP status of another server.
type status int

func (s status) Error() string       { return fmt.Sprint("status ", int(s)) }
func (s status) HTTPStatusCode() int { return int(s) }

// TestBecause checks that the error keeps its cause's RetryAfter, and that the client's message
// does not have the cause.
func TestBecause(t *testing.T) {
	cause := &lipsync.Error{Code: lipsync.Unavailable, Message: "secret", RetryAfter: 9 * time.Second}
	err := failure(lipsync.MediaUnreachable, lipsync.Video, lipsync.Quantity{}, lipsync.Quantity{}).Because(cause)
	wantError(t, "transient", err, lipsync.Unavailable, "video URL is not accessible")
	e, _ := errors.AsType[*lipsync.Error](err)
	want(t, "wait", e.RetryAfter, 9*time.Second)
	wantError(t, "input", lipsync.Failure{Code: lipsync.NoFace}.Because(cause), lipsync.Invalid, "no face found in the video")
	wantError(t, "ours", lipsync.Failure{Code: lipsync.InternalFault}.Because(cause), lipsync.Internal, "internal error")
}
