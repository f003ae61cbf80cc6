package ffmpeg

import (
	"errors"

	"lipsync/internal/domain/failure"
	"lipsync/internal/media/ffmpeg/medium"
)

// Refuse returns the error of media that are at fault. If the cause is rather a fault of the
// machine, Refuse returns the cause: a program found no space for its output, couldn't be run,
// was killed by the system, or got no processor time.
func Refuse(f failure.Failure, cause error) error {
	if failure.IsHostFault(cause) || OfMachine(cause) {
		return cause
	}
	return f.Because(cause)
}

// Unsupported returns the error of a file that can't be decoded.
func Unsupported(kind failure.MediaKind, cause error) error {
	f := failure.Failure{Code: failure.MediaUnsupported, Details: failure.Details{Kind: kind}}
	if colours, ok := errors.AsType[medium.ColoursError](cause); ok {
		f.Cause = "its " + colours.Error()
	}
	return Refuse(f, cause)
}

// AfterEnd returns the error of a medium that ends before the preview begins.
func AfterEnd(kind failure.MediaKind) error {
	return failure.Failure{Code: failure.PreviewAfterEnd, Details: failure.Details{Kind: kind}}.Because(nil)
}
