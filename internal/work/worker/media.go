package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/transfer"
	"lipsync/internal/render"
)

// FetchTime bounds the fetch of one file from a client's URL, StallTime the time without a byte, and Patience the time after which it must
// have come at transfer.LeastSpeed.
const (
	FetchTime = 20 * time.Minute
	StallTime = 30 * time.Second
	Patience  = time.Minute
)

// mediaAtOnce is the number of media of an attempt that are copied at a time. So clients' servers that are slow on purpose keep an attempt for about
// FetchTime for each four.
const mediaAtOnce = 4

// medium is an input of a request, and where it is copied to.
type medium struct {
	kind failure.MediaKind
	from lipsync.Input
	path string
	sum  hash.Hash // SHA-256 of the bytes
}

// fetchAll checks that the output of a request can be signed if it must be. It copies the inputs of the request to files in a folder, and returns the
// job with them. It tells the first error, and for an estimate all.
func (w *Worker) fetchAll(ctx context.Context, r lipsync.Request, folder string, b *bound) (job render.Job, errs []error) {
	if err := w.checkProvenance(ctx, r); err != nil {
		errs = append(errs, err)
	}
	job = render.Job{
		Video: filepath.Join(folder, "video"), Audios: map[string]string{}, Boxes: filepath.Join(folder, "boxes.json"),
		Output: filepath.Join(folder, "output"+r.Options.Output.Extension()), Scratch: folder,
		LargestFace: r.LargestFace, Engine: r.Engine, Options: r.Options,
		Signed: w.c.Work.RequireProvenance, Poster: true,
	}
	if errs != nil && !r.IsEstimate() {
		return job, errs
	}
	media := []medium{{failure.Video, r.Video, job.Video, sha256.New()}}
	for i, audio := range r.Audios() {
		job.Audios[audio.Ref] = filepath.Join(folder, fmt.Sprintf("audio-%d", i))
		media = append(media, medium{failure.Audio, audio.Input, job.Audios[audio.Ref], sha256.New()})
	}
	job.Audio = job.Audios[""]
	if face := r.Options.Face; face.By == order.FaceInBoxes {
		media = append(media, medium{failure.Boxes, lipsync.Input{URL: face.Boxes}, job.Boxes, sha256.New()})
	}
	errs = append(errs, w.getAll(ctx, media, r.IsEstimate(), b)...)
	for _, m := range media {
		job.Sums = append(job.Sums, [sha256.Size]byte(m.sum.Sum(nil)))
	}
	if job.Segments = r.Options.Segments; r.Options.Unread != nil {
		errs = append(errs, r.Options.Unread)
	}
	return job, errs
}

// getAll copies media, and returns the errors in their order. Unless all are wanted, an error ends the copies of those after it, but not of those
// before it, whose error is told instead: so the first error doesn't depend on which comes sooner.
func (w *Worker) getAll(ctx context.Context, media []medium, all bool, b *bound) []error {
	var left allowance
	left.Store(math.MaxInt64)
	if w.c.Work.Duty == lipsync.DoesSmall {
		left.Store(lipsync.MostSmallBytes)
	}
	errs := make([]error, len(media))
	var copies errgroup.Group
	copies.SetLimit(mediaAtOnce)
	for i, m := range media {
		own := ctx
		next, end := context.WithCancel(ctx)
		defer end()
		copies.Go(func() error {
			if errs[i] = w.get(own, m, &left); errs[i] != nil && !all {
				end()
			}
			return nil
		})
		ctx = next
		b.set(transferTime, errSlow)
	}
	_ = copies.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// allowance is the number of bytes that the media of an attempt may still have, of which only a worker of small requests has a limit.
type allowance struct{ atomic.Int64 }

// take takes n bytes, or returns errTooBig if fewer are left.
func (a *allowance) take(n int64) error {
	if a.Add(-n) < 0 {
		return errTooBig
	}
	return nil
}

// counted takes what is written from an allowance.
type counted struct {
	io.Writer
	left *allowance
}

func (c counted) Write(p []byte) (int, error) {
	if err := c.left.take(int64(len(p))); err != nil {
		return 0, err
	}
	return c.Writer.Write(p)
}

// get copies a medium to a new file. It takes its bytes from left.
func (w *Worker) get(ctx context.Context, m medium, left *allowance) (err error) {
	defer recovered(&err)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	created, err := os.Create(m.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, created.Close()) }()
	file := io.MultiWriter(m.sum, &transfer.RoomWriter{W: created, Room: w.roomToWork})
	if m.from.URL == "" {
		return w.copyObject(ctx, m.from, file, left)
	}
	limit, large := w.c.Work.MaxSize(m.kind), false
	if most := left.Load(); limit > most {
		limit, large = most, true
	}
	err = w.fetch(ctx, m.from.URL, counted{file, left}, limit)
	f := failure.Failure{Details: failure.Details{Kind: m.kind}}
	if e, ok := errors.AsType[*failure.Error](err); ok && e.Failure.Cause != "" {
		f.Status, f.Cause = e.Failure.Status, string(m.kind)+" from "+hostOf(m.from.URL)+": "+e.Failure.Cause
	}
	switch failure.CodeOf(err) {
	case failure.NotFound:
		f.Code = failure.MediaNotAccessible
	case failure.PrivateHost:
		f.Code = failure.MediaPrivate
	case failure.NoHost:
		f.Code = failure.MediaHostMissing
	case failure.TooSlow:
		f.Code = failure.MediaTooSlow
	case failure.Unavailable:
		f.Code = failure.MediaUnreachable
	case failure.TooLarge:
		if large {
			return errTooBig
		}
		f.Code, f.Limit.Bytes = failure.MediaLargerThan, limit
	default:
		return err
	}
	return f.Because(err)
}

