package worker

import (
	"context"
	"errors"
	"os"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// send sends an output of size bytes to the client's URL, if the client gave one.
func (w *Worker) send(ctx context.Context, to order.UploadURL, output *os.File, size int64, b *bound) error {
	if to == "" {
		return nil
	}
	b.promise.end() // all files are written
	b.wait()
	err := w.c.Sender.Send(ctx, string(to), output, size, order.MediaType(output.Name()))
	var f failure.Failure
	switch failure.CodeOf(err) {
	case failure.NotFound:
		f.Code = failure.UploadRefused
		if answer, ok := errors.AsType[interface {
			error
			HTTPStatusCode() int
		}](err); ok {
			f.Status = answer.HTTPStatusCode()
		}
	case failure.PrivateHost:
		f.Code = failure.UploadPrivate
	case failure.NoHost:
		f.Code = failure.UploadHostMissing
	case failure.Unavailable, failure.TooSlow:
		f.Code = failure.UploadUnreachable
	default:
		return err
	}
	return f.Because(err)
}
