package lipsync

import (
	"context"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// Page is one page of a list.
type Page struct {
	Requests []Request
	Outputs  []*url.URL // of Requests, in their order; nil for a request without an output
	Total    int64      // number of requests on all pages
}

// Request returns the caller's request with the id, or otherwise the newest one with the reference id,
// and a new signed URL of its output, or nil if it has no output. The id may have upper-case letters.
// Request returns NotFound for requests of other accounts.
func (s *Service) Request(ctx context.Context, c Caller, idOrReference string) (Request, *url.URL, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return Request{}, nil, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	output, err := s.outputURL(ctx, r)
	return r, output, err
}

// Details returns the caller's request; see Request.
func (s *Service) Details(ctx context.Context, c Caller, idOrReference string) (Request, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	return r, failure.Restate(err, failure.NotFound, "lipsync request not found")
}

// OutputExpires returns the time from which the request's output is no longer available, or the zero
// time if the request has no output.
func (s *Service) OutputExpires(r Request) time.Time {
	if r.Output == "" {
		return time.Time{}
	}
	return r.FinishedAt.Add(s.Limits.Keep.OutputLife())
}

func (s *Service) find(ctx context.Context, account, idOrReference string) (Request, error) {
	if id, ok := parseID(idOrReference); ok {
		r, err := s.Store.Requests.ByID(ctx, id)
		if failure.CodeOf(err) != failure.NotFound && (err != nil || r.Account == account && r.Kind == ToRender) {
			return r, err
		}
	}
	if !order.ValidText(idOrReference) {
		return Request{}, failure.New(failure.NotFound, "lipsync request not found")
	}
	return s.Store.Requests.ByReference(ctx, account, idOrReference)
}

// parseID returns the id that a client wrote, in small letters. ok is false if it is none.
func parseID(text string) (id string, ok bool) {
	parsed, err := uuid.Parse(text)
	id = parsed.String()
	return id, err == nil && len(text) == len(id) // uuid.Parse also reads other forms
}

// MostByStatus is the largest number of requests in a list of one status; the list has the newest ones.
// The stores do not keep a number of requests for each status, so each call counts them.
const MostByStatus = 1000

// ListQuery selects a page of an account's requests.
type ListQuery struct {
	Status      Status // "" for any
	ReferenceID string // "" for any
	Offset      int64
	Limit       int
}

// Requests returns the page of the caller's requests that the query selects, newest first, and the
// number of requests on all pages. With a status, the pages end after MostByStatus requests.
func (s *Service) Requests(ctx context.Context, c Caller, q ListQuery) ([]Request, int64, error) {
	if q.Status == "" {
		return s.Store.Requests.List(ctx, c.Account, q.ReferenceID, q.Offset, q.Limit)
	}
	list, total, err := s.Store.Requests.ListByStatus(ctx, StatusQuery{
		Account: c.Account, Status: q.Status, ReferenceID: q.ReferenceID,
		Offset: int(min(q.Offset, MostByStatus)), Limit: q.Limit, Count: MostByStatus,
	})
	return list, int64(total), err
}

// RequestsBefore returns the newest of the caller's requests with the query's status that are older
// than the request with the id before, or of all if before is "". It ignores q.Offset. It doesn't
// count, so any number of requests can be read page by page.
func (s *Service) RequestsBefore(ctx context.Context, c Caller, before string, q ListQuery) ([]Request, error) {
	list, _, err := s.Store.Requests.ListByStatus(ctx, StatusQuery{
		Account: c.Account, Status: q.Status, ReferenceID: q.ReferenceID, Before: before, Limit: q.Limit,
	})
	return list, err
}

// RequestPage returns the same as Requests, with signed URLs of the outputs.
func (s *Service) RequestPage(ctx context.Context, c Caller, q ListQuery) (Page, error) {
	list, total, err := s.Requests(ctx, c, q)
	if err != nil {
		return Page{}, err
	}
	p := Page{Requests: list, Outputs: make([]*url.URL, len(list)), Total: total}
	for i, r := range list {
		if p.Outputs[i], err = s.outputURL(ctx, r); err != nil {
			return Page{}, err
		}
	}
	return p, nil
}

// VideoURL returns a URL of the request's input video: the URL that the client gave, or a new signed
// URL of the stored object. It returns nil if the object was deleted.
func (s *Service) VideoURL(ctx context.Context, r Request) (*url.URL, error) {
	if r.Video.Object == "" {
		return url.Parse(r.Video.URL)
	}
	switch _, err := s.Objects.Size(ctx, r.Video.Object); failure.CodeOf(err) {
	case "":
		return s.Objects.SignGet(ctx, r.Video.Object, "video", s.Now().Add(getURLLife))
	case failure.NotFound:
		return nil, nil
	default:
		return nil, err
	}
}

// Usage counts the requests that the caller's account made on each of the last days (UTC), oldest first.
// The last day is that of now.
func (s *Service) Usage(ctx context.Context, c Caller, now time.Time, days int) ([]Day, error) {
	return s.Store.Requests.Usage(ctx, c.Account, now, days)
}

// Stored returns the number of bytes of uploads and outputs that the caller's account stores at
// now, and how many it may store.
func (s *Service) Stored(ctx context.Context, c Caller, now time.Time) (stored, limit int64, err error) {
	l := s.Limits
	stored, err = s.Store.Requests.Stored(ctx, c.Account, now, l.Keep)
	return stored, l.Stored, err
}

// outputURL returns a new signed URL of the request's output, or nil if there is no output or it has
// expired.
func (s *Service) outputURL(ctx context.Context, r Request) (*url.URL, error) {
	now := s.Now()
	if !now.Before(s.OutputExpires(r)) {
		return nil, nil
	}
	return s.Objects.SignGet(ctx, r.Output, outputName(r), now.Add(getURLLife))
}

// PosterURL returns a new signed URL of the poster of the request's output, or nil if there is no poster
// or the output has expired.
func (s *Service) PosterURL(ctx context.Context, r Request) (*url.URL, error) {
	now := s.Now()
	if r.poster() == "" || !now.Before(s.OutputExpires(r)) {
		return nil, nil
	}
	return s.Objects.SignGet(ctx, r.poster(), r.ID+".jpg", now.Add(getURLLife))
}

// poster returns the object key of the output's poster, or "" if there is none.
func (r Request) poster() string {
	if r.Output == "" || !r.Poster {
		return ""
	}
	return posterKey(r.Output)
}

// outputName returns the file name for the request's output, with the extension of the output's key. It is
// the one that the client chose, or derived from the name of the input video, if that has one.
func outputName(r Request) string {
	extension := path.Ext(r.Output)
	switch {
	case r.Options.Output.FileName != "":
		return r.Options.Output.FileName.With(extension)
	case r.Video.Name == "":
		return r.ID + extension
	}
	return strings.TrimSuffix(r.Video.Name, path.Ext(r.Video.Name)) + "-lipsync" + extension
}