// hostOf returns the host of a URL, without what may be secret.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "?"
	}
	return u.Hostname()
}

// Described returns an error with what an unsupported file seems to be, as clients should know it.
func Described(err error, job render.Job) error {
	e, ok := errors.AsType[*failure.Error](err)
	if !ok || e.Failure.Cause != "" {
		return err
	}
	switch e.Failure.Code {
	case failure.MediaUnsupported:
	case failure.VideoIsPicture:
		e.Failure.Cause = accepted
		return err
	default:
		return err
	}
	paths := []string{job.Video}
	if e.Failure.Kind == failure.Audio {
		paths = slices.Collect(maps.Values(job.Audios))
	}
	for _, path := range paths {
		if is := seems(path); is != "" {
			e.Failure.Cause = string(e.Failure.Kind) + " is " + is
		}
	}
	if e.Failure.Cause == "" {
		e.Failure.Cause = accepted
	}
	return err
}

// accepted says which files can be rendered.
const accepted = "accepted are " + order.VideoFormats + ", the pictures " + order.PictureFormats + ", and for audio also " + order.SoundFormats

// seems returns what a file is that is no medium, "" if that isn't known.
func seems(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	begin := make([]byte, 512) // all that DetectContentType considers
	n, _ := io.ReadFull(file, begin)
	begin = bytes.TrimSpace(begin[:n])
	switch kind, _, _ := strings.Cut(http.DetectContentType(begin), ";"); {
	case len(begin) == 0:
		return "an empty file"
	case kind == "text/html":
		return "a web page"
	case begin[0] == '{' || begin[0] == '[':
		return "JSON, such as the message of an API"
	case kind == "text/xml":
		return "XML, such as the message of a storage"
	case kind == "application/x-gzip", kind == "application/zip":
		return "a compressed archive; unpack it first"
	case kind == "application/pdf":
		return "a PDF"
	case strings.HasPrefix(kind, "text/"):
		return "a text"
	}
	return ""
}

// fetch copies the file at a client's URL, of at most limit bytes.
func (w *Worker) fetch(ctx context.Context, url string, file io.Writer, limit int64) error {
	began := time.Now()
	err := w.c.Fetcher.Fetch(ctx, url, file, limit)
	w.c.Fetched(ctx, time.Since(began), err)
	return err
}

// chunk is the number of bytes of an object that are copied between two checks of the context.
const chunk = 64 << 20

// copyObject copies an object. It takes its bytes from left.
func (w *Worker) copyObject(ctx context.Context, in lipsync.Input, file io.Writer, left *allowance) error {
	object, size, err := w.c.Work.OpenMedia(ctx, in)
	if err != nil {
		return err
	}
	defer object.Close()
	if err := left.take(size); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if _, err := io.CopyN(file, object, chunk); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return ctx.Err()
}
