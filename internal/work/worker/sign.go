package worker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Signer adds signed manifests to files.
type Signer interface {
	// Sign adds to a file a signed manifest about its origin. It replaces the file, or leaves it as it was and returns an error.
	Sign(ctx context.Context, path string, o order.Origin) error
	// Check returns Unavailable if no file can be signed now.
	Check(ctx context.Context) error
}

// These bound the signing of an output, which reads and writes the file up to four times each: signTime, and the time for all these bytes at
// signRate. An output of 32 GiB gets 54 minutes, less than transferTime.
const (
	signTime = 10 * time.Minute
	signRate = 100 << 20 // bytes/s, read or written
)

// checkTime bounds Signer.Check.
const checkTime = time.Minute

var (
	errNotSignable = errors.New("files of this format can't be signed")
	errLarge       = errors.New("the file is too large to be signed")
)

// checkProvenance returns an error if the request's output must be signed and can't be, or can't be now. Then rendering it would be of no use.
func (w *Worker) checkProvenance(ctx context.Context, r lipsync.Request) error {
	if err := w.c.Work.CheckProvenance(r.Options.Output); err != nil { // the request is older than the setting
		return err
	}
	if !w.c.Work.RequireProvenance || r.IsAnalysis() || r.IsEstimate() {
		return nil
	}
	return w.checkSigner(ctx)
}

// checkSigner returns an error if no file can be signed now. It takes checkTime at most.
func (w *Worker) checkSigner(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	return w.c.Signer.Check(ctx)
}

// sign signs the output of a request, if the worker has a signer, and returns a warning that tells so. An output that can't be signed gets a warning
// too, unless all must be signed.
func (w *Worker) sign(ctx context.Context, r lipsync.Request, path string, log *slog.Logger) (order.Warnings, error) {
	if w.c.Signer == nil {
		return "", nil
	}
	err := errNotSignable
	if r.Options.Output.Signable() {
		err = w.signInTime(ctx, path, order.Origin{Engine: r.Engine, At: time.Now()})
	}
	switch {
	case err == nil:
		return order.Signed, nil
	case ctx.Err() != nil:
		return "", err
	case w.c.Work.RequireProvenance: // if no file can be signed, the attempt doesn't count
		return "", errors.Join(w.checkSigner(ctx), err)
	default:
		log.Warn("the output was not signed", "error", err)
		return order.NotSigned, nil
	}
}

func (w *Worker) signInTime(ctx context.Context, path string, o order.Origin) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > order.MostSigned && !w.c.Work.RequireProvenance { // otherwise a job of ProRes had this limit, and others are signed at any size
		return errLarge
	}
	ctx, cancel := context.WithTimeout(ctx, signTime+time.Duration(8*info.Size()/signRate)*time.Second)
	defer cancel()
	return w.c.Signer.Sign(ctx, path, o)
}
