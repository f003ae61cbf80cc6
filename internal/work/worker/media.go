package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/render"
)

// FetchTime bounds the fetch of one file from a client's URL, StallTime the time without a byte, and Patience the time after which it must
// have come at lipsync.LeastSpeed.
const (
	FetchTime = 20 * time.Minute
	StallTime = 30 * time.Second
	Patience  = time.Minute
)

// moreTime is added to twice FetchTime for each file of an attempt after the second. The sum bounds the fetches of all, so that servers of one client
// that are slow on purpose don't keep a worker from the others.
const moreTime = 5 * time.Minute

// fetchAll checks that the output of a request can be signed if it must be. It copies the inputs of the request to files in a folder, and returns the
// job with them. It stops at the first error, except for an estimate, which tells all problems.
func (w *Worker) fetchAll(ctx context.Context, r lipsync.Request, folder string, b *bound) (job render.Job, errs []error) {
	if err := w.checkProvenance(ctx, r); err != nil {
		errs = append(errs, err)
	}
	job = render.Job{
		Video: filepath.Join(folder, "video"), Audios: map[string]string{}, Boxes: filepath.Join(folder, "boxes.json"),
		Output: filepath.Join(folder, "output"+r.Options.Output.Format.Extension()), Scratch: folder,
		LargestFace: r.LargestFace, Engine: r.Engine, Options: r.Options,
		Signed: w.Signer != nil && w.Work.RequireProvenance, Poster: true,
	}
	face, files := r.Options.Face, len(r.Inputs())
	if face.By == order.FaceInBoxes {
		files++
	}
	left := allowance{2*FetchTime + time.Duration(max(0, files-2))*moreTime, math.MaxInt64}
	if w.Work.Duty == lipsync.DoesSmall {
		left.bytes = lipsync.MostSmallBytes
	}
	get := func(kind failure.MediaKind, in lipsync.Input, path string, writers ...io.Writer) {
		if errs != nil && !r.IsEstimate() {
			return
		}
		b.set(transferTime, errSlow)
		if err := w.get(ctx, kind, in, path, &left, writers...); err != nil {
			errs = append(errs, err)
		}
	}
	sum := sha256.New()
	get(failure.Video, r.Video, job.Video, sum)
	job.VideoSum = [sha256.Size]byte(sum.Sum(nil))
	for i, audio := range r.Audios() {
		job.Audios[audio.Ref] = filepath.Join(folder, fmt.Sprintf("audio-%d", i))
		get(failure.Audio, audio.Input, job.Audios[audio.Ref])
	}
	job.Audio = job.Audios[""]
	if face.By == order.FaceInBoxes {
		get(failure.Boxes, lipsync.Input{URL: face.Boxes}, job.Boxes)
	}
	if job.Segments = r.Options.Segments; r.Options.Unread != nil {
		errs = append(errs, r.Options.Unread)
	}
	return job, errs
}

// allowance is what is left for the media of an attempt: the time for fetches, and the bytes of all files, of which only a worker of small requests
// has a limit.
type allowance struct {
	time  time.Duration
	bytes int64
}

// get copies an input of a request to a new file, and to the writers. It takes from left what that needs.
func (w *Worker) get(ctx context.Context, kind failure.MediaKind, in lipsync.Input, path string, left *allowance, writers ...io.Writer) (err error) {
	created, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		info, failed := created.Stat()
		if failed == nil {
			left.bytes -= info.Size()
		}
		err = errors.Join(err, failed, created.Close())
	}()
	var file io.Writer = &lipsync.RoomWriter{W: created, Room: w.roomToWork}
	if len(writers) > 0 {
		file = io.MultiWriter(append(writers, file)...)
	}
	if in.URL == "" {
		return w.copyObject(ctx, in, file, left.bytes)
	}
	limit, large := w.Work.MaxSize(kind), false
	if limit > left.bytes {
		limit, large = left.bytes, true
	}
	err = w.fetch(ctx, in.URL, file, limit, &left.time)
	f := failure.Failure{Details: failure.Details{Kind: kind}}
	if e, ok := errors.AsType[*failure.Error](err); ok && e.Failure.Cause != "" {
		f.Status, f.Cause = e.Failure.Status, string(kind)+" from "+hostOf(in.URL)+": "+e.Failure.Cause
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

// fetch copies the file at a client's URL, of at most limit bytes. It returns TooSlow after the time left, from which it takes the time that it needs.
func (w *Worker) fetch(ctx context.Context, url string, file io.Writer, limit int64, left *time.Duration) error {
	bounded, end := context.WithTimeout(ctx, *left)
	defer end()
	began := time.Now()
	err := w.Fetcher.Fetch(bounded, url, file, limit)
	took := time.Since(began)
	*left -= took
	if w.Fetched != nil {
		w.Fetched(bounded, took, err)
	}
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return &failure.Error{Code: failure.TooSlow, Message: "files come too slowly", Err: err}
	}
	return err
}

// chunk is the number of bytes of an object that are copied between two checks of the context.
const chunk = 64 << 20

// copyObject copies an object of at most limit bytes.
func (w *Worker) copyObject(ctx context.Context, in lipsync.Input, file io.Writer, limit int64) error {
	object, size, err := w.Work.OpenMedia(ctx, in)
	if err != nil {
		return err
	}
	defer object.Close()
	if size > limit {
		return errTooBig
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
