package service

import (
	"context"
	"net/url"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

// Page is one page of a list.
type Page struct {
	Requests []lipsync.Request
	Outputs  []*url.URL // of Requests, in their order; nil for a request without an output
	Total    int64      // number of requests on all pages
	Next     string     // place of the next page; "" if there is none, or if the page isn't one of RequestsFrom
}

// Request returns the caller's request with the id, or otherwise the newest one with the reference id,
// and a new signed URL of its output, or nil if it has no output. The id may have upper-case letters.
// Request returns NotFound for requests of other accounts.
func (s *Service) Request(ctx context.Context, c lipsync.Caller, idOrReference string) (lipsync.Request, *url.URL, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	if err != nil {
		return lipsync.Request{}, nil, failure.Restate(err, failure.NotFound, "lipsync request not found")
	}
	output, err := s.OutputURL(ctx, r)
	return r, output, err
}

// Details returns the caller's request; see Request.
func (s *Service) Details(ctx context.Context, c lipsync.Caller, idOrReference string) (lipsync.Request, error) {
	r, err := s.find(ctx, c.Account, idOrReference)
	return r, failure.Restate(err, failure.NotFound, "lipsync request not found")
}

func (s *Service) find(ctx context.Context, account, idOrReference string) (lipsync.Request, error) {
	if id, ok := lipsync.ParseID(idOrReference); ok {
		r, err := s.Store.Requests.ByID(ctx, id)
		if failure.CodeOf(err) != failure.NotFound && (err != nil || r.Account == account && r.Kind == lipsync.ToRender) {
			return r, err
		}
	}
	if !order.ValidText(idOrReference) {
		return lipsync.Request{}, failure.New(failure.NotFound, "lipsync request not found")
	}
	return s.Store.Requests.ByReference(ctx, account, idOrReference)
}

// MostByStatus is the largest number of requests in a list of one status; the list has the newest ones.
// The stores do not keep a number of requests for each status, so each call counts them.
const MostByStatus = 1000

// ListQuery selects a page of an account's requests.
type ListQuery struct {
	Status      lipsync.Status // State of the requests; "" for any
	ReferenceID string         // "" for any
	Offset      int64
	Limit       int
}

// Requests returns the page of the caller's requests that the query selects, newest first, and the
// number of requests on all pages. With a status, the pages end after MostByStatus requests.
func (s *Service) Requests(ctx context.Context, c lipsync.Caller, q ListQuery) ([]lipsync.Request, int64, error) {
	if q.Status == "" {
		return s.Store.Requests.List(ctx, c.Account, q.ReferenceID, q.Offset, q.Limit)
	}
	list, total, err := s.Store.Requests.ListByStatus(ctx, lipsync.StatusQuery{
		Account: c.Account, Status: q.Status, ReferenceID: q.ReferenceID,
		Offset: int(min(q.Offset, MostByStatus)), Limit: q.Limit, Count: MostByStatus,
	})
	return list, int64(total), err
}

// RequestPage returns the same as Requests, with signed URLs of the outputs.
func (s *Service) RequestPage(ctx context.Context, c lipsync.Caller, q ListQuery) (Page, error) {
	list, total, err := s.Requests(ctx, c, q)
	if err != nil {
		return Page{}, err
	}
	p := Page{Requests: list, Total: total}
	return p, s.sign(ctx, &p)
}

// RequestsFrom returns the page of the query's list that begins at a place: the Next of another page, or "" for the begin. It ignores
// q.Offset. New requests move no place.
func (s *Service) RequestsFrom(ctx context.Context, c lipsync.Caller, place string, q ListQuery) (p Page, err error) {
	p.Requests, p.Next, err = s.Store.Requests.ListFrom(ctx, lipsync.PlaceQuery{
		Account: c.Account, Status: q.Status, ReferenceID: q.ReferenceID, Place: place, Limit: q.Limit,
	})
	if err != nil {
		return Page{}, failure.Restate(err, failure.Invalid, "cursor must be the next_cursor of a page")
	}
	return p, s.sign(ctx, &p)
}

// sign adds the URLs of a page's outputs.
func (s *Service) sign(ctx context.Context, p *Page) (err error) {
	p.Outputs = make([]*url.URL, len(p.Requests))
	for i, r := range p.Requests {
		if p.Outputs[i], err = s.OutputURL(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// VideoURL returns a URL of an input video: the one that the client gave, or a new signed URL of the stored object. It returns nil
// if the object was deleted.
func (s *Service) VideoURL(ctx context.Context, video lipsync.Input) (*url.URL, error) {
	if video.Object == "" {
		return url.Parse(video.URL)
	}
	switch _, err := s.Objects.Size(ctx, video.Object); failure.CodeOf(err) {
	case "":
		return s.Objects.SignGet(ctx, video.Object, "video", s.Now().Add(lipsync.LinkLife))
	case failure.NotFound:
		return nil, nil
	default:
		return nil, err
	}
}

// Usage counts the requests that the caller's account made on each of the last days (UTC), oldest first.
// The last day is that of now.
func (s *Service) Usage(ctx context.Context, c lipsync.Caller, now time.Time, days int) ([]lipsync.Day, error) {
	return s.Store.Requests.Usage(ctx, c.Account, now, days)
}

// Stored returns the number of bytes of uploads, outputs and records that the caller's account stores at
// now, and how many it may store.
func (s *Service) Stored(ctx context.Context, c lipsync.Caller, now time.Time) (stored, limit int64, err error) {
	l := s.Limits
	stored, err = s.Store.Requests.Stored(ctx, c.Account, now, l.Keep)
	return stored, l.Stored, err
}

// PosterURL returns a new signed URL of the poster of the request's output, or nil if there is no poster
// or the output has expired.
func (s *Service) PosterURL(ctx context.Context, r lipsync.Request) (*url.URL, error) {
	now := s.Now()
	if r.PosterKey() == "" || !now.Before(s.OutputExpires(r)) {
		return nil, nil
	}
	return s.Objects.SignGet(ctx, r.PosterKey(), r.ID+".jpg", now.Add(lipsync.LinkLife))
}
