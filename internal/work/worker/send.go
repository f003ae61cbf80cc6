package worker

import (
	"context"
	"errors"
	"os"

	"lipsync/internal/domain/lipsync"
)

// send sends an output of size bytes to the client's URL, if the client gave one.
func (w *Worker) send(ctx context.Context, to lipsync.UploadURL, output *os.File, size int64) error {
	if to == "" {
		return nil
	}
	err := w.Sender.Send(ctx, string(to), output, size, lipsync.MediaType(output.Name()))
	var f lipsync.Failure
	switch lipsync.CodeOf(err) {
	case lipsync.NotFound:
		f.Code = lipsync.UploadRefused
		if answer, ok := errors.AsType[interface {
			error
			HTTPStatusCode() int
		}](err); ok {
			f.Status = answer.HTTPStatusCode()
		}
	case lipsync.PrivateHost:
		f.Code = lipsync.UploadPrivate
	case lipsync.NoHost:
		f.Code = lipsync.UploadHostMissing
	case lipsync.Unavailable, lipsync.TooSlow:
		f.Code = lipsync.UploadUnreachable
	default:
		return err
	}
	return f.Because(err)
}
